import { beforeAll, describe, expect, test } from 'vitest'
import { createAuthenticators, type Scope } from '../../../src/worker/http/auth/authenticate.ts'
import { refetchMs } from '../../../src/worker/http/auth/key-set.ts'
import { backendTokenSecondsMax } from '../../../src/worker/http/auth/token-fault.ts'
import { missingScope, toAuthProblem, unknownPath } from '../../../src/worker/http/errors.ts'
import { ledgerRoutes, routes } from '../../../src/worker/http/routes.ts'
import { payoutsSetting } from '../../payouts/harness.ts'
import { bearer, createIssuer, forgeToken, keySetOf, signHs256, tokenNow } from '../../support/tokens.ts'
import { backendSecret, testSecret } from '../../support/variables.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { failed, type RunningService, read, startService } from '../service.ts'
import { refused, secretConfig } from './auth-harness.ts'

let service: RunningService
beforeAll(async () => {
  service = await startService({ PAYOUTS: payoutsSetting })
})

const unauthorized = failed(401, toAuthProblem('unauthorized').msg)
const origin = 'https://wallet.example'
const ask = (token: string | null, path = '/ledger/wallets?uid=7') =>
  service.fetch(new Request(origin + path, { headers: token === null ? {} : bearer(token) }))
const claims = (changes: Record<string, unknown> = {}) => ({
  sub: 'shop',
  exp: tokenNow + 600,
  scope: 'ledger:read',
  ...changes,
})

describe('a backend’s token', () => {
  test.each([
    ['as usual', {}],
    ['with the longest name', { sub: 'a'.repeat(64) }],
    ['with every kind of character in its name', { sub: 'Shop.eu_2-b' }],
    ['with a decimal name', { sub: '7' }],
    ['for an hour', { exp: tokenNow + backendTokenSecondsMax }],
    ['with several scopes', { scope: 'other ledger:post ledger:read' }],
  ])('is accepted %s', async (_, changes) => {
    expect((await ask(await signHs256(claims(changes), backendSecret))).status).toBe(200)
  })

  test.each<[string, Record<string, unknown>]>([
    ['without a name', { sub: undefined }],
    ['with an empty name', { sub: '' }],
    ['with a name that is too long', { sub: 'a'.repeat(65) }],
    ['with a space in its name', { sub: 'the shop' }],
    ['with another letter in its name', { sub: 'café' }],
    ['with a line end after its name', { sub: 'shop\n' }],
    ['with a number for a name', { sub: 7 }],
    ['without an end', { exp: undefined }],
    ['that has expired', { exp: tokenNow - 1 }],
    ['that is valid for more than an hour', { exp: tokenNow + backendTokenSecondsMax + 100 }],
    ['that is valid for ever', { exp: Number.MAX_SAFE_INTEGER }],
    ['that is not valid yet', { nbf: tokenNow + 60 }],
    ['with a list of scopes', { scope: ['ledger:read'] }],
  ])('is refused %s', async (_, changes) => {
    const response = await ask(await signHs256(claims(changes), backendSecret))
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_token", error_description="[^"]+"$/,
    )
    expect(await read(response)).toEqual(unauthorized)
  })

  test('is required, unsigned ones are refused', async () => {
    expect(await read(await ask(null))).toEqual(unauthorized)
    expect(await read(await ask('a.b.c'))).toEqual(unauthorized)
    expect(await read(await ask(forgeToken({ alg: 'none' }, claims())))).toEqual(unauthorized)
  })

  test('can be signed with a key of the key set of the backends', async () => {
    const [issuer, other] = [await createIssuer('ES256', 'key-1'), await createIssuer('ES256', 'key-1')]
    const quiet = () => undefined
    const now = Math.floor(Date.now() / 1000)
    const clock = createVirtualClock(now * 1000)
    let published = issuer
    const { backends } = createAuthenticators(
      secretConfig,
      { secrets: [], jwksUrl: 'https://keys.example/backends', issuer: null, audience: null },
      {
        clock,
        logger: { info: quiet, warn: quiet, error: quiet, alarm: quiet },
        fetch: async () => Response.json(keySetOf(published)),
        waitUntil: () => undefined,
      },
    )
    if (backends === null) throw new Error('there are keys')
    const requestOf = (token: string) => new Request(origin, { headers: bearer(token) })
    const good = claims({ exp: now + 600 })
    expect(await backends(requestOf(await issuer.sign(good)))).toEqual({
      ok: true,
      value: { name: 'shop', scopes: ['ledger:read'] },
    })
    expect(await backends(requestOf(await other.sign(good)))).toEqual(refused)
    expect(await backends(requestOf(await signHs256(good, backendSecret)))).toEqual(refused)
    published = other
    await clock.advance(refetchMs)
    expect(await backends(requestOf(await other.sign(good)))).toMatchObject({ ok: true })
    expect(await backends(requestOf(await issuer.sign(good)))).toEqual(refused)
  })
})

describe('the issuer, audience and previous secret of backends', () => {
  const previous = 'the secret of backends before, of 32 bytes'
  const [iss, aud] = ['https://issuer.example', 'ledger']
  const strictly = { BACKEND_JWT_SECRET_PREVIOUS: previous, BACKEND_ISSUER: iss, BACKEND_AUDIENCE: aud }

  test.each([
    [200, { iss, aud }, backendSecret],
    [200, { iss, aud: ['shop', aud] }, previous],
    [401, { aud }, backendSecret],
    [401, { iss: `${iss}/`, aud }, backendSecret],
    [401, { iss }, previous],
    [401, { iss, aud: 'Ledger' }, previous],
    [401, { iss, aud }, `${previous}x`],
  ])('make it %d for a token with %j of the secret "%s"', async (status, changes, secret) => {
    const headers = bearer(await signHs256(claims(changes), secret))
    const request = new Request(`${origin}/ledger/wallets?uid=7`, { headers })
    expect((await service.with(strictly).fetch(request)).status).toBe(status)
  })
})

/** A backend must have one of these scopes for the route. */
const scopesOf = (method: string, path: string): readonly Scope[] => {
  if (/\/(decide|approve)$/.test(path)) return ['ledger:approve']
  if (/\/(un)?signed$/.test(path)) return ['ledger:sign']
  if (path === '/ledger/payouts/cancel') return ['ledger:pay', 'ledger:approve']
  if (path === '/ledger/payouts' && method === 'POST') return ['ledger:pay']
  return method === 'POST' ? ['ledger:post'] : ['ledger:read']
}

/** Every route for backends, with the scopes of which a backend must have one. */
const requests: readonly (readonly [method: string, path: string, scopes: readonly Scope[]])[] = [
  ...ledgerRoutes.map(({ method, path }) => [method, path, scopesOf(method, path)] as const),
  ['GET', '/ledger/address?uid=7&fresh=0', ['ledger:read']],
  ['GET', '/ledger/address?uid=7&fresh=1', ['ledger:post']],
  ['GET', '/ledger/address?uid=7&%66resh=1', ['ledger:post']],
]

describe.each(requests)('%s %s', (method, path, scopes) => {
  test(`takes only a token of a backend with the scope ${scopes.join(' or ')}`, async () => {
    const statusOf = async (claims: Record<string, unknown>) => (await service.ledger(path, { method }, claims)).status
    for (const scope of scopes) expect([200, 400, 404, 409, 415]).toContain(await statusOf({ scope }))
    const [scope = 'ledger:read'] = scopes
    const other = scope === 'ledger:read' ? 'ledger:post' : 'ledger:read'
    for (const wrong of [other, undefined, '', scope.toUpperCase(), `${scope}s`, `x${scope}`, `${other},${scope}`]) {
      expect(await read(await service.ledger(path, { method }, { scope: wrong }))).toEqual(
        failed(403, missingScope(scopes).msg),
      )
    }
    for (const uid of [7, null]) expect(await read(await service.get(path, uid, { method }))).toEqual(unauthorized)
  })

  test('is 404 without a key for backends', async () => {
    const keyless = service.with({ BACKEND_JWT_SECRET: undefined })
    expect(await read(await keyless.ledger(path, { method }))).toEqual(failed(404, unknownPath.msg))
  })
})

describe('the two kinds of token', () => {
  const both = { sub: '7', exp: tokenNow + 600, scope: 'ledger:read ledger:post' }

  test('give no access to the routes of the other kind, whatever their claims', async () => {
    expect((await ask(await signHs256(both, testSecret), '/wallet/list')).status).toBe(200)
    expect(await read(await ask(await signHs256(both, testSecret)))).toEqual(unauthorized)
    const backend = await signHs256(both, backendSecret)
    expect((await ask(backend)).status).toBe(200)
    for (const { path, rateClass } of routes) {
      if (rateClass !== null) expect(await read(await ask(backend, path))).toEqual(unauthorized)
    }
  })

  test('are not replaced by DEV_UID', async () => {
    const local = service.with({ DEV_UID: '7' })
    const get = (path: string) => local.fetch(new Request(`http://localhost:8787${path}`))
    expect((await get('/wallet/list')).status).toBe(200)
    expect(await read(await get('/ledger/wallets?uid=7'))).toEqual(unauthorized)
  })
})
