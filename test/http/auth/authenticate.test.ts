import { beforeAll, describe, expect, test } from 'vitest'
import type { AuthConfig } from '../../../src/config/config.ts'
import { authorizationCharsMax } from '../../../src/http/auth/authenticate.ts'
import { trustMs, verifiedTokensMax } from '../../../src/http/auth/token-cache.ts'
import type { Uid } from '../../../src/ledger/entry.ts'
import {
  assemble,
  bearer,
  encode,
  goodClaims,
  jwtSecret,
  signHs256,
  signWithBytes,
  tokenNow,
} from '../../support/tokens.ts'
import { asking, type Bench, benchOf, secretConfig } from './auth-harness.ts'

const secretBytes = new TextEncoder().encode(jwtSecret)
const admitted = (uid: number) => ({ ok: true, value: uid })
const refused = { ok: false, error: 'unauthorized' }
const hs256 = { alg: 'HS256' }
const show = (bench: Bench, token: string) => bench.authenticate(asking(bearer(token)))

describe('a good token', () => {
  test.each([
    ['1', 1],
    ['7', 7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('acts for the caller in its sub, "%s"', async (sub, uid) => {
    expect(await show(benchOf(secretConfig), await signHs256(goodClaims({ sub })))).toEqual(admitted(uid))
  })

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
    'is taken whatever the case of the scheme: %s',
    async (scheme) => {
      const authorization = `${scheme} ${await signHs256(goodClaims())}`
      expect(await benchOf(secretConfig).authenticate(asking({ authorization }))).toEqual(admitted(7))
    },
  )

  test('counts from its nbf on, up to its exp', async () => {
    const token = await signHs256(goodClaims({ nbf: tokenNow, exp: tokenNow + 10 }))
    const moments = [
      [tokenNow - 1, refused],
      [tokenNow, admitted(7)],
      [tokenNow + 9, admitted(7)],
      [tokenNow + 10, refused],
      [tokenNow - 1, refused],
    ] as const
    const shared = benchOf(secretConfig)
    for (const [seconds, answer] of moments) {
      shared.clock.seconds = seconds
      expect(await show(shared, token)).toEqual(answer) // with what was remembered before
      const fresh = benchOf(secretConfig)
      fresh.clock.seconds = seconds
      expect(await show(fresh, token)).toEqual(answer)
    }
  })

  test('may have claims and header members that nobody asked for', async () => {
    const token = await signHs256(goodClaims({ admin: true, iat: tokenNow + 60 }), jwtSecret, {
      kid: 'x',
      typ: 'at+jwt',
    })
    expect(await show(benchOf(secretConfig), token)).toEqual(admitted(7))
  })
})

describe('a bad token is refused', () => {
  const claims = goodClaims()
  const signed = (header: unknown, what: unknown) => signWithBytes(header, what, secretBytes)
  const attacks: [string, () => Promise<string>][] = [
    ['no signature, alg none', async () => `${assemble({ alg: 'none' }, claims)}`],
    ['alg none in capitals, signed', () => signed({ alg: 'NONE' }, claims)],
    ['alg none, signed', () => signed({ alg: 'none' }, claims)],
    ['no alg', () => signed({}, claims)],
    ['alg as a list', () => signed({ alg: ['HS256'] }, claims)],
    ['another HMAC by name alone', () => signed({ alg: 'HS512' }, claims)],
    ['small letters', () => signed({ alg: 'hs256' }, claims)],
    ['an asymmetric alg', () => signed({ alg: 'RS256' }, claims)],
    ['another secret', () => signHs256(claims, `${jwtSecret}x`)],
    [
      'a key of its own in the header',
      () => signHs256(claims, `${jwtSecret}x`, { jwk: { kty: 'oct', k: encode(`${jwtSecret}x`) } }),
    ],
    ['an unknown crit', () => signed({ ...hs256, crit: ['exp2'], exp2: 1 }, claims)],
    ['an empty crit', () => signed({ ...hs256, crit: [] }, claims)],
    ['an unencoded payload (b64)', () => signed({ ...hs256, crit: ['b64'], b64: false }, claims)],
    ['its exp now', () => signed(hs256, goodClaims({ exp: tokenNow }))],
    ['its exp long past', () => signed(hs256, goodClaims({ exp: 1 }))],
    ['no exp', () => signed(hs256, goodClaims({ exp: undefined }))],
    ['exp null', () => signed(hs256, { sub: '7', exp: null })],
    ['exp as text', () => signed(hs256, { sub: '7', exp: `${tokenNow + 60}` })],
    ['nbf ahead', () => signed(hs256, goodClaims({ nbf: tokenNow + 1 }))],
    ['nbf as text', () => signed(hs256, { ...claims, nbf: `${tokenNow}` })],
    ['claims that are a list', () => signed(hs256, [claims])],
    ['claims that are null', () => signed(hs256, null)],
    ['a header that is no object', () => signed('HS256', claims)],
    [
      'a changed claim',
      async () => (await signHs256(claims)).replace(/\.[^.]+\./, `.${encode('{"sub":"8","exp":9999999999}')}.`),
    ],
    ['a cut signature', async () => (await signHs256(claims)).slice(0, -1)],
    ['an empty signature', async () => (await signHs256(claims)).replace(/[^.]+$/, '')],
    ['a fourth part', async () => `${await signHs256(claims)}.x`],
    ['padding', async () => `${await signHs256(claims)}=`],
    ['garbage', async () => 'garbage'],
    ['garbage in three parts', async () => 'a.b.c'],
    ['two dots', async () => '..'],
    ['nothing', async () => ''],
  ]
  test.each(attacks)('%s', async (_what, make) => {
    const bench = benchOf(secretConfig)
    expect(await show(bench, await make())).toEqual(refused)
    expect(bench.memory.verified.size).toBe(0)
  })

  const subjects: [string, unknown][] = [
    ['missing', undefined],
    ['a number', 7],
    ['null', null],
    ['a list', ['7']],
    ['an object', { id: '7' }],
    ['empty', ''],
    ['zero', '0'],
    ['a leading zero', '01'],
    ['an exponent', '1e3'],
    ['a minus', '-1'],
    ['a plus', '+1'],
    ['a space in front', ' 1'],
    ['a space behind', '1 '],
    ['a line end', '1\n'],
    ['a decimal point', '1.0'],
    ['hex', '0x1'],
    ['2^53', '9007199254740992'],
    ['2^64', '18446744073709551616'],
    ['an Arabic digit', '١'],
    ['a word', 'admin'],
    ['a prefix', 'user:7'],
  ]
  test.each(subjects)('a sub that is %s', async (_what, sub) => {
    const bench = benchOf(secretConfig)
    expect(await show(bench, await signWithBytes(hs256, { exp: tokenNow + 60, sub }, secretBytes))).toEqual(refused)
  })
})

describe('another HMAC that really is one, with a secret long enough for it', () => {
  const secret = jwtSecret.repeat(2)
  const config: AuthConfig = { ...secretConfig, key: { kind: 'secret', secret } }

  test.each([
    ['HS256', admitted(7)],
    ['HS384', refused],
    ['HS512', refused],
  ])('%s', async (alg, answer) => {
    expect(await show(benchOf(config), await signHs256(goodClaims(), secret, { alg }))).toEqual(answer)
  })
})

describe('iss and aud', () => {
  const strict: AuthConfig = { ...secretConfig, issuer: 'https://issuer.example', audience: 'wallet' }
  const iss = strict.issuer
  const aud = strict.audience

  test.each([
    ['both as configured', { iss, aud }],
    ['the audience among others', { iss, aud: ['shop', aud] }],
  ])('hold: %s', async (_what, claims) => {
    expect(await show(benchOf(strict), await signHs256(goodClaims(claims)))).toEqual(admitted(7))
  })

  test.each([
    ['no iss', { aud }],
    ['another iss', { iss: 'https://issuer.example/', aud }],
    ['iss as a list', { iss: [iss], aud }],
    ['no aud', { iss }],
    ['another aud', { iss, aud: 'Wallet' }],
    ['an empty aud list', { iss, aud: [] }],
    ['aud as an object', { iss, aud: { 0: aud } }],
  ])('refuse: %s', async (_what, claims) => {
    const token = await signWithBytes(hs256, goodClaims(claims), secretBytes)
    expect(await show(benchOf(strict), token)).toEqual(refused)
  })
})

describe('the Authorization header', () => {
  let token = ''
  beforeAll(async () => {
    token = await signHs256(goodClaims())
  })

  test.each<[string, (good: string) => string]>([
    ['is empty', () => ''],
    ['has another scheme', (good) => `Basic ${good}`],
    ['has no scheme', (good) => good],
    ['has the scheme alone', () => 'Bearer'],
    ['has two spaces', (good) => `Bearer  ${good}`],
    ['has a tab', (good) => `Bearer\t${good}`],
    ['has a colon', (good) => `Bearer: ${good}`],
    ['has two tokens', (good) => `Bearer ${good} ${good}`],
    ['has two tokens and a comma', (good) => `Bearer ${good},${good}`],
    ['has something behind', (good) => `Bearer ${good} x`],
    ['has quotes', (good) => `Bearer "${good}"`],
  ])('is refused where it %s', async (_what, write) => {
    expect(await benchOf(secretConfig).authenticate(asking({ authorization: write(token) }))).toEqual(refused)
  })

  test('is refused where it is missing', async () => {
    expect(await benchOf(secretConfig).authenticate(asking())).toEqual(refused)
  })

  test('is refused where it stands twice, even with one good token', async () => {
    const headers = new Headers(bearer(token))
    headers.append('authorization', `Bearer ${token}`)
    expect(await benchOf(secretConfig).authenticate(asking(headers))).toEqual(refused)
  })

  test('is looked at up to its longest, and not past it', async () => {
    const room = authorizationCharsMax - `Bearer ${await signHs256(goodClaims({ pad: '' }))}`.length
    const tokenOf = (chars: number) => signHs256(goodClaims({ pad: 'x'.repeat(chars) }))
    let chars = Math.floor((room * 3) / 4)
    while (`Bearer ${await tokenOf(chars)}`.length > authorizationCharsMax) chars -= 1
    expect(await show(benchOf(secretConfig), await tokenOf(chars))).toEqual(admitted(7))
    expect(await show(benchOf(secretConfig), await tokenOf(chars + 2))).toEqual(refused)
  })
})

describe('what is remembered of good tokens', () => {
  test('is not taken by another secret, issuer or audience', async () => {
    const first = benchOf(secretConfig)
    const token = await signHs256(goodClaims())
    expect(await show(first, token)).toEqual(admitted(7))
    const others: AuthConfig[] = [
      { ...secretConfig, key: { kind: 'secret', secret: `${jwtSecret}x` } },
      { ...secretConfig, issuer: 'https://issuer.example' },
      { ...secretConfig, audience: 'wallet' },
    ]
    for (const other of others) {
      expect(await show(benchOf(other, undefined, { memory: first.memory }), token)).toEqual(refused)
    }
  })

  test('is one caller’s for one token: another token is another caller', async () => {
    const bench = benchOf(secretConfig)
    const [seven, eight] = [await signHs256(goodClaims()), await signHs256(goodClaims({ sub: '8' }))]
    for (const [token, uid] of [
      [seven, 7],
      [eight, 8],
      [seven, 7],
      [eight, 8],
    ] as const) {
      expect(await show(bench, token)).toEqual(admitted(uid))
    }
    expect(
      await show(bench, `${seven.slice(0, seven.lastIndexOf('.'))}${eight.slice(eight.lastIndexOf('.'))}`),
    ).toEqual(refused)
  })

  test('is forgotten after a while, and found good again', async () => {
    const bench = benchOf(secretConfig)
    const token = await signHs256(goodClaims())
    await show(bench, token)
    const first = bench.memory.verified.get(token)
    bench.clock.seconds += trustMs / 1000
    expect(await show(bench, token)).toEqual(admitted(7))
    expect(bench.memory.verified.get(token)?.verifiedAt).toBeGreaterThan(first?.verifiedAt ?? Number.POSITIVE_INFINITY)
  })

  test('is bounded: the oldest token makes room', async () => {
    const bench = benchOf(secretConfig)
    const first = await signHs256(goodClaims())
    await show(bench, first)
    for (let i = 0; i < verifiedTokensMax; i += 1) {
      expect(await show(bench, await signHs256(goodClaims({ jti: `${i}` })))).toEqual(admitted(7))
    }
    expect(bench.memory.verified.size).toBe(verifiedTokensMax)
    expect(bench.memory.verified.has(first)).toBe(false)
    expect(await show(bench, first)).toEqual(admitted(7))
  })
})

describe('with no key configured', () => {
  const none: AuthConfig = { ...secretConfig, key: { kind: 'none' } }

  test('nobody is let in, token or not: the service fails closed', async () => {
    const closed = { ok: false, error: 'no-key' }
    expect(await benchOf(none).authenticate(asking())).toEqual(closed)
    expect(await show(benchOf(none), await signHs256(goodClaims()))).toEqual(closed)
    expect(await show(benchOf(none), assemble({ alg: 'none' }, goodClaims()))).toEqual(closed)
  })
})

describe('DEV_UID', () => {
  const local: AuthConfig = { ...secretConfig, devUid: 42 as Uid }
  const keyless: AuthConfig = { ...local, key: { kind: 'none' } }

  test.each([
    'http://localhost/wallet/list',
    'http://LOCALHOST:8787/wallet/list',
    'http://127.0.0.1:8787/wallet/list',
    'http://127.255.0.9/wallet/list',
    'http://127.1/wallet/list',
    'http://[::1]:8787/wallet/list',
    'https://localhost/wallet/list',
  ])('acts for that caller at %s', async (url) => {
    expect(await benchOf(local).authenticate(asking({}, url))).toEqual(admitted(42))
    expect(await benchOf(keyless).authenticate(asking({}, url))).toEqual(admitted(42))
  })

  test.each([
    'https://wallet.example/wallet/list',
    'https://localhost.example/wallet/list',
    'https://wallet.localhost/wallet/list',
    'https://notlocalhost/wallet/list',
    'https://localhost./wallet/list',
    'https://127.0.0.1.example/wallet/list',
    'https://128.0.0.1/wallet/list',
    'https://0.0.0.0/wallet/list',
    'https://10.0.0.1/wallet/list',
    'https://[::]/wallet/list',
    'https://[::ffff:127.0.0.1]/wallet/list',
    'https://[::1:1]/wallet/list',
    'https://localhost@wallet.example/wallet/list',
    'https://wallet.example/localhost?host=localhost#localhost',
  ])('does nothing at %s', async (url) => {
    const headers = { host: 'localhost', 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' }
    expect(await benchOf(local).authenticate(asking(headers, url))).toEqual(refused)
    expect(await benchOf(keyless).authenticate(asking(headers, url))).toEqual({ ok: false, error: 'no-key' })
  })

  test('does nothing for a request that shows a token, good or bad', async () => {
    const url = 'http://localhost/wallet/list'
    const good = bearer(await signHs256(goodClaims()))
    expect(await benchOf(local).authenticate(asking(good, url))).toEqual(admitted(7))
    expect(await benchOf(local).authenticate(asking(bearer('a.b.c'), url))).toEqual(refused)
    expect(await benchOf(local).authenticate(asking({ authorization: '' }, url))).toEqual(refused)
  })
})
