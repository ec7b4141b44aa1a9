import type { UnixMs } from '../../../src/worker/common/time.ts'
import type { AuthConfig } from '../../../src/worker/config/auth.ts'
import { type Authenticate, createAuthenticators } from '../../../src/worker/http/auth/authenticate.ts'
import type { TokenFault } from '../../../src/worker/http/auth/token-fault.ts'
import { systemClock } from '../../../src/worker/platform/clock.ts'
import type { LogFields } from '../../../src/worker/platform/logger.ts'
import { bearer, jwtSecret, tokenNow } from '../../support/tokens.ts'

/** Accepts HS256 tokens, without an issuer or an audience. */
export const secretConfig: AuthConfig = {
  secrets: [jwtSecret],
  jwksUrl: null,
  issuer: null,
  audience: null,
  devUid: null,
}
/** Accepts tokens by the keys at a URL, without an issuer or an audience. */
export const keySetConfig: AuthConfig = {
  ...secretConfig,
  secrets: [],
  jwksUrl: 'https://issuer.example/keys',
}

/** Answers requests for the keys. */
export type KeyServer = (init: RequestInit) => Response | Promise<Response>

/** The authentication of callers, with the test's clock, log and key server. */
export interface AuthHarness {
  readonly authenticate: Authenticate
  /** Authenticates a request with this token. */
  verify(token: string): ReturnType<Authenticate>
  /** The time in seconds since 1970. */
  readonly clock: { seconds: number }
  readonly warnings: { readonly event: string; readonly fields: LogFields }[]
  /** How often the keys were requested. */
  readonly fetches: { count: number }
  /** Waits for all work that outlives its request. */
  settled(): Promise<void>
}

/** Sets up authentication. Without `serve` the key server cannot be reached. */
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

/** A request with these headers, by default to a route for users. */
export const requestWith = (headers: HeadersInit = {}, url = 'https://wallet.example/wallet/list') =>
  new Request(url, { headers })

/** The result of a valid token of user `uid`. */
export const admitted = (uid = 7) => ({ ok: true, value: uid })
/** The result of a token with a right signature and this fault. */
export const faulty = (fault: TokenFault) => ({ ok: false, error: { fault } })
/** The result of a token with a wrong signature, whatever is wrong with its claims. */
export const refused = { ok: false, error: 'unauthorized' }
