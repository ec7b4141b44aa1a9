import type { UnixMs } from '../../../src/common/time.ts'
import type { AuthConfig } from '../../../src/config/config.ts'
import { type Authenticate, createAuthenticator } from '../../../src/http/auth/authenticate.ts'
import { createTokenCache, type TokenCache } from '../../../src/http/auth/token-cache.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { LogFields } from '../../../src/platform/logger.ts'
import { jwtSecret, tokenNow } from '../../support/tokens.ts'

/** Where the tests' issuers publish their keys. */
const keysUrl = 'https://issuer.example/keys'

/** Checks HS256 tokens, and nothing but what the contract always asks of them. */
export const secretConfig: AuthConfig = {
  key: { kind: 'secret', secret: jwtSecret },
  issuer: null,
  audience: null,
  devUid: null,
}
/** Checks tokens with the keys at a URL. */
export const keySetConfig: AuthConfig = { ...secretConfig, key: { kind: 'jwks', url: keysUrl } }

/** A check of tokens whose clock, log and key server are the test's. */
export interface Bench {
  readonly authenticate: Authenticate
  /** Seconds since 1970. */
  readonly clock: { seconds: number }
  readonly warnings: LogFields[]
  /** How often keys were asked for. */
  readonly asked: { times: number }
  /** The memory, for another check that shares it. */
  readonly memory: TokenCache
}

/** `serve` is the issuer's key server; without one every question to it fails. */
export function benchOf(
  config: AuthConfig,
  serve: (init: RequestInit) => Response | Promise<Response> = () => Promise.reject(new TypeError('no such host')),
  {
    memory = createTokenCache(),
    sleep = never,
  }: { readonly memory?: TokenCache; readonly sleep?: Clock['sleep'] } = {},
): Bench {
  const clock = { seconds: tokenNow }
  const warnings: LogFields[] = []
  const asked = { times: 0 }
  const quiet = () => undefined
  const authenticate = createAuthenticator(config, {
    memory,
    clock: { now: () => (clock.seconds * 1000) as UnixMs, sleep },
    log: { info: quiet, warn: (_event, fields) => warnings.push(fields), error: quiet, alarm: quiet },
    fetch: async (_input, init) => {
      asked.times += 1
      return serve(init ?? {})
    },
  })
  return { authenticate, clock, warnings, asked, memory }
}

/** A sleep that nothing wakes: no time limit runs out. */
const never = () => new Promise<void>(() => undefined)

/** A request to the service with these headers. */
export const asking = (headers: HeadersInit = {}, url = 'https://wallet.example/wallet/list') =>
  new Request(url, { headers })
