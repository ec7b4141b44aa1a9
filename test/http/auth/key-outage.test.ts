import { beforeAll, describe, expect, test, vi } from 'vitest'
import {
  keysKeptMs,
  keysMaxAgeMs,
  keysTimeoutMs,
  lostFetchMs,
  refetchMs,
} from '../../../src/worker/http/auth/key-set.ts'
import { createIssuer, goodClaims, type Issuer, keySetOf } from '../../support/tokens.ts'
import { type AuthHarness, admitted, authHarness, type KeyServer, keySetConfig, refused } from './auth-harness.ts'

const unavailable = { ok: false, error: 'keys-unavailable' }
const served = (serve: KeyServer) => authHarness(keySetConfig, serve)

let issuer: Issuer
let stranger: Issuer

beforeAll(async () => {
  issuer = await createIssuer('ES256', 'kid-known')
  stranger = await createIssuer('ES256', 'kid-stranger')
})

/** Valid tokens that all differ, so that none was verified before. */
const tokensOf = (count: number, offset = 0) =>
  Promise.all(Array.from({ length: count }, (_, i) => issuer.sign(goodClaims({ jti: `${offset + i}`, exp: 9e9 }))))

describe('many requests of an isolate without keys', () => {
  const verifyAll = async (harness: AuthHarness, count: number) => {
    const tokens = await tokensOf(count)
    return Promise.all(tokens.map((token) => harness.verify(token)))
  }

  test('share one fetch', async () => {
    const harness = served(() => Response.json(keySetOf(issuer)))
    expect(await verifyAll(harness, 50)).toEqual(Array(50).fill(admitted()))
    expect(harness.fetches.count).toBe(1)
  })

  test('share its failure', async () => {
    const harness = served(() => new Response(null, { status: 500 }))
    expect(await verifyAll(harness, 50)).toEqual(Array(50).fill(unavailable))
    expect(harness.fetches.count).toBe(1)
    expect(harness.warnings).toHaveLength(1)
  })

  test('share one that is slow, also those that come later', async () => {
    const slow = Promise.withResolvers<Response>()
    const harness = served(() => slow.promise)
    const tokens = await tokensOf(50)
    const first = tokens.slice(0, 25).map((token) => harness.verify(token))
    await vi.waitFor(() => expect(harness.fetches.count).toBe(1))
    harness.clock.seconds += keysTimeoutMs / 1000 - 1
    const second = tokens.slice(25).map((token) => harness.verify(token))
    slow.resolve(Response.json(keySetOf(issuer)))
    expect(await Promise.all([...first, ...second])).toEqual(Array(50).fill(admitted()))
    expect(harness.fetches.count).toBe(1)
  })

  test('begin another one, and one alone, where the platform has ended the request of the first', async () => {
    const responses = [new Promise<Response>(() => undefined)]
    const harness = served(() => responses.shift() ?? Response.json(keySetOf(issuer)))
    const [first = '', ...others] = await tokensOf(20)
    void harness.verify(first)
    await vi.waitFor(() => expect(harness.fetches.count).toBe(1))
    harness.clock.seconds += lostFetchMs / 1000
    expect(await Promise.all(others.map((token) => harness.verify(token)))).toEqual(Array(19).fill(admitted()))
    expect(harness.fetches.count).toBe(2)
  })

  test('wait for one only as long as it can last', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const harness = served(() => new Promise<Response>(() => undefined))
    const [token = ''] = await tokensOf(1)
    const waiting = harness.verify(token)
    await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
    await vi.advanceTimersByTimeAsync(lostFetchMs)
    vi.useRealTimers()
    expect(await waiting).toEqual(unavailable)
  })
})

describe('while the issuer cannot be reached', () => {
  /**
   * A service that has fetched the issuer's keys once. `respond` answers its later requests for
   * keys.
   */
  async function afterOutage(respond: () => Response | Promise<Response>): Promise<AuthHarness> {
    let isFirst = true
    const harness = served(() => {
      if (!isFirst) return respond()
      isFirst = false
      return Response.json(keySetOf(issuer))
    })
    const [token = ''] = await tokensOf(1)
    expect(await harness.verify(token)).toEqual(admitted())
    return harness
  }
  const outages: [string, () => Response | Promise<Response>][] = [
    ['no connection', () => Promise.reject(new TypeError('refused'))],
    ['an error', () => new Response(null, { status: 503 })],
    ['no key set', () => new Response('<html>')],
  ]

  test.each(outages)('known keys stay valid for a bounded time: %s', async (_what, respond) => {
    const harness = await afterOutage(respond)
    const [early = '', late = '', after = ''] = await tokensOf(3, 1)
    harness.clock.seconds += keysMaxAgeMs / 1000
    expect(await harness.verify(early)).toEqual(admitted())
    harness.clock.seconds += (keysKeptMs - keysMaxAgeMs) / 1000 - 1
    expect(await harness.verify(late)).toEqual(admitted())
    harness.clock.seconds += 1
    expect(await harness.verify(after)).toEqual(unavailable)
  })

  test('an unknown key is neither valid nor wrong, and a wrong signature is wrong', async () => {
    const harness = await afterOutage(() => new Response(null, { status: 503 }))
    harness.clock.seconds += keysMaxAgeMs / 1000
    expect(await harness.verify(await stranger.sign(goodClaims()))).toEqual(unavailable)
    expect(await harness.verify(await stranger.sign(goodClaims(), { kid: 'kid-known' }))).toEqual(refused)
  })

  test('a wrong signature is answered by the known keys, and ends nobody else’s session', async () => {
    for (const [, respond] of outages) {
      const harness = await afterOutage(respond)
      harness.clock.seconds += refetchMs / 1000
      const wrong = await stranger.sign(goodClaims(), { kid: 'kid-known' })
      expect(await harness.verify(wrong)).toEqual(refused)
      for (const token of await tokensOf(3, 1)) expect(await harness.verify(token)).toEqual(admitted())
      expect(harness.fetches.count).toBe(2)
    }
  })

  test('requests with known keys never wait for it: one fetch runs behind them', async () => {
    const harness = await afterOutage(() => new Promise<Response>(() => undefined))
    harness.clock.seconds += keysMaxAgeMs / 1000
    for (const token of await tokensOf(5, 1)) expect(await harness.verify(token)).toEqual(admitted())
    expect(harness.fetches.count).toBe(2)
  })

  test('the pause after a failed fetch holds for what runs behind requests, too', async () => {
    const harness = await afterOutage(() => new Response(null, { status: 503 }))
    harness.clock.seconds += keysMaxAgeMs / 1000
    for (const token of await tokensOf(5, 1)) {
      expect(await harness.verify(token)).toEqual(admitted())
      await harness.settled()
    }
    expect(harness.fetches.count).toBe(2)
    harness.clock.seconds += refetchMs / 1000
    const [later = ''] = await tokensOf(1, 9)
    expect(await harness.verify(later)).toEqual(admitted())
    expect(harness.fetches.count).toBe(3)
  })

  test('a key that it has withdrawn ends with its next answer', async () => {
    const responses = [new Response(null, { status: 503 }), Response.json(keySetOf(stranger))]
    const harness = await afterOutage(() => responses.shift() ?? new Response(null, { status: 503 }))
    const [during = '', before = '', after = '', again = ''] = await tokensOf(4, 1)
    harness.clock.seconds += keysMaxAgeMs / 1000
    expect(await harness.verify(during)).toEqual(admitted())
    await harness.settled()
    harness.clock.seconds += refetchMs / 1000
    expect(await harness.verify(before)).toEqual(admitted())
    await harness.settled()
    expect(await harness.verify(after)).toEqual(refused)
    expect(await harness.verify(await stranger.sign(goodClaims()))).toEqual(admitted())
    harness.clock.seconds += keysMaxAgeMs / 1000
    expect(await harness.verify(again)).toEqual(unavailable)
  })
})
