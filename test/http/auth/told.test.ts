import { beforeAll, describe, expect, test } from 'vitest'
import { createAuthenticators } from '../../../src/worker/http/auth/authenticate.ts'
import { toAuthProblem } from '../../../src/worker/http/errors.ts'
import { bearer, createIssuer, forgeToken, goodClaims, keySetOf, signHs256, tokenNow } from '../../support/tokens.ts'
import { backendSecret, testSecret } from '../../support/variables.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { failed, type RunningService, read, startService } from '../service.ts'
import { faulty, refused, requestWith, secretConfig } from './auth-harness.ts'

const [iss, aud] = ['https://issuer.example', 'wallet']
const required = { AUTH_ISSUER: iss, AUTH_AUDIENCE: aud, BACKEND_ISSUER: iss, BACKEND_AUDIENCE: aud }
const refusal = failed(401, toAuthProblem('unauthorized').msg)

let service: RunningService
beforeAll(async () => {
  service = await startService(required)
})

/** The `WWW-Authenticate` header of a refusal. The body must be the same for every refusal. */
async function told(token: string, path: string, from: RunningService = service): Promise<string | null> {
  const response = await from.fetch(new Request(`https://wallet.example${path}`, { headers: bearer(token) }))
  expect(await read(response)).toEqual(refusal)
  return response.headers.get('www-authenticate')
}
const because = (why: string) => `Bearer error="invalid_token", error_description="${why}"`

const caller = (changes: Record<string, unknown> = {}) => goodClaims({ iss, aud, ...changes })
const backend = (changes: Record<string, unknown> = {}) => ({
  ...caller({ sub: 'shop', exp: tokenNow + 600, scope: 'ledger:read' }),
  ...changes,
})

const common: [string, Record<string, unknown>, string][] = [
  ['has expired', { exp: tokenNow - 10 }, 'the token has expired'],
  ['is not valid yet', { nbf: tokenNow + 60 }, 'the token is not valid yet: its nbf is in the future'],
  ['has no end', { exp: undefined }, 'exp must be a number of seconds since 1970'],
  ['has a text as its end', { exp: '1' }, 'exp must be a number of seconds since 1970'],
  ['has a text as its beginning', { nbf: '1' }, 'nbf must be a number of seconds since 1970'],
  ['is of another issuer', { iss: 'https://other.example' }, 'iss is not the configured issuer'],
  ['is of no issuer', { iss: undefined }, 'iss is not the configured issuer'],
  ['is for another audience', { aud: 'shop' }, 'aud does not name the configured audience'],
  ['is for no audience', { aud: undefined }, 'aud does not name the configured audience'],
]
const uidExpected = 'sub must be a user id: a JSON string of decimal digits without a leading zero'
const nameExpected = 'sub must be the name of a backend: 1 to 64 letters, digits, dots, underscores and hyphens'

describe('whoever holds a token whose signature is right is told', () => {
  test.each([
    ...common,
    ['has no sub', { sub: undefined }, uidExpected],
    ['has a number as its sub', { sub: 7 }, uidExpected],
    ['has a name as its sub', { sub: 'shop' }, uidExpected],
    ['has the reserved uid', { sub: '9007199254740991' }, uidExpected],
  ])('that a caller’s token %s', async (_, changes, why) => {
    expect(await told(await signHs256(caller(changes), testSecret), '/wallet/list')).toBe(because(why))
  })

  test.each([
    ...common,
    ['has no sub', { sub: undefined }, nameExpected],
    ['has a name with a space', { sub: 'the shop' }, nameExpected],
    ['lives too long', { exp: tokenNow + 7200 }, 'the token is valid for more than 3600 s: its exp is too far ahead'],
    ['has a list of scopes', { scope: ['ledger:read'] }, 'scope must be a text of words separated by spaces'],
  ])('that a backend’s token %s', async (_, changes, why) => {
    expect(await told(await signHs256(backend(changes), backendSecret), '/ledger/wallets?uid=7')).toBe(because(why))
  })

  test('that a backend’s token is none of a caller, and the other way round', async () => {
    const [atCallers, atBackends] = [
      because("this is a backend's token, and this route takes a caller's"),
      because("this is a caller's token, and this route takes a backend's"),
    ]
    expect(await told(await signHs256(backend(), backendSecret), '/wallet/list')).toBe(atCallers)
    expect(await told(await signHs256(backend({ exp: 1 }), backendSecret), '/wallet/list')).toBe(atCallers)
    expect(await told(await signHs256(caller(), testSecret), '/ledger/wallets?uid=7')).toBe(atBackends)
  })
})

describe('whoever has no key is told nothing', () => {
  test.each<[string, () => Promise<string>]>([
    ['the signature of another secret', () => signHs256(caller({ exp: 1 }), 'x'.repeat(32))],
    ['no signature', async () => forgeToken({ alg: 'none' }, caller({ exp: 1 }))],
    ['an empty signature', async () => forgeToken({ alg: 'HS256' }, caller({ exp: 1 }))],
    ['an unknown crit', () => signHs256(caller({ exp: 1 }), testSecret, { crit: ['x'], x: 1 })],
  ])('with %s', async (_, make) => {
    for (const path of ['/wallet/list', '/ledger/wallets?uid=7']) {
      // Libraries refuse to sign a `crit` that they do not know.
      const token = await make().catch(() => forgeToken({ alg: 'HS256', crit: ['x'], x: 1 }, caller({ exp: 1 }), 'x'))
      expect(await told(token, path)).toBe('Bearer')
    }
  })
})

describe('with keys at a URL', () => {
  test('a backend’s token at a caller’s route is known by the keys that were fetched before, and none is fetched for it', async () => {
    const issuer = await createIssuer('ES256', 'key-1')
    const fetched: string[] = []
    const quiet = () => undefined
    const { callers, backends } = createAuthenticators(
      secretConfig,
      { secrets: [], jwksUrl: 'https://keys.example/backends', issuer: null, audience: null },
      {
        clock: createVirtualClock(tokenNow * 1000),
        logger: { info: quiet, warn: quiet, error: quiet, alarm: quiet },
        fetch: async (url) => {
          fetched.push(String(url))
          return Response.json(keySetOf(issuer))
        },
        waitUntil: quiet,
      },
    )
    const token = await issuer.sign(backend())
    const sent = (one: string) => requestWith(bearer(one))
    expect(await callers(sent(token))).toEqual(refused)
    expect(fetched).toEqual([])
    expect(await backends?.(sent(token))).toMatchObject({ ok: true })
    expect(await callers(sent(token))).toEqual(faulty('backend-token'))
    expect(await callers(sent(await issuer.sign(backend(), { kid: 'key-2' })))).toEqual(refused)
    expect(fetched).toEqual(['https://keys.example/backends'])
  })
})
