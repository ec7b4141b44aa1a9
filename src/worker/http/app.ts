import type { MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import { err } from '../common/result.ts'
import type { Config, StaticFiles } from '../config/config.ts'
import type { Cell } from '../services.ts'
import { createPersonAuthenticator } from './auth/access-assertion.ts'
import { type AuthenticateBackend, createAuthenticators } from './auth/authenticate.ts'
import type { KeySetParts } from './auth/key-set.ts'
import { type Env, type LedgerRoute, noRoute, type Route } from './context.ts'
import { failure } from './envelope.ts'
import { configurationDiffers, inCell, type Method, notConfigured, unknownPath, wrongMethod } from './errors.ts'
import { auth, backendAuth, bookmark, createRateLimit } from './middleware/access.ts'
import { hasPayouts, inCellOfBackend, inCellOfCaller, inCellOfToken, inEachCell } from './middleware/cells.ts'
import { everyRequest, preflight, type RequestParts } from './middleware/every-request.ts'
import { servePage } from './page.ts'
import { callerPagePath, noPageSettings, type PageSettings } from './page-settings.ts'
import { ledgerRoutes, routes } from './routes.ts'

export interface App {
  fetch(request: Request): Promise<Response>
}

export interface HttpPlatform extends KeySetParts, Pick<RequestParts, 'uniqueName'> {}

export interface HttpConfig
  extends Pick<
    Config,
    'auth' | 'backend' | 'cors' | 'rateLimits' | 'files' | 'pageOrigins' | 'pageBrand' | 'pageWallet' | 'deskAccess'
  > {}

/**
 * Makes the service for a valid configuration. It keeps no state of a request, so one app serves
 * many requests at once. With a single cell (one database with all users) it leaves out the
 * middleware that chooses a request's cell.
 */
export function createApp(platform: HttpPlatform, config: HttpConfig, cells: readonly [Cell, ...Cell[]]): App {
  const ofSeveral = <T>(...list: readonly T[]) => (cells.length > 1 ? list : [])
  const takesPayouts = cells.some(({ services }) => services.settings.payouts !== null)
  const all: readonly LedgerRoute[] = ledgerRoutes
  const ofBackends = all.filter(({ isOfPayouts }) => isOfPayouts !== true || takesPayouts)
  const hasLedgerRoutes = config.backend !== null || config.deskAccess !== null
  const served = hasLedgerRoutes ? [...routes, ...ofBackends] : routes
  const hono = createHono(platform, config.cors, [...served.map(({ path }) => path), ...pagesOf(config.files)])
  const { callers, backends } = createAuthenticators(config.auth, config.backend, platform)
  const authenticated = auth(callers)
  const rateLimit = createRateLimit(config.rateLimits, platform.logger)
  const toCell = {
    caller: inCellOfCaller(cells),
    token: inCellOfToken(cells, callers),
  }
  for (const { path, rateClass, acts, handle } of callerRoutes) {
    const methods = methodsOf(path, config.cors)
    const first = acts ? [refuseHead(methods)] : []
    if (rateClass === null) hono.on('GET', [path], ...first, ...ofSeveral(toCell.token), configured, handle)
    else {
      const access = [authenticated, rateLimit(rateClass), ...ofSeveral(toCell.caller), bookmark, configured]
      hono.on('GET', [path], ...first, ...access, handle)
    }
    if (config.cors !== null) hono.options(path, preflight(methods))
  }
  const { pageOrigins: origins, pageBrand: brand, pageWallet: wallet } = config
  servePages(hono, config.files, { origins, brand, wallet, devUid: config.auth.devUid })
  if (hasLedgerRoutes) {
    const { deskAccess } = config
    const people = deskAccess === null ? null : createPersonAuthenticator(deskAccess, platform)
    const backend = backendAuth(backends ?? noBackends, people)
    for (const route of ofBackends) {
      const { path, method, acts, handle } = route
      hono.on(
        method,
        [path],
        ...(acts ? [refuseHead(methodsOf(path, config.cors))] : []),
        backend(route),
        rateLimit(() => 'ledger'),
        ...ofSeveral(inCellOfBackend(cells, route), ...(route.isOfPayouts ? [hasPayouts] : [])),
        bookmark,
        configured,
        handle,
      )
    }
  }
  hono.notFound((c) => failure(c.req.path === noRoute ? unknownPath : wrongMethod(methodsOf(c.req.path, config.cors))))
  const env = { services: cells[0].services, cells }
  return { fetch: async (request) => hono.fetch(request, env) }
}

/**
 * Refuses a request if the configuration does not belong to the stored data of a cell that the
 * request concerns, for example because of its `TRON_XPUB`. If the request concerns several cells,
 * as a health check does, the sentence names the cell and its settings.
 */
const configured: MiddlewareHandler<Env> = async (c, next) => {
  const { cells } = c.env
  const matches = await inEachCell(cells, ({ services }) => services.configMatchesData())
  const wrong = cells.find((_, i) => !matches[i])
  if (wrong === undefined) return next()
  if (cells.length === 1) return failure(configurationDiffers)
  const msg = `the configuration differs from the stored data in ${wrong.services.differingSettings().join(', ')}`
  return failure(inCell(wrong.number, { ...configurationDiffers, msg }))
}

/**
 * Makes the service for an invalid configuration. Every path answers 503 except the deposit page,
 * which shows the fault and which no page may frame.
 */
export function createUnconfiguredApp(platform: HttpPlatform, files: StaticFiles | null): App {
  const hono = createHono(platform, null, [...routes.map(({ path }) => path), ...pagesOf(files)])
  servePages(hono, files, noPageSettings)
  hono.all('*', () => failure(notConfigured))
  return { fetch: async (request) => hono.fetch(request) }
}

/** Refuses every token: for a deployment with `DESK_ACCESS` and without a key for backends. */
const noBackends: AuthenticateBackend = async () => err('unauthorized')

/** The paths of pages that the Worker itself serves; none if the deployment has no static files. */
const pagesOf = (files: StaticFiles | null) => (files === null ? [] : [callerPagePath])

function servePages(hono: Hono<Env>, files: StaticFiles | null, settings: PageSettings): void {
  if (files !== null) hono.get(callerPagePath, (c) => servePage(c.req.raw, files, settings))
}

const callerRoutes: readonly Route[] = routes
const backendRoutes: readonly LedgerRoute[] = ledgerRoutes

/**
 * The methods that a path answers. Routes for backends and pages do not answer OPTIONS, so pages of
 * other origins cannot call them.
 */
function methodsOf(path: string, origins: Config['cors']): readonly Method[] {
  const caller = callerRoutes.find((route) => route.path === path)
  const own = backendRoutes.filter((route) => route.path === path)
  const acts = caller?.acts ?? own.some((route) => route.acts)
  const posts = own.some(({ method }) => method === 'POST')
  const gets = !posts || own.some(({ method }) => method === 'GET')
  return [
    ...(gets ? (['GET'] as const) : []),
    ...(gets && !acts ? (['HEAD'] as const) : []),
    ...(posts ? (['POST'] as const) : []),
    ...(caller === undefined || origins === null ? [] : (['OPTIONS'] as const)),
  ]
}

/**
 * Refuses HEAD on a route whose GET may change something. Without it, Hono would pass HEAD to the
 * handler of GET.
 */
function refuseHead(methods: readonly Method[]): MiddlewareHandler<Env> {
  return async (c, next) => (c.req.method === 'HEAD' ? failure(wrongMethod(methods)) : next())
}

function createHono(platform: HttpPlatform, origins: Config['cors'], paths: readonly string[]): Hono<Env> {
  const known = new Set(paths)
  const hono = new Hono<Env>({ getPath: (request) => pathOf(request, known) })
  hono.use(everyRequest(platform, origins))
  hono.onError((thrown) => {
    // `everyRequest` catches it, together with thrown values that are no Error, which Hono does not
    // pass here
    throw thrown
  })
  return hono
}

/**
 * The path of the route, or `noRoute`. The path is neither decoded nor trimmed: each route has one
 * spelling, so `/wallet%2Flist` and `/wallet/list/` are unknown.
 */
function pathOf({ url }: Request, paths: ReadonlySet<string>): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const length = url.slice(start).search(/[?#]|$/)
  const path = url.slice(start, start + length)
  return paths.has(path) ? path : noRoute
}
