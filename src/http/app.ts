import type { MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import type { Config, StaticFiles } from '../config/config.ts'
import type { Services } from '../services.ts'
import { createAuthenticator, createBackendAuthenticator } from './auth/authenticate.ts'
import type { KeySetParts } from './auth/key-set.ts'
import { type Env, type LedgerRoute, noRoute } from './context.ts'
import { failure } from './envelope.ts'
import { configurationDiffers, notConfigured, type Problem, unknownPath, wrongMethod } from './errors.ts'
import { auth, backendAuth, bookmark, createRateLimit } from './middleware/access.ts'
import { allowedMethods, everyRequest, preflight, type RequestParts } from './middleware/every-request.ts'
import { servePage } from './page.ts'
import { callerPagePath, noPageSettings, type PageSettings } from './page-settings.ts'
import { ledgerRoutes, routes } from './routes.ts'

/** The HTTP side of the service. */
export interface App {
  fetch(request: Request): Promise<Response>
}

/** What the HTTP side takes from the platform. */
export interface HttpPlatform extends KeySetParts, Pick<RequestParts, 'uniqueName'> {}

/** What the HTTP side takes from the configuration. */
export interface HttpConfig
  extends Pick<Config, 'auth' | 'backend' | 'cors' | 'rateLimits' | 'files' | 'pageOrigins' | 'pageBrand'> {
  /** Whether the configuration has the meaning of the stored data. Otherwise nothing is served. */
  readonly configMatchesData: () => Promise<boolean>
}

/** The service with a valid configuration. It keeps nothing of a request, so that one app serves many at once. */
export function createApp(platform: HttpPlatform, config: HttpConfig, services: Services): App {
  const served = config.backend === null ? routes : [...routes, ...ledgerRoutes]
  const hono = createHono(platform, config.cors, [...served.map(({ path }) => path), ...pagesOf(config.files)])
  const authenticated = auth(createAuthenticator(config.auth, platform))
  const rateLimit = createRateLimit(config.rateLimits, platform.logger)
  const configured: MiddlewareHandler<Env> = async (_, next) =>
    (await config.configMatchesData()) ? next() : failure(configurationDiffers)
  for (const { path, rateClass, handle } of routes) {
    if (rateClass === null) hono.get(path, configured, handle)
    else hono.get(path, authenticated, rateLimit(rateClass), bookmark, configured, handle)
    if (config.cors !== null) hono.options(path, preflight)
  }
  const { pageOrigins: origins, pageBrand: brand } = config
  servePages(hono, config.files, { origins, brand, devUid: config.auth.devUid })
  if (config.backend !== null) {
    const backend = backendAuth(createBackendAuthenticator(config.backend, platform))
    for (const { path, method, scope, handle } of ledgerRoutes) {
      hono.on(
        method,
        path,
        backend(scope),
        rateLimit(() => 'ledger'),
        bookmark,
        configured,
        handle,
      )
    }
  }
  hono.notFound((c) => failure(c.req.path === noRoute ? unknownPath : otherMethod(c.req.path, config.cors)))
  const env = { services }
  return { fetch: async (request) => hono.fetch(request, env) }
}

/** The service with a wrong configuration: 503 at every path but that of a page, which shows it and which no page may frame. */
export function createUnconfiguredApp(platform: HttpPlatform, files: StaticFiles | null): App {
  const hono = createHono(platform, null, [...routes.map(({ path }) => path), ...pagesOf(files)])
  servePages(hono, files, noPageSettings)
  hono.all('*', () => failure(notConfigured))
  return { fetch: async (request) => hono.fetch(request) }
}

/** The paths of pages that the Worker serves itself: none without their files. */
const pagesOf = (files: StaticFiles | null) => (files === null ? [] : [callerPagePath])

function servePages(hono: Hono<Env>, files: StaticFiles | null, settings: PageSettings): void {
  if (files !== null) hono.get(callerPagePath, (c) => servePage(c.req.raw, files, settings))
}

/** No page of another origin calls the routes for backends or reads a page: they take no OPTIONS. */
function otherMethod(path: string, origins: Config['cors']): Problem {
  const own: readonly LedgerRoute[] = ledgerRoutes.filter((route) => route.path === path)
  if (own.some(({ method }) => method === 'POST')) return wrongMethod('GET, HEAD, POST', 'GET, HEAD or POST')
  return wrongMethod(allowedMethods(own.length > 0 || path === callerPagePath ? null : origins))
}

function createHono(platform: HttpPlatform, origins: Config['cors'], paths: readonly string[]): Hono<Env> {
  const known = new Set(paths)
  const hono = new Hono<Env>({ getPath: (request) => pathOf(request, known) })
  hono.use(everyRequest(platform, origins))
  hono.onError((thrown) => {
    throw thrown // to `everyRequest`: Hono passes only instances of Error to this function
  })
  return hono
}

/**
 * The path of the route, or `noRoute`. The path is neither decoded nor trimmed: a route has one spelling, and neither
 * `/wallet%2Flist` nor `/wallet/list/` is the path of one.
 */
function pathOf({ url }: Request, paths: ReadonlySet<string>): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const length = url.slice(start).search(/[?#]|$/)
  const path = url.slice(start, start + length)
  return paths.has(path) ? path : noRoute
}
