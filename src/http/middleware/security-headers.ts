import type { MiddlewareHandler } from 'hono'

/** How long a browser uses only https after a response. */
export const httpsSeconds = 31_536_000

/** They load nothing and forbid frames. Other headers of this kind are for pages, and no response is one. */
const always = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Headers that keep a browser from displaying, framing or embedding a response. */
export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(always)) c.res.headers.set(name, value)
  // Browsers ignore it over http.
  if (c.req.url.startsWith('https:')) c.res.headers.set('strict-transport-security', `max-age=${httpsSeconds}`)
}
