import { createLocalJWKSet, type JWK } from 'jose'
import { type AuthConfig, type BackendAuthConfig, secretBytesMin } from '../../config/auth.ts'
import { fetchKeySet } from '../../http/auth/key-set.ts'
import { type CheckResult, failed, hostInUrl, passed, warned } from './check-result.ts'

const secretCharactersMin = 10 // a long secret of fewer different characters looks like a placeholder

/** How callers are authenticated, and whether that works. */
export async function* checkAuth(
  { keys, devUid, audience }: AuthConfig,
  isDeployment: boolean,
  fetch: typeof globalThis.fetch,
): AsyncGenerator<CheckResult, void> {
  const [secret, previous] = keys.secrets
  if (secret !== undefined) yield checkSecret(secret, 'a secret')
  if (previous !== undefined) {
    yield previous === secret
      ? warned('authentication: AUTH_JWT_SECRET_PREVIOUS is AUTH_JWT_SECRET itself: remove it')
      : checkSecret(previous, 'the previous secret too (AUTH_JWT_SECRET_PREVIOUS),')
  }
  if (keys.jwksUrl !== null) {
    yield await checkKeySet('authentication', fetch, keys.jwksUrl)
    if (audience === null) {
      yield warned('authentication: without AUTH_AUDIENCE, tokens for other services of the issuer are valid too')
    }
  }
  if (keys.secrets.length > 0 && keys.jwksUrl !== null) {
    yield passed('authentication: both kinds of keys are accepted, each for its own algorithms')
  }
  if (keys.secrets.length === 0 && keys.jwksUrl === null) {
    const text = 'authentication: neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set'
    const isOpen = devUid !== null && !isDeployment
    yield isOpen ? warned(`${text}: only this machine has access`) : failed(`${text}: every route answers 503`)
  }
  if (devUid === null) return
  yield isDeployment
    ? warned('authentication: DEV_UID has no effect in a deployment; set it in .dev.vars only')
    : warned(`authentication: requests from this machine without a token act for user ${devUid} (DEV_UID)`)
}

/** How backends are authenticated, and whether that works. Without keys for them there is nothing to check. */
export async function* checkBackendAuth(
  { backend }: BackendAuthConfig,
  fetch: typeof globalThis.fetch,
): AsyncGenerator<CheckResult, void> {
  if (backend === null) return
  const { secrets, jwksUrl } = backend
  for (const secret of secrets) yield checkSecret(secret, 'a secret', 'backends')
  if (jwksUrl !== null) yield await checkKeySet('backends', fetch, jwksUrl)
}

function checkSecret(secret: string, name: string, whose = 'authentication'): CheckResult {
  const text = `${whose}: HS256 with ${name} of at least ${secretBytesMin} bytes`
  if (new Set(secret).size >= secretCharactersMin) return passed(text)
  return warned(`${text}; it has so few different characters that it looks like a placeholder`)
}

async function checkKeySet(whose: string, fetch: typeof globalThis.fetch, url: string): Promise<CheckResult> {
  const name = `${whose}: the key set at ${hostInUrl(url)}`
  const fetched = await fetchKeySet(fetch, url)
  if (!fetched.ok) return failed(`${name} could not be fetched: ${fetched.error}`)
  const { keys } = fetched.value
  if (keys.some((key) => 'd' in key || key.kty === 'oct')) return failed(`${name} publishes a private key`)
  const algorithms = (await Promise.all(keys.map(algorithmsOf))).flat()
  const text = `${name}: ${algorithms.length} of ${keys.length} keys are usable`
  if (algorithms.length === 0) return failed(`${text}: the service supports RS256, ES256 and EdDSA`)
  return passed(`${text} (${[...new Set(algorithms)].join(', ')})`)
}

/** The algorithm that the service uses the key for, as jose selects it; empty where it cannot use the key. */
async function algorithmsOf(key: JWK): Promise<readonly string[]> {
  const keySet = createLocalJWKSet({ keys: [key] })
  const algorithms = ['RS256', 'ES256', 'EdDSA']
  const imported = await Promise.allSettled(algorithms.map((alg) => keySet({ alg })))
  return algorithms.filter((_, i) => imported[i]?.status === 'fulfilled')
}
