import { beforeAll, describe, expect, test } from 'vitest'
import type { Uid } from '../../../src/worker/common/ids.ts'
import type { AuthConfig } from '../../../src/worker/config/auth.ts'
import { authorizationCharsMax } from '../../../src/worker/http/auth/authenticate.ts'
import { bearer, forgeToken, goodClaims, signHs256 } from '../../support/tokens.ts'
import { admitted, authHarness, refused, requestWith, secretConfig } from './auth-harness.ts'

describe('the Authorization header', () => {
  let token = ''
  beforeAll(async () => {
    token = await signHs256(goodClaims())
  })

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('has a scheme in any case: %s', async (scheme) => {
    const authorization = `${scheme} ${await signHs256(goodClaims())}`
    expect(await authHarness(secretConfig).authenticate(requestWith({ authorization }))).toEqual(admitted())
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
    ['has another word', (good) => `Bearer ${good} x`],
    ['has quotes', (good) => `Bearer "${good}"`],
  ])('is refused where it %s', async (_what, write) => {
    expect(await authHarness(secretConfig).authenticate(requestWith({ authorization: write(token) }))).toEqual(refused)
  })

  test('is refused where it is missing', async () => {
    expect(await authHarness(secretConfig).authenticate(requestWith())).toEqual(refused)
  })

  test('is refused where it is sent twice, even with a valid token', async () => {
    const headers = new Headers(bearer(token))
    headers.append('authorization', `Bearer ${token}`)
    expect(await authHarness(secretConfig).authenticate(requestWith(headers))).toEqual(refused)
  })

  test('is read up to its longest and not past it', async () => {
    const room = authorizationCharsMax - `Bearer ${await signHs256(goodClaims({ pad: '' }))}`.length
    const tokenOf = (chars: number) => signHs256(goodClaims({ pad: 'x'.repeat(chars) }))
    let chars = Math.floor((room * 3) / 4)
    while (`Bearer ${await tokenOf(chars)}`.length > authorizationCharsMax) chars -= 1
    expect(await authHarness(secretConfig).verify(await tokenOf(chars))).toEqual(admitted(7))
    expect(await authHarness(secretConfig).verify(await tokenOf(chars + 2))).toEqual(refused)
  })
})

describe('without a configured key', () => {
  const none: AuthConfig = { ...secretConfig, secrets: [] }

  test('every request is refused, with a token or without', async () => {
    const closed = { ok: false, error: 'no-key' }
    expect(await authHarness(none).authenticate(requestWith())).toEqual(closed)
    expect(await authHarness(none).verify(await signHs256(goodClaims()))).toEqual(closed)
    expect(await authHarness(none).verify(forgeToken({ alg: 'none' }, goodClaims()))).toEqual(closed)
  })
})

describe('DEV_UID', () => {
  const local: AuthConfig = { ...secretConfig, devUid: 42 as Uid }
  const keyless: AuthConfig = { ...local, secrets: [] }

  test.each([
    'http://localhost/wallet/list',
    'http://LOCALHOST:8787/wallet/list',
    'http://127.0.0.1:8787/wallet/list',
    'http://127.255.0.9/wallet/list',
    'http://127.1/wallet/list',
    'http://[::1]:8787/wallet/list',
    'https://localhost/wallet/list',
  ])('is the caller of a request without a token at %s', async (url) => {
    expect(await authHarness(local).authenticate(requestWith({}, url))).toEqual(admitted(42))
    expect(await authHarness(keyless).authenticate(requestWith({}, url))).toEqual(admitted(42))
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
    expect(await authHarness(local).authenticate(requestWith(headers, url))).toEqual(refused)
    expect(await authHarness(keyless).authenticate(requestWith(headers, url))).toEqual({ ok: false, error: 'no-key' })
  })

  test('does nothing for a request with a token, valid or not', async () => {
    const url = 'http://localhost/wallet/list'
    const good = bearer(await signHs256(goodClaims()))
    expect(await authHarness(local).authenticate(requestWith(good, url))).toEqual(admitted(7))
    expect(await authHarness(local).authenticate(requestWith(bearer('a.b.c'), url))).toEqual(refused)
    expect(await authHarness(local).authenticate(requestWith({ authorization: '' }, url))).toEqual(refused)
  })
})
