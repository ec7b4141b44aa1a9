import type { UnixMs } from '../../../src/worker/common/time.ts'
import type { AuthConfig } from '../../../src/worker/config/auth.ts'
import { type Authenticate, createAuthenticators } from '../../../src/worker/http/auth/authenticate.ts'
import type { TokenFault } from '../../../src/worker/http/auth/token-fault.ts'
import { systemClock } from '../../../src/worker/platform/clock.ts'
import type { LogFields } from '../../../src/worker/platform/logger.ts'
import { bearer, jwtSecret, tokenNow } from '../../support/tokens.ts'

/** Verifies HS256 tokens, with nothing but the claims that are always required. */
export const secretConfig: AuthConfig = {
  secrets: [jwtSecret],
  jwksUrl: null,
  issuer: null,
  audience: null,
  devUid: null,
}
/** Verifies tokens with the keys at a URL. */
export const keySetConfig: AuthConfig = {
  ...secretConfig,
  secrets: [],
  jwksUrl: 'https://issuer.example/keys',
}

/** A key server: what it responds to a request. */
export type KeyServer = (init: RequestInit) => Response | Promise<Response>

/** The authentication of a service whose clock, log and key server are those of the test. */
export interface AuthHarness {
  readonly authenticate: Authenticate
  /** The result for a request with this token. */
  verify(token: string): ReturnType<Authenticate>
  /** Seconds since 1970. */
  readonly clock: { seconds: number }
  readonly warnings: { readonly event: string; readonly fields: LogFields }[]
  /** Requests to the key server. */
  readonly fetches: { count: number }
  /** Returns when nothing runs that outlives its request. */
  settled(): Promise<void>
}

/** Without a key server every request to it fails. */
export function authHarness(
  config: AuthConfig,
  serve: KeyServer = () => Promise.reject(new TypeError('no such host')),
): AuthHarness {
  const clock = { seconds: tokenNow }
  const warnings: AuthHarness['warnings'] = []
  const fetches = { count: 0 }
  const kept: Promise<unknown>[] = []
  const quiet = () => undefined
  const now = () => (clock.seconds * 1000) as UnixMs
  const { callers: authenticate } = createAuthenticators(config, null, {
    clock: { now, sleep: systemClock.sleep },
    logger: { info: quiet, warn: (event, fields) => warnings.push({ event, fields }), error: quiet, alarm: quiet },
    fetch: async (_input, init) => {
      fetches.count += 1
      return serve(init ?? {})
    },
    waitUntil: (work) => kept.push(work),
  })
  const settled = async () => void (await Promise.allSettled(kept))
  return {
    authenticate,
    verify: (token) => authenticate(requestWith(bearer(token))),
    clock,
    warnings,
    fetches,
    settled,
  }
}

/** A request to the service with these headers. */
export const requestWith = (headers: HeadersInit = {}, url = 'https://wallet.example/wallet/list') =>
  new Request(url, { headers })

/** The result of a valid token of this caller. */
export const admitted = (uid = 7) => ({ ok: true, value: uid })
/** The result of a token whose signature is right, and that has this fault. */
export const faulty = (fault: TokenFault) => ({ ok: false, error: { fault } })
/** The result of any token whose signature is not right. */
export const refused = { ok: false, error: 'unauthorized' }
