import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'

/** How long a browser uses only https after a response. */
export const httpsSeconds = 31_536_000

// The policy loads nothing and forbids frames. The headers that are off are for pages, and no response is one.
const options: Parameters<typeof secureHeaders>[0] = {
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  removePoweredBy: false,
}
const overHttps = secureHeaders({ ...options, strictTransportSecurity: `max-age=${httpsSeconds}` })
const overHttp = secureHeaders({ ...options, strictTransportSecurity: false }) // browsers ignore it there

/** Headers that keep a browser from displaying, framing or embedding a response. */
export const securityHeaders: MiddlewareHandler = (c, next) =>
  c.req.url.startsWith('https:') ? overHttps(c, next) : overHttp(c, next)
