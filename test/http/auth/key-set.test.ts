import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import {
  failurePauseMs,
  keysBytesMax,
  keysMaxAgeMs,
  keysTimeoutMs,
  refetchMs,
} from '../../../src/worker/http/auth/key-set.ts'
import { keysTriedMax } from '../../../src/worker/http/auth/verify-token.ts'
import {
  createIssuer,
  forgeToken,
  goodClaims,
  type Issuer,
  jwtSecret,
  type KeySetAlgorithm,
  keySetOf,
  signHs256,
  signWithBytes,
} from '../../support/tokens.ts'
import { admitted, authHarness, faulty, type KeyServer, keySetConfig, refused, requestWith } from './auth-harness.ts'

const algorithms: readonly KeySetAlgorithm[] = ['RS256', 'ES256', 'EdDSA']
const unavailable = { ok: false, error: 'keys-unavailable' }
const served = (serve: KeyServer) => authHarness(keySetConfig, serve)
const serving = (...issuers: readonly Issuer[]) => served(() => Response.json(keySetOf(...issuers)))

let issuers: Issuer[]
let rsa: Issuer
let ec: Issuer
let ed: Issuer
/** An issuer whose key is not in the key set. */
let stranger: Issuer

beforeAll(async () => {
  rsa = await createIssuer('RS256', 'kid-RS256')
  ec = await createIssuer('ES256', 'kid-ES256')
  ed = await createIssuer('EdDSA', 'kid-EdDSA')
  issuers = [rsa, ec, ed]
  stranger = await createIssuer('ES256', 'kid-stranger')
})

describe('with a secret, its previous one and a key set', () => {
  const previous = 'the secret before, of more than thirty-two bytes'
  const config = { ...keySetConfig, secrets: [jwtSecret, previous] }

  test('a token is checked only with the keys of its own kind', async () => {
    const harness = authHarness(config, () => Response.json(keySetOf(...issuers)))
    expect(await harness.verify(await signHs256(goodClaims()))).toEqual(admitted())
    expect(await harness.verify(await signHs256(goodClaims({ sub: '8' }), previous))).toEqual(admitted(8))
    expect(await harness.verify(await signHs256(goodClaims(), 'another secret of more than 32 bytes'))).toEqual(refused)
    expect(harness.fetches.count).toBe(0)
    for (const issuer of issuers) expect(await harness.verify(await issuer.sign(goodClaims()))).toEqual(admitted())
    expect(harness.fetches.count).toBe(1)
    expect(await harness.verify(await stranger.sign(goodClaims()))).toEqual(refused)
    for (const alg of ['none', 'HS512', 'ES384']) {
      expect(await harness.verify(forgeToken({ alg }, goodClaims(), 'x'))).toEqual(refused)
    }
  })

  test('a public key of the set is no secret', async () => {
    const harness = authHarness(config, () => Response.json(keySetOf(...issuers)))
    const publicKey = new TextEncoder().encode(JSON.stringify(ec.jwk))
    expect(await harness.verify(await signWithBytes({ alg: 'HS256' }, goodClaims(), publicKey))).toEqual(refused)
  })

  test('a token of the secret is accepted while the issuer cannot be reached', async () => {
    const harness = authHarness(config)
    expect(await harness.verify(await ec.sign(goodClaims()))).toEqual(unavailable)
    expect(await harness.verify(await signHs256(goodClaims()))).toEqual(admitted())
  })
})

describe('a token signed with a key of the set', () => {
  test.each(algorithms)('is accepted with %s', async (alg) => {
    const issuer = issuers.find((one) => one.alg === alg)
    if (issuer === undefined) throw new Error('an issuer for each algorithm')
    expect(await serving(...issuers).verify(await issuer.sign(goodClaims()))).toEqual(admitted())
  })

  test.each([
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
    ['Ed25519', 'Ed25519'],
    ['EdDSA', undefined],
    ['Ed25519', undefined],
  ] as const)('is accepted as %s with an Ed25519 key whose alg is %s', async (alg, alsoNamed) => {
    const issuer = await createIssuer(alg, 'kid')
    const { alg: _, ...unnamed } = issuer.jwk
    const jwk = alsoNamed === undefined ? unnamed : { ...unnamed, alg: alsoNamed }
    const harness = served(() => Response.json({ keys: [jwk] }))
    expect(await harness.verify(await issuer.sign(goodClaims()))).toEqual(admitted())
    expect(await harness.verify(await stranger.sign(goodClaims(), { kid: 'kid' }))).toEqual(refused)
  })

  test('is refused with an Ed25519 key that is for something else', async () => {
    const issuer = await createIssuer('EdDSA', 'kid')
    for (const changes of [{ alg: 'ES256' }, { alg: 'X25519' }, { use: 'enc' }, { crv: 'X25519' }, { kty: 'EC' }]) {
      const harness = served(() => Response.json({ keys: [{ ...issuer.jwk, ...changes }] }))
      const { ok } = await harness.verify(await issuer.sign(goodClaims()))
      expect([changes, ok]).toEqual([changes, false])
    }
  })

  test('can have no key id: every key that matches is tried', async () => {
    const unnamed = await Promise.all([1, 2, 3].map(() => createIssuer('ES256', null)))
    for (const issuer of unnamed)
      expect(await serving(...unnamed).verify(await issuer.sign(goodClaims()))).toEqual(admitted())
    expect(await serving(...unnamed).verify(await stranger.sign(goodClaims(), { kid: undefined }))).toEqual(refused)
  })

  test('is refused where more keys match than are tried', async () => {
    const unnamed = await Promise.all(Array.from({ length: keysTriedMax + 1 }, () => createIssuer('EdDSA', null)))
    const token = (await unnamed[keysTriedMax]?.sign(goodClaims())) ?? ''
    expect(await serving(...unnamed).verify(token)).toEqual(refused)
    expect(await serving(...unnamed.slice(1)).verify(token)).toEqual(admitted())
  })

  test('expires on the second', async () => {
    const harness = serving(...issuers)
    const token = await ec.sign(goodClaims({ exp: harness.clock.seconds + 5 }))
    harness.clock.seconds += 4
    expect(await harness.verify(token)).toEqual(admitted())
    harness.clock.seconds += 1
    expect(await harness.verify(token)).toEqual(faulty('expired'))
  })
})

describe('an attack on the key set is refused', () => {
  const publicKeyOf = ({ jwk }: Issuer) => new TextEncoder().encode(JSON.stringify(jwk))
  const modulusOf = ({ jwk }: Issuer) => new TextEncoder().encode(jwk.n)

  const attacks: [string, () => Promise<string>][] = [
    [
      'HS256 with the RSA public key as its secret',
      () => signWithBytes({ alg: 'HS256', kid: 'kid-RS256' }, goodClaims(), publicKeyOf(rsa)),
    ],
    [
      'HS256 with the RSA modulus as its secret',
      () => signWithBytes({ alg: 'HS256', kid: 'kid-RS256' }, goodClaims(), modulusOf(rsa)),
    ],
    ['HS256 with any secret', () => signHs256(goodClaims())],
    ['alg none', async () => forgeToken({ alg: 'none', kid: 'kid-ES256' }, goodClaims())],
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
    const harness = serving(...issuers)
    expect(await harness.verify(await make())).toEqual(refused)
  })

  test.each(['RS384', 'RS512', 'PS256'])(
    'an algorithm that is not accepted, though the key is valid for it: %s',
    async (alg) => {
      const pair = await generateKeyPair(alg, { extractable: true })
      const harness = served(async () => Response.json({ keys: [await exportJWK(pair.publicKey)] }))
      const token = await new SignJWT(goodClaims()).setProtectedHeader({ alg }).sign(pair.privateKey)
      expect(await harness.verify(token)).toEqual(refused)
    },
  )

  test('a secret key in the set', async () => {
    const k = 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA'
    const harness = served(() => Response.json({ keys: [{ kty: 'oct', k, alg: 'HS256' }] }))
    expect(await harness.verify(await signHs256(goodClaims(), 'secret-secret-secret-secret-secret'))).toEqual(refused)
  })
})

describe('the keys', () => {
  test('are fetched once for many tokens, and again when they are old', async () => {
    const harness = serving(...issuers)
    for (const issuer of issuers) expect(await harness.verify(await issuer.sign(goodClaims()))).toEqual(admitted())
    expect(harness.fetches.count).toBe(1)
    harness.clock.seconds += keysMaxAgeMs / 1000
    expect(await harness.verify(await rsa.sign(goodClaims()))).toEqual(admitted())
    expect(harness.fetches.count).toBe(2)
  })

  test('are fetched again for an unknown key, at most once in a while', async () => {
    let current = issuers
    const harness = served(() => Response.json(keySetOf(...current)))
    await harness.verify(await ec.sign(goodClaims()))
    current = [...issuers, stranger]
    const token = await stranger.sign(goodClaims())
    expect([await harness.verify(token), harness.fetches.count]).toEqual([refused, 1])
    harness.clock.seconds += refetchMs / 1000
    expect([await harness.verify(token), harness.fetches.count]).toEqual([admitted(), 2])
    const unknown = await stranger.sign(goodClaims(), { kid: 'unknown' })
    expect([await harness.verify(unknown), harness.fetches.count]).toEqual([refused, 2])
    harness.clock.seconds += refetchMs / 1000
    expect([await harness.verify(unknown), await harness.verify(unknown), harness.fetches.count]).toEqual([
      refused,
      refused,
      3,
    ])
  })

  test('are fetched once for many unknown keys at the same time', async () => {
    const harness = serving(...issuers)
    await harness.verify(await ec.sign(goodClaims()))
    harness.clock.seconds += refetchMs / 1000
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, i) => stranger.sign(goodClaims(), { kid: `k${i}` })),
    )
    const results = await Promise.all(tokens.map((token) => harness.verify(token)))
    expect(harness.fetches.count).toBe(2)
    expect(results.filter(({ ok }) => ok)).toEqual([])
  })

  test('are fetched without following a redirect', async () => {
    let redirect: RequestInit['redirect']
    const harness = served((init) => {
      redirect = init.redirect
      return new Response(null, { status: 302, headers: { location: 'https://evil.example/keys' } })
    })
    expect(await harness.verify(await ec.sign(goodClaims()))).toEqual(unavailable)
    expect(redirect).toBe('manual')
  })
})

describe('keys that cannot be fetched', () => {
  const failures: [string, () => Response | Promise<Response>, string][] = [
    ['no connection', () => Promise.reject(new TypeError('https://issuer.example refused')), 'no connection'],
    ['an error', () => new Response('oops', { status: 500 }), 'status 500'],
    ['an error with keys', () => Response.json(keySetOf(...issuers), { status: 503 }), 'status 503'],
    ['HTML', () => new Response('<html>'), 'not JSON'],
    ['an empty body', () => new Response(''), 'not JSON'],
    ['null', () => Response.json(null), 'not a key set'],
    ['a list', () => Response.json([]), 'not a key set'],
    ['keys that are lists', () => Response.json({ keys: [[]] }), 'not a key set'],
    ['keys of another type', () => Response.json({ keys: ['x'] }), 'not a key set'],
    ['a large body', () => new Response(`{"keys":[]}${' '.repeat(keysBytesMax)}`), 'larger than the limit'],
  ]
  test.each(failures)('make a token neither valid nor wrong: %s', async (_what, serve, why) => {
    const harness = served(serve)
    expect(await harness.verify(await ec.sign(goodClaims()))).toEqual(unavailable)
    expect(harness.warnings).toEqual([{ event: 'token-keys-unavailable', fields: { why } }])
  })

  test('are waited for no longer than the time limit', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout')
    timeout.mockReturnValue(AbortSignal.abort(new DOMException('the time limit', 'TimeoutError')))
    const harness = served(({ signal }) => Promise.reject(signal?.reason))
    const token = await ec.sign(goodClaims())
    expect(await harness.verify(token)).toEqual(unavailable)
    expect(timeout).toHaveBeenCalledWith(keysTimeoutMs)
    timeout.mockRestore()
    expect(harness.warnings.map(({ fields }) => fields)).toEqual([{ why: 'no response in time' }])
  })

  test('are not fetched again right after a failure', async () => {
    const statuses = [500, 200]
    const harness = served(() => Response.json(keySetOf(...issuers), { status: statuses.shift() ?? 500 }))
    const token = await ec.sign(goodClaims())
    expect([await harness.verify(token), await harness.verify(token), harness.fetches.count]).toEqual([
      unavailable,
      unavailable,
      1,
    ])
    harness.clock.seconds += failurePauseMs / 1000
    expect([await harness.verify(token), harness.fetches.count]).toEqual([admitted(), 2])
  })

  test('are not fetched for a header without a token', async () => {
    const harness = authHarness(keySetConfig)
    expect(await harness.authenticate(requestWith({ authorization: 'Bearer x' }))).toEqual(refused)
    expect(await harness.authenticate(requestWith())).toEqual(refused)
    expect(harness.fetches.count).toBe(0)
  })
})

describe('a key that its issuer has replaced', () => {
  const kids = [null, 'kid-1']
  /** A service that has verified a token of `before`. `now` is what the issuer publishes. */
  async function afterFirst(before: Issuer) {
    const set = { now: [before] as readonly Issuer[] }
    const harness = served(() => Response.json(keySetOf(...set.now)))
    const withdrawn = await before.sign(goodClaims())
    expect(await harness.verify(withdrawn)).toEqual(admitted())
    harness.clock.seconds += refetchMs / 1000
    return { harness, set, withdrawn }
  }

  test.each(kids)('under the same name (%s) counts at once, and the old one no longer', async (kid) => {
    const [before, after] = [await createIssuer('ES256', kid), await createIssuer('ES256', kid)]
    const { harness, set, withdrawn } = await afterFirst(before)
    const another = await before.sign(goodClaims({ jti: 'another' }))
    set.now = [after]
    expect(await harness.verify(await after.sign(goodClaims()))).toEqual(admitted())
    expect(harness.fetches.count).toBe(2)
    expect([await harness.verify(withdrawn), await harness.verify(another)]).toEqual([refused, refused])
    expect(harness.fetches.count).toBe(2)
  })

  test('is among several without a name', async () => {
    const [kept, before, after] = await Promise.all([1, 2, 3].map(() => createIssuer('RS256', null)))
    if (kept === undefined || before === undefined || after === undefined) throw new Error('three issuers')
    const { harness, set } = await afterFirst(before)
    set.now = [kept, after]
    for (const issuer of [after, kept])
      expect(await harness.verify(await issuer.sign(goodClaims()))).toEqual(admitted())
    expect(harness.fetches.count).toBe(2)
  })

  test('was unusable before', async () => {
    const broken = { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'kid-ES256', alg: 'ES256' }
    const sets = [{ keys: [broken] }, keySetOf(ec)]
    const harness = served(() => Response.json(sets.shift()))
    const token = await ec.sign(goodClaims())
    expect(await harness.verify(token)).toEqual(refused)
    harness.clock.seconds += refetchMs / 1000
    expect(await harness.verify(token)).toEqual(admitted())
  })

  test('is asked for by one fetch, however many new tokens wait for it', async () => {
    const [before, after] = [await createIssuer('ES256', null), await createIssuer('ES256', null)]
    const { harness, set } = await afterFirst(before)
    set.now = [after]
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, i) => after.sign(goodClaims({ jti: `${i}` }))))
    expect(await Promise.all(tokens.map((token) => harness.verify(token)))).toEqual(Array(50).fill(admitted()))
    expect(harness.fetches.count).toBe(2)
  })

  test('is asked for at most every 30 s, whatever forged tokens come', async () => {
    const { harness, withdrawn } = await afterFirst(ec)
    let forged = 0
    for (let second = 0; second < 300; second += 1) {
      for (const header of [{ kid: 'kid-ES256' }, { kid: undefined }, { kid: `kid-${second}` }]) {
        forged += 1
        expect(await harness.verify(await stranger.sign(goodClaims(), header))).toEqual(refused)
      }
      harness.clock.seconds += 1
    }
    expect(forged).toBe(900)
    expect(harness.fetches.count).toBe(1 + 300_000 / refetchMs)
    expect(await harness.verify(withdrawn)).toEqual(admitted())
  })

  test('is asked for at most every 30 s also while the issuer drops each request', async () => {
    let isFirst = true
    const harness = served(() => {
      if (!isFirst) return new Promise<Response>(() => undefined)
      isFirst = false
      return Response.json(keySetOf(ec))
    })
    expect(await harness.verify(await ec.sign(goodClaims()))).toEqual(admitted())
    const wrong = await stranger.sign(goodClaims(), { kid: 'kid-ES256' })
    for (let second = 0; second < 60; second += 1) {
      harness.clock.seconds += 1
      void harness.verify(wrong)
      expect(await harness.verify(await ec.sign(goodClaims({ jti: `${second}` })))).toEqual(admitted())
    }
    await vi.waitFor(() => expect(harness.fetches.count).toBeGreaterThan(1))
    expect(harness.fetches.count).toBeLessThanOrEqual(3)
  })
})

describe('a key of the set that cannot be used', () => {
  test('makes its tokens wrong, with a line in the log', async () => {
    const broken = { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'kid-stranger', alg: 'ES256' }
    const harness = served(() => Response.json({ keys: [broken] }))
    expect(await harness.verify(await stranger.sign(goodClaims()))).toEqual(refused)
    expect(harness.warnings.map(({ event }) => event)).toEqual(['token-key-unusable'])
  })

  test('is passed over where tokens name no key', async () => {
    const long = await createIssuer('RS256', null)
    const short = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    )
    const { publicKey } = short as CryptoKeyPair // safe: RSA keys are pairs
    const keys = [{ ...(await exportJWK(publicKey)), alg: 'RS256' }, ...keySetOf(long).keys]
    const harness = served(() => Response.json({ keys }))
    expect((await harness.verify(await long.sign(goodClaims()))).ok).toBe(true)
  })
})
