import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { failurePauseMs, keysBytesMax, keysTimeoutMs, refetchMs } from '../../../src/http/auth/key-set.ts'
import { trustMs } from '../../../src/http/auth/token-cache.ts'
import { clockToleranceSeconds, keysTriedMax } from '../../../src/http/auth/verify-token.ts'
import {
  assemble,
  bearer,
  createIssuer,
  goodClaims,
  type Issuer,
  type KeySetAlgorithm,
  keySetOf,
  signHs256,
  signWithBytes,
} from '../../support/tokens.ts'
import { asking, type Bench, benchOf, keySetConfig } from './auth-harness.ts'

const algorithms: readonly KeySetAlgorithm[] = ['RS256', 'ES256', 'EdDSA']
const admitted = { ok: true, value: 7 }
const refused = { ok: false, error: 'unauthorized' }
const unavailable = { ok: false, error: 'keys-unavailable' }
const show = (bench: Bench, token: string) => bench.authenticate(asking(bearer(token)))
const serving = (...issuers: readonly Issuer[]) => benchOf(keySetConfig, () => Response.json(keySetOf(...issuers)))

let issuers: Issuer[] = []
let [rsa, ec, ed]: Issuer[] = []
let stranger: Issuer

beforeAll(async () => {
  issuers = await Promise.all(algorithms.map((alg) => createIssuer(alg, `kid-${alg}`)))
  ;[rsa, ec, ed] = issuers
  stranger = await createIssuer('ES256', 'kid-stranger')
})

describe('a token signed with a key of the set', () => {
  test.each(algorithms)('is good with %s', async (alg) => {
    const issuer = issuers.find((one) => one.alg === alg)
    expect(await show(serving(...issuers), (await issuer?.sign(goodClaims())) ?? '')).toEqual(admitted)
  })

  test('may leave its key unnamed: every key that fits is tried', async () => {
    const unnamed = await Promise.all([1, 2, 3].map(() => createIssuer('ES256', null)))
    for (const issuer of unnamed)
      expect(await show(serving(...unnamed), await issuer.sign(goodClaims()))).toEqual(admitted)
    expect(await show(serving(...unnamed), await stranger.sign(goodClaims(), { kid: undefined }))).toEqual(refused)
  })

  test('is refused where more keys fit than are tried', async () => {
    const unnamed = await Promise.all(Array.from({ length: keysTriedMax + 1 }, () => createIssuer('EdDSA', null)))
    const token = (await unnamed[keysTriedMax]?.sign(goodClaims())) ?? ''
    expect(await show(serving(...unnamed), token)).toEqual(refused)
    expect(await show(serving(...unnamed.slice(1)), token)).toEqual(admitted)
  })

  test('runs out on the second', async () => {
    const bench = serving(...issuers)
    const token = (await ec?.sign(goodClaims({ exp: bench.clock.seconds + 5 }))) ?? ''
    bench.clock.seconds += 4 + clockToleranceSeconds
    expect(await show(bench, token)).toEqual(admitted)
    bench.clock.seconds += 1
    expect(await show(bench, token)).toEqual(refused)
  })
})

describe('an attack on the key set is refused', () => {
  const pemOf = async (issuer: Issuer | undefined) => new TextEncoder().encode(JSON.stringify(issuer?.jwk)) // what is public can be nobody's secret, in whatever form
  const modulusOf = (issuer: Issuer | undefined) => new TextEncoder().encode(issuer?.jwk.n)

  const attacks: [string, () => Promise<string>][] = [
    [
      'HS256 with the RSA public key as its secret',
      async () => signWithBytes({ alg: 'HS256', kid: 'kid-RS256' }, goodClaims(), await pemOf(rsa)),
    ],
    [
      'HS256 with the RSA modulus as its secret',
      () => signWithBytes({ alg: 'HS256', kid: 'kid-RS256' }, goodClaims(), modulusOf(rsa)),
    ],
    ['HS256 with any secret', () => signHs256(goodClaims())],
    ['alg none', async () => assemble({ alg: 'none', kid: 'kid-ES256' }, goodClaims())],
    ['a key of its own in the header', () => stranger.sign(goodClaims(), { kid: 'kid-ES256', jwk: stranger.jwk })],
    ['a key URL of its own in the header', () => stranger.sign(goodClaims(), { jku: 'https://evil.example/keys' })],
    ['another issuer’s key under a known name', () => stranger.sign(goodClaims(), { kid: 'kid-ES256' })],
    ['a known name of another algorithm', () => stranger.sign(goodClaims(), { kid: 'kid-RS256' })],
    ['a name that is a number', () => stranger.sign(goodClaims(), { kid: 7 })],
    [
      'an unknown crit',
      async () => signWithBytes({ alg: 'ES256', crit: ['x'], x: 1 }, goodClaims(), new Uint8Array(32)),
    ],
  ]
  test.each(attacks)('%s', async (_what, make) => {
    const bench = serving(...issuers)
    expect(await show(bench, await make())).toEqual(refused)
    expect(bench.memory.verified.size).toBe(0)
  })

  test.each(['RS384', 'RS512', 'PS256'])(
    'an algorithm that was not agreed on, though the key would do: %s',
    async (alg) => {
      const pair = await generateKeyPair(alg, { extractable: true })
      const bench = benchOf(keySetConfig, async () => Response.json({ keys: [await exportJWK(pair.publicKey)] }))
      const token = await new SignJWT(goodClaims()).setProtectedHeader({ alg }).sign(pair.privateKey)
      expect(await show(bench, token)).toEqual(refused)
    },
  )

  test('a secret key in the set', async () => {
    const k = 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA'
    const bench = benchOf(keySetConfig, () => Response.json({ keys: [{ kty: 'oct', k, alg: 'HS256' }] }))
    expect(await show(bench, await signHs256(goodClaims(), 'secret-secret-secret-secret-secret'))).toEqual(refused)
  })
})

describe('the keys', () => {
  test('are fetched once for many tokens, and again when they are old', async () => {
    const bench = serving(...issuers)
    for (const issuer of issuers) expect(await show(bench, await issuer.sign(goodClaims()))).toEqual(admitted)
    expect(bench.asked.times).toBe(1)
    bench.clock.seconds += trustMs / 1000
    expect(await show(bench, (await issuers[0]?.sign(goodClaims())) ?? '')).toEqual(admitted)
    expect(bench.asked.times).toBe(2)
  })

  test('that were withdrawn are believed no longer than the set', async () => {
    let served = issuers
    const bench = benchOf(keySetConfig, () => Response.json(keySetOf(...served)))
    const token = (await ed?.sign(goodClaims())) ?? ''
    expect(await show(bench, token)).toEqual(admitted)
    served = [stranger]
    bench.clock.seconds += trustMs / 1000
    expect(await show(bench, token)).toEqual(refused)
  })

  test('are fetched again for a key that is not among them, at most every so often', async () => {
    let served: Issuer[] = issuers
    const bench = benchOf(keySetConfig, () => Response.json(keySetOf(...served)))
    await show(bench, (await ec?.sign(goodClaims())) ?? '')
    served = [...issuers, stranger]
    const token = await stranger.sign(goodClaims())
    expect([await show(bench, token), bench.asked.times]).toEqual([refused, 1])
    bench.clock.seconds += refetchMs / 1000
    expect([await show(bench, token), bench.asked.times]).toEqual([admitted, 2])
    const unknown = await stranger.sign(goodClaims(), { kid: 'nobody' })
    expect([await show(bench, unknown), bench.asked.times]).toEqual([refused, 2])
    bench.clock.seconds += refetchMs / 1000
    expect([await show(bench, unknown), await show(bench, unknown), bench.asked.times]).toEqual([refused, refused, 3])
  })

  test('are asked for once when many unknown keys come at the same time', async () => {
    const bench = serving(...issuers)
    await show(bench, (await ec?.sign(goodClaims())) ?? '')
    bench.clock.seconds += refetchMs / 1000
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, i) => stranger.sign(goodClaims(), { kid: `k${i}` })),
    )
    const answers = await Promise.all(tokens.map((token) => show(bench, token)))
    expect(bench.asked.times).toBe(2)
    expect(answers.filter((answer) => answer.ok)).toEqual([])
  })

  test('are another configuration’s: nothing fetched before is used', async () => {
    const bench = serving(...issuers)
    const token = (await ec?.sign(goodClaims())) ?? ''
    expect(await show(bench, token)).toEqual(admitted)
    const other = { ...keySetConfig, key: { kind: 'jwks', url: 'https://other.example/keys' } } as const
    const moved = benchOf(other, () => Response.json(keySetOf(stranger)), { memory: bench.memory })
    expect(await show(moved, token)).toEqual(refused)
  })

  test('are asked for without following a redirect', async () => {
    let redirect: RequestInit['redirect']
    const bench = benchOf(keySetConfig, (init) => {
      redirect = init.redirect
      return new Response(null, { status: 302, headers: { location: 'https://evil.example/keys' } })
    })
    expect(await show(bench, (await ec?.sign(goodClaims())) ?? '')).toEqual(unavailable)
    expect(redirect).toBe('manual')
  })
})

describe('keys that can’t be read are nobody’s fault: not a 401', () => {
  const failures: [string, () => Response | Promise<Response>, string][] = [
    ['no connection', () => Promise.reject(new TypeError('https://issuer.example refused')), 'no connection'],
    ['an error', () => new Response('oops', { status: 500 }), 'status 500'],
    ['an error that holds keys', () => Response.json(keySetOf(...issuers), { status: 503 }), 'status 503'],
    ['HTML', () => new Response('<html>'), 'not JSON'],
    ['nothing', () => new Response(''), 'not JSON'],
    ['null', () => Response.json(null), 'not a key set'],
    ['a list', () => Response.json([]), 'not a key set'],
    ['keys that are none', () => Response.json({ keys: ['x'] }), 'not a key set'],
    ['too much', () => new Response(`{"keys":[]}${' '.repeat(keysBytesMax)}`), 'larger than the limit'],
  ]
  test.each(failures)('%s', async (_what, serve, why) => {
    const bench = benchOf(keySetConfig, serve)
    expect(await show(bench, (await ec?.sign(goodClaims())) ?? '')).toEqual(unavailable)
    expect(bench.warnings).toEqual([{ why }])
  })

  test('also for a key that is not among those read before: it may be a new one', async () => {
    const statuses = [200, 500]
    const bench = benchOf(keySetConfig, () => Response.json(keySetOf(...issuers), { status: statuses.shift() ?? 500 }))
    const known = (await ec?.sign(goodClaims())) ?? ''
    expect(await show(bench, known)).toEqual(admitted)
    bench.clock.seconds += refetchMs / 1000
    const unknown = await stranger.sign(goodClaims())
    expect(await show(bench, unknown)).toEqual(unavailable)
    expect(await show(bench, unknown)).toEqual(unavailable)
    expect(await show(bench, (await ed?.sign(goodClaims())) ?? '')).toEqual(admitted)
    expect(bench.asked.times).toBe(2)
  })

  test('no answer in time', async () => {
    const slept: number[] = []
    const hang = ({ signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const sleep = (ms: number) => Promise.resolve(void slept.push(ms))
    const bench = benchOf(keySetConfig, hang, { sleep })
    expect(await show(bench, (await ec?.sign(goodClaims())) ?? '')).toEqual(unavailable)
    expect(slept).toEqual([keysTimeoutMs])
    expect(bench.warnings).toEqual([{ why: 'no answer in time' }])
  })

  test('no key server is asked again right after it failed, and the next one that answers is believed', async () => {
    const statuses = [500, 200]
    const bench = benchOf(keySetConfig, () => Response.json(keySetOf(...issuers), { status: statuses.shift() ?? 500 }))
    const token = (await ec?.sign(goodClaims())) ?? ''
    expect([await show(bench, token), await show(bench, token), bench.asked.times]).toEqual([
      unavailable,
      unavailable,
      1,
    ])
    bench.clock.seconds += failurePauseMs / 1000
    expect([await show(bench, token), bench.asked.times]).toEqual([admitted, 2])
  })

  test('a header that can be no token is refused without asking for keys', async () => {
    const bench = benchOf(keySetConfig)
    expect(await bench.authenticate(asking({ authorization: 'Bearer x' }))).toEqual(refused)
    expect(await bench.authenticate(asking())).toEqual(refused)
    expect(bench.asked.times).toBe(0)
  })

  test('a key of the set that can’t be used is refused, and told in the log', async () => {
    const broken = { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'kid-stranger', alg: 'ES256' }
    const bench = benchOf(keySetConfig, () => Response.json({ keys: [broken] }))
    expect(await show(bench, await stranger.sign(goodClaims()))).toEqual(refused)
    expect(bench.warnings).toHaveLength(1)
  })
})
