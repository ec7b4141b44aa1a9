import { describe, expect, test } from 'vitest'
import type { AuthConfig } from '../../../src/worker/config/auth.ts'
import type { TokenFault } from '../../../src/worker/http/auth/token-fault.ts'
import { aheadSecondsMax } from '../../../src/worker/http/auth/verify-token.ts'
import {
  base64Url,
  forgeToken,
  goodClaims,
  jwtSecret,
  signHs256,
  signWithBytes,
  signWithHash,
  tokenNow,
} from '../../support/tokens.ts'
import { admitted, authHarness, faulty, refused, secretConfig } from './auth-harness.ts'

const secretBytes = new TextEncoder().encode(jwtSecret)
const hs256 = { alg: 'HS256' }

describe('a valid token', () => {
  test.each([
    ['1', 1],
    ['7', 7],
    ['9007199254740990', Number.MAX_SAFE_INTEGER - 1],
  ])('is that of the caller in its sub: %s', async (sub, uid) => {
    expect(await authHarness(secretConfig).verify(await signHs256(goodClaims({ sub })))).toEqual(admitted(uid))
  })

  test('is accepted from its nbf on and before its exp', async () => {
    const token = await signHs256(goodClaims({ nbf: tokenNow, exp: tokenNow + 10 }))
    const harness = authHarness(secretConfig)
    for (const [seconds, result] of [
      [tokenNow - aheadSecondsMax - 1, faulty('not-valid-yet')],
      [tokenNow, admitted()],
      [tokenNow + 9, admitted()],
      [tokenNow + 10, faulty('expired')],
      [tokenNow - aheadSecondsMax - 1, faulty('not-valid-yet')],
    ] as const) {
      harness.clock.seconds = seconds
      expect(await harness.verify(token)).toEqual(result)
    }
  })

  test('may have an nbf a few seconds ahead, since two clocks differ', async () => {
    for (const nbf of [tokenNow + 0.4, tokenNow + aheadSecondsMax]) {
      expect(await authHarness(secretConfig).verify(await signHs256(goodClaims({ nbf })))).toEqual(admitted())
    }
  })

  test('may have other claims and header members', async () => {
    const token = await signHs256(goodClaims({ admin: true, iat: tokenNow + 60 }), jwtSecret, {
      kid: 'x',
      typ: 'at+jwt',
    })
    expect(await authHarness(secretConfig).verify(token)).toEqual(admitted(7))
  })
})

describe('a token is refused', () => {
  const claims = goodClaims()
  const signed = (header: unknown, what: unknown) => signWithBytes(header, what, secretBytes)
  const attacks: [string, () => Promise<string>][] = [
    ['no signature, alg none', async () => `${forgeToken({ alg: 'none' }, claims)}`],
    ['alg none in capitals, signed', () => signed({ alg: 'NONE' }, claims)],
    ['alg none, signed', () => signed({ alg: 'none' }, claims)],
    ['no alg', () => signed({}, claims)],
    ['alg as a list', () => signed({ alg: ['HS256'] }, claims)],
    ['another HMAC in the header alone', () => signed({ alg: 'HS512' }, claims)],
    ['an alg in lower case', () => signed({ alg: 'hs256' }, claims)],
    ['an asymmetric alg', () => signed({ alg: 'RS256' }, claims)],
    ['the signature of another secret', () => signHs256(claims, `${jwtSecret}x`)],
    [
      'a key of its own in the header',
      () => signHs256(claims, `${jwtSecret}x`, { jwk: { kty: 'oct', k: base64Url(`${jwtSecret}x`) } }),
    ],
    ['a key at a URL in its header', () => signHs256(claims, 'x'.repeat(32), { jku: 'https://evil.example/keys' })],
    ['a key id that is a path', () => signHs256(claims, 'x'.repeat(32), { kid: '../../dev/null' })],
    ['an encrypted token', () => signed({ alg: 'dir', enc: 'A256GCM' }, claims)],
    ['the signature of no secret', () => signWithBytes(hs256, claims, new Uint8Array(1))],
    ['claims of a thousand levels', () => signed(hs256, JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`))],
    ['a million characters', async () => 'a'.repeat(1_000_000)],
    ['an unknown crit', () => signed({ ...hs256, crit: ['exp2'], exp2: 1 }, claims)],
    ['an empty crit', () => signed({ ...hs256, crit: [] }, claims)],
    ['an unencoded payload (b64)', () => signed({ ...hs256, crit: ['b64'], b64: false }, claims)],
    [
      'an exp that is infinite',
      async () => (await signHs256(claims)).replace(/\.[^.]+\./, `.${base64Url('{"sub":"8","exp":1e999}')}.`),
    ],
    ['claims that are a list', () => signed(hs256, [claims])],
    ['claims that are null', () => signed(hs256, null)],
    ['a header that is not an object', () => signed('HS256', claims)],
    [
      'a changed claim',
      async () => (await signHs256(claims)).replace(/\.[^.]+\./, `.${base64Url('{"sub":"8","exp":9999999999}')}.`),
    ],
    ['a cut signature', async () => (await signHs256(claims)).slice(0, -1)],
    ['an empty signature', async () => (await signHs256(claims)).replace(/[^.]+$/, '')],
    ['a fourth part', async () => `${await signHs256(claims)}.x`],
    ['padding', async () => `${await signHs256(claims)}=`],
    ['garbage', async () => 'garbage'],
    ['garbage in three parts', async () => 'a.b.c'],
    ['two dots', async () => '..'],
    ['no characters', async () => ''],
  ]
  test.each(attacks)('with %s', async (_what, make) => {
    expect(await authHarness(secretConfig).verify(await make())).toEqual(refused)
  })

  const ahead = tokenNow + aheadSecondsMax
  const faults: [string, unknown, TokenFault][] = [
    ['an exp of now', goodClaims({ exp: tokenNow }), 'expired'],
    ['an exp of just before', goodClaims({ exp: tokenNow - 0.5 }), 'expired'],
    ['an exp long ago', goodClaims({ exp: 1 }), 'expired'],
    ['no exp', goodClaims({ exp: undefined }), 'exp'],
    ['exp null', { sub: '7', exp: null }, 'exp'],
    ['exp as text', { sub: '7', exp: `${tokenNow + 60}` }, 'exp'],
    ['an nbf further ahead than clocks differ', goodClaims({ nbf: ahead + 1 }), 'not-valid-yet'],
    ['nbf as text', { ...claims, nbf: `${tokenNow}` }, 'nbf'],
  ]
  test.each(faults)('with %s', async (_what, what, fault) => {
    expect(await authHarness(secretConfig).verify(await signed(hs256, what))).toEqual(faulty(fault))
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
    ['preceded by a space', ' 1'],
    ['followed by a space', '1 '],
    ['a line end', '1\n'],
    ['a decimal point', '1.0'],
    ['hex', '0x1'],
    ['the reserved 2^53−1', '9007199254740991'],
    ['2^53', '9007199254740992'],
    ['2^64', '18446744073709551616'],
    ['an Arabic digit', '١'],
    ['a word', 'admin'],
    ['a prefix', 'user:7'],
  ]
  test.each(subjects)('with a sub that is %s', async (_what, sub) => {
    const harness = authHarness(secretConfig)
    expect(await harness.verify(await signWithBytes(hs256, { exp: tokenNow + 60, sub }, secretBytes))).toEqual(
      faulty('uid'),
    )
  })
})

describe('the algorithm of a token with a secret', () => {
  const hashBytes = { HS256: 32, HS384: 48, HS512: 64 }
  const lengths = Object.values(hashBytes)

  test.each(Object.entries(hashBytes))('can be %s from %d bytes on', async (alg, bytesMin) => {
    for (const length of lengths.flatMap((one) => [one - 1, one]).filter((one) => one >= 32)) {
      const secret = 's'.repeat(length)
      const token = await signWithHash(alg, goodClaims(), secret)
      const config = { ...secretConfig, secrets: [secret] }
      expect([length, await authHarness(config).verify(token)]).toEqual([
        length,
        length >= bytesMin ? admitted() : refused,
      ])
    }
  })

  test('can be HS512 while the secret rotates, if its own secret is long enough', async () => {
    const [short, long] = ['s'.repeat(32), 'l'.repeat(64)]
    const harness = authHarness({ ...secretConfig, secrets: [short, long] })
    expect(await harness.verify(await signWithHash('HS512', goodClaims(), long))).toEqual(admitted())
    expect(await harness.verify(await signWithHash('HS512', goodClaims(), short))).toEqual(refused)
    expect(await harness.verify(await signHs256(goodClaims(), short))).toEqual(admitted())
  })
})

describe('the configured issuer and audience', () => {
  const strict: AuthConfig = { ...secretConfig, issuer: 'https://issuer.example', audience: 'wallet' }
  const iss = strict.issuer
  const aud = strict.audience

  test.each([
    ['both as configured', { iss, aud }],
    ['the audience among others', { iss, aud: ['shop', aud] }],
  ])('match %s', async (_what, claims) => {
    expect(await authHarness(strict).verify(await signHs256(goodClaims(claims)))).toEqual(admitted(7))
  })

  test.each([
    ['no iss', { aud }, 'iss'],
    ['another iss', { iss: 'https://issuer.example/', aud }, 'iss'],
    ['iss as a list', { iss: [iss], aud }, 'iss'],
    ['no aud', { iss }, 'aud'],
    ['another aud', { iss, aud: 'Wallet' }, 'aud'],
    ['an empty aud list', { iss, aud: [] }, 'aud'],
    ['aud as an object', { iss, aud: { 0: aud } }, 'aud'],
  ] as const)('refuse %s', async (_what, claims, fault) => {
    const token = await signWithBytes(hs256, goodClaims(claims), secretBytes)
    expect(await authHarness(strict).verify(token)).toEqual(faulty(fault))
  })
})
