import { err, ok, type Result } from '../../common/result.ts'
import { type AuthConfig, isLoopback } from '../../config/config.ts'
import type { Uid } from '../../ledger/entry.ts'
import type { KeySetParts } from './key-set.ts'
import { bindCache, cachedToken, cacheToken } from './token-cache.ts'
import { verifyToken } from './verify-token.ts'

/** Longest `Authorization` header that is looked at, in characters. */
export const authorizationCharsMax = 8192

/** Why nobody is let in. A token that is wrong in any way is `unauthorized`; the others are not the caller's fault. */
export type AuthFailure = 'unauthorized' | 'no-key' | 'keys-unavailable'

/** Who a request acts for. */
export type Authenticate = (request: Request) => Promise<Result<Uid, AuthFailure>>

/** One space, one token, nothing around it. Two headers arrive joined by a comma, which no token has. */
const bearer = /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i

/** The check of section 3 of the contract for one configuration. */
export function createAuthenticator(config: AuthConfig, parts: KeySetParts): Authenticate {
  const { memory, clock } = parts
  bindCache(memory, JSON.stringify([config.key, config.issuer, config.audience]))

  return async (request) => {
    const header = request.headers.get('authorization')
    if (header === null && config.devUid !== null && isLoopback(new URL(request.url).hostname)) return ok(config.devUid)
    if (config.key.kind === 'none') return err('no-key')
    const token = header === null || header.length > authorizationCharsMax ? undefined : bearer.exec(header)?.[1]
    if (token === undefined) return err('unauthorized')
    const now = clock.now()
    const known = cachedToken(memory, token, now)
    if (known !== null) return ok(known.uid)
    const payload = await verifyToken(config, parts, token)
    if (!payload.ok) return payload
    const uid = readSubject(payload.value.sub)
    if (uid === null) return err('unauthorized')
    cacheToken(memory, token, { uid, exp: payload.value.exp ?? 0, verifiedAt: now })
    return ok(uid)
  }
}

/** A caller's number in `sub`: a JSON string of decimal digits, 1 to 2^53−1, no sign, no leading zero. */
function readSubject(subject: unknown): Uid | null {
  if (typeof subject !== 'string' || !/^[1-9]\d{0,15}$/.test(subject)) return null
  const uid = Number(subject)
  return Number.isSafeInteger(uid) ? (uid as Uid) : null // safe: these checks are the definition
}
