import { importJWK, type JWK } from 'jose'
import { type AuthConfig, secretBytesMin } from '../config/config.ts'
import { createAuthMemory } from '../http/auth/token-cache.ts'
import { type KeyParts, readKeys } from '../http/auth/key-set.ts'
import { bad, doubtful, type Finding, good, hostOf } from './check-result.ts'
import { createHearing } from './capturing-log.ts'
import { secretCharactersMin } from './limits.ts'
import type { Machine } from './node-under-test.ts'
import type { Target } from './read-configuration.ts'

/** How callers are known, and whether that works. */
export async function checkAuth(machine: Machine, auth: AuthConfig, target: Target): Promise<readonly Finding[]> {
  const { key, devUid, audience } = auth
  const findings: Finding[] = []
  switch (key.kind) {
    case 'secret':
      findings.push(checkSecret(key.secret))
      break
    case 'jwks':
      findings.push(await checkKeySet(machine, key.url))
      if (audience === null) {
        findings.push(
          doubtful('authentication: AUTH_AUDIENCE is not set: tokens that its issuer made for others pass too'),
        )
      }
      break
    case 'none':
      findings.push(checkNone(devUid !== null, target))
      break
  }
  if (devUid === null) return findings
  if (target.kind === 'local') {
    findings.push(doubtful(`DEV_UID is set: requests from this machine without a token act for user ${devUid}`))
  } else findings.push(doubtful('DEV_UID is set: it belongs into .dev.vars, and is of no use in a deployment'))
  return findings
}

function checkSecret(secret: string): Finding {
  const said = `authentication: HS256, a secret of at least ${secretBytesMin} bytes`
  if (new Set(secret).size >= secretCharactersMin) return good(said)
  return doubtful(`${said}, of so few different characters that it looks like a placeholder`)
}

function checkNone(hasDevUid: boolean, target: Target): Finding {
  const said = 'authentication: neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set'
  if (hasDevUid && target.kind === 'local') return doubtful(`${said}: only this machine gets in, by DEV_UID`)
  return bad(`${said}: every route answers 503`)
}

async function checkKeySet(machine: Machine, url: string): Promise<Finding> {
  const name = `authentication: the key set at ${hostOf(url)}`
  const { log, heard } = createHearing()
  const parts: KeyParts = { memory: createAuthMemory(), log, clock: machine.clock, fetch: machine.fetch }
  const set = await readKeys(parts, url)
  if (set === null) return bad(`${name} can’t be read: ${heard.get('token keys unavailable')?.why}`)
  if (set.keys.some((key) => 'd' in key || key.kty === 'oct')) return bad(`${name} shows a private key to everybody`)
  const algorithms = (await Promise.all(set.keys.map(algorithmOf))).filter((algorithm) => algorithm !== null)
  const said = `${algorithms.length} of its ${set.keys.length} keys can be used`
  if (algorithms.length === 0) return bad(`${name}: ${said}: it takes RS256, ES256 or EdDSA`)
  return good(`${name}: ${said} (${[...new Set(algorithms)].join(', ')})`)
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
