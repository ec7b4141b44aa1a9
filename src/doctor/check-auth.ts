import { importJWK, type JWK } from 'jose'
import { type AuthConfig, secretBytesMin } from '../config/config.ts'
import { type KeySetParts, readKeySet } from '../http/auth/key-set.ts'
import { createTokenCache } from '../http/auth/token-cache.ts'
import { createCapturingLog } from './capturing-log.ts'
import { type CheckResult, failed, hostOf, passed, warned } from './check-result.ts'
import { secretCharactersMin } from './limits.ts'
import type { DoctorPlatform } from './node-under-test.ts'
import type { DoctorTarget } from './read-configuration.ts'

/** How callers are known, and whether that works. */
export async function checkAuth(
  machine: DoctorPlatform,
  auth: AuthConfig,
  target: DoctorTarget,
): Promise<readonly CheckResult[]> {
  const { key, devUid, audience } = auth
  const findings: CheckResult[] = []
  switch (key.kind) {
    case 'secret':
      findings.push(checkSecret(key.secret))
      break
    case 'jwks':
      findings.push(await checkKeySet(machine, key.url))
      if (audience === null) {
        findings.push(
          warned('authentication: AUTH_AUDIENCE is not set: tokens that its issuer made for others pass too'),
        )
      }
      break
    case 'none':
      findings.push(checkNone(devUid !== null, target))
      break
  }
  if (devUid === null) return findings
  if (target.kind === 'local') {
    findings.push(warned(`DEV_UID is set: requests from this machine without a token act for user ${devUid}`))
  } else findings.push(warned('DEV_UID is set: it belongs into .dev.vars, and is of no use in a deployment'))
  return findings
}

function checkSecret(secret: string): CheckResult {
  const said = `authentication: HS256, a secret of at least ${secretBytesMin} bytes`
  if (new Set(secret).size >= secretCharactersMin) return passed(said)
  return warned(`${said}, of so few different characters that it looks like a placeholder`)
}

function checkNone(hasDevUid: boolean, target: DoctorTarget): CheckResult {
  const said = 'authentication: neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set'
  if (hasDevUid && target.kind === 'local') return warned(`${said}: only this machine gets in, by DEV_UID`)
  return failed(`${said}: every route answers 503`)
}

async function checkKeySet(machine: DoctorPlatform, url: string): Promise<CheckResult> {
  const name = `authentication: the key set at ${hostOf(url)}`
  const { logger: log, events: heard } = createCapturingLog()
  const parts: KeySetParts = { memory: createTokenCache(), log, clock: machine.clock, fetch: machine.fetch }
  const set = await readKeySet(parts, url)
  if (set === null) return failed(`${name} can’t be read: ${heard.get('token keys unavailable')?.why}`)
  if (set.keys.some((key) => 'd' in key || key.kty === 'oct')) return failed(`${name} shows a private key to everybody`)
  const algorithms = (await Promise.all(set.keys.map(algorithmOf))).filter((algorithm) => algorithm !== null)
  const said = `${algorithms.length} of its ${set.keys.length} keys can be used`
  if (algorithms.length === 0) return failed(`${name}: ${said}: it takes RS256, ES256 or EdDSA`)
  return passed(`${name}: ${said} (${[...new Set(algorithms)].join(', ')})`)
}

/** The algorithm of ours that a key is for, or null where it is of no use to us. */
async function algorithmOf(key: JWK): Promise<string | null> {
  const algorithm = key.kty === 'RSA' ? 'RS256' : key.crv === 'P-256' ? 'ES256' : key.crv === 'Ed25519' ? 'EdDSA' : null
  if (algorithm === null || key.use === 'enc' || (key.alg !== undefined && key.alg !== algorithm)) return null
  try {
    await importJWK(key, algorithm)
    return algorithm
  } catch {
    return null // a key with parts missing or wrong
  }
}
