import { beforeAll, describe, expect, test } from 'vitest'
import type { AuthFailure } from '../../../src/worker/http/auth/authenticate.ts'
import { toAuthProblem } from '../../../src/worker/http/errors.ts'
import { routes } from '../../../src/worker/http/routes.ts'
import { bearer, forgeToken, goodClaims } from '../../support/tokens.ts'
import { failed, type RunningService, read, startService } from '../service.ts'

const paths = routes.filter(({ rateClass }) => rateClass !== null).map(({ path }) => path)
const badToken = bearer(forgeToken({ alg: 'ES256', kid: 'key-1' }, goodClaims(), 'signature'))

describe.each<[Extract<AuthFailure, string>, Record<string, unknown>]>([
  ['unauthorized', {}],
  ['no-key', { AUTH_JWT_SECRET: undefined }],
  ['keys-unavailable', { AUTH_JWT_SECRET: undefined, AUTH_JWKS_URL: 'https://keys.example/jwks' }],
])('where a request is %s', (failure, variables) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(variables)
  })
  const { status, msg, headers = {} } = toAuthProblem(failure)

  test.each([...paths, '/wallet/flow/list?limit=0'])('%s is refused before anything else', async (path) => {
    const response = await service.get(path, null, { headers: badToken })
    expect(Object.fromEntries(response.headers)).toMatchObject(headers)
    expect(await read(response)).toEqual(failed(status, msg))
    expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ databaseQueries: 0 })
  })

  test('the health check is not refused', async () => {
    expect((await service.get('/health', null)).status).not.toBe(401)
  })
})
