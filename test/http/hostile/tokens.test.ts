import { describe, expect, test } from 'vitest'
import { base64Url, bearer, forgeToken, signHs256, signWithBytes, tokenNow } from '../../support/tokens.ts'
import { testSecret } from '../../support/variables.ts'
import { wholeOf } from '../service.ts'
import { issued, ownWallets, unauthorized, underAttack } from './hostile-harness.ts'

const harness = underAttack()

describe('a token', () => {
  test('that is valid is accepted', async () => {
    expect(await wholeOf(await harness().get('/wallet/list'))).toEqual({ status: 200, text: ownWallets })
  })

  const claims = { sub: '8', exp: tokenNow + 86_400, ...issued }
  const key = new TextEncoder().encode(testSecret)
  const signed = (header: unknown, what: unknown = claims) => signWithBytes(header, what, key)
  const hs256 = { alg: 'HS256' }

  test.each<[what: string, make: () => string | Promise<string>]>([
    ['no algorithm', () => forgeToken({ alg: 'none' }, claims)],
    ['no algorithm, with a signature', () => signed({ alg: 'none' })],
    ['no algorithm, in another case', () => signed({ alg: 'nOnE' })],
    ['an algorithm that is missing', () => signed({ typ: 'JWT' })],
    ['an asymmetric algorithm, signed with the secret', () => signed({ alg: 'RS256' })],
    ['another hash', () => signHs256(claims, testSecret.repeat(2), { alg: 'HS512' })],
    ['an encrypted token', () => signed({ alg: 'dir', enc: 'A256GCM' })],
    ['another secret', () => signHs256(claims, `${testSecret}x`)],
    ['an empty secret’s signature', () => signWithBytes(hs256, claims, new Uint8Array(1))],
    [
      'a key in its header',
      () => signHs256(claims, 'x'.repeat(32), { jwk: { kty: 'oct', k: base64Url('x'.repeat(32)) } }),
    ],
    ['a key at a URL in its header', () => signHs256(claims, 'x'.repeat(32), { jku: 'https://evil.example/keys' })],
    ['a key id that is a path', () => signHs256(claims, 'x'.repeat(32), { kid: '../../dev/null' })],
    ['a key id that is SQL', () => signHs256(claims, 'x'.repeat(32), { kid: `x' UNION SELECT 'x` })],
    ['an unknown critical header', () => signed({ ...hs256, crit: ['exp2'], exp2: 1 })],
    ['no issuer', () => signed(hs256, { ...claims, iss: undefined })],
    ['another issuer', () => signed(hs256, { ...claims, iss: 'https://evil.example' })],
    ['an issuer in a list', () => signed(hs256, { ...claims, iss: [issued.iss] })],
    ['no audience', () => signed(hs256, { ...claims, aud: undefined })],
    ['another audience', () => signed(hs256, { ...claims, aud: ['shop', 'Wallet'] })],
    ['an exp in the past', () => signed(hs256, { ...claims, exp: tokenNow - 1 })],
    ['no exp', () => signed(hs256, { ...claims, exp: undefined })],
    ['an exp that is a word', () => signed(hs256, { ...claims, exp: 'never' })],
    [
      'an exp that is infinite',
      async () => (await signed(hs256, claims)).replace(/\.[^.]+\./, `.${base64Url('{"sub":"8","exp":1e999}')}.`),
    ],
    ['an nbf in the future', () => signed(hs256, { ...claims, nbf: tokenNow + 3_600 })],
    ['no subject', () => signed(hs256, { ...claims, sub: undefined })],
    ['a number as its subject', () => signed(hs256, { ...claims, sub: 8 })],
    ['two subjects in a list', () => signed(hs256, { ...claims, sub: ['7', '8'] })],
    ['subject 0', () => signed(hs256, { ...claims, sub: '0' })],
    ['subject -8', () => signed(hs256, { ...claims, sub: '-8' })],
    ['subject 08', () => signed(hs256, { ...claims, sub: '08' })],
    ['subject 8.0', () => signed(hs256, { ...claims, sub: '8.0' })],
    ['subject 2^53', () => signed(hs256, { ...claims, sub: '9007199254740992' })],
    ['a subject of SQL', () => signed(hs256, { ...claims, sub: '8 OR 1=1' })],
    ['a subject of full-width digits', () => signed(hs256, { ...claims, sub: '８' })],
    ['10,000 characters', () => signed(hs256, { ...claims, pad: 'x'.repeat(10_000) })],
    ['a million characters', () => 'a'.repeat(1_000_000)],
    ['claims of a thousand levels', () => signed(hs256, JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`))],
    ['claims that are not JSON', async () => (await signed(hs256)).replace(/\.[^.]+\./, `.${base64Url('{')}.`)],
    [
      'a signature of another token',
      async () => `${forgeToken(hs256, claims)}${(await signed(hs256, { ...claims, sub: '7' })).split('.')[2]}`,
    ],
    ['an incomplete signature', async () => (await signed(hs256)).slice(0, -4)],
    ['five parts', () => 'a.b.c.d.e'],
  ])('with %s is refused, with the same message', async (_what, make) => {
    const response = await harness().service.get('/wallet/list', null, { headers: bearer(await make()) })
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await wholeOf(response)).toEqual(unauthorized)
  })
})
