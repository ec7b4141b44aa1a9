import { Hono } from 'hono/tiny'
import type { CallerRoute, FrameParts, HttpParts, RequestContext } from './context.ts'
import { type ApiResponse, failure } from './envelope.ts'
import { notConfigured, toAuthProblem, tooMany, toProblem, unknownPath, wrongMethod } from './errors.ts'
import { readBookmark } from './middleware/bookmark.ts'
import { allowedMethods, preflight } from './middleware/cors.ts'
import { bodiless, frame, respond } from './middleware/frame.ts'
import { health } from './routes/health/route.ts'
import { tronBalance } from './routes/tron-balance/route.ts'
import { tronGenerate } from './routes/tron-generate/route.ts'
import { tronRecharge } from './routes/tron-recharge/route.ts'
import { walletFlowList } from './routes/wallet-flow-list/route.ts'
import { walletList } from './routes/wallet-list/route.ts'

/** The HTTP side of the service. */
export interface App {
  fetch(request: Request): Promise<Response>
}

/** The routes that act for a caller. */
const callerRoutes: readonly CallerRoute[] = [tronGenerate, tronBalance, tronRecharge, walletList, walletFlowList]
const paths: ReadonlySet<string> = new Set([...callerRoutes.map((route) => route.path), health.path])

type Env = { Bindings: RequestContext }

/** The service over its parts. Holds nothing of a request, so one app may answer many at once. */
export function createApp(parts: HttpParts): App {
  const hono = new Hono<Env>({ getPath: routeOf })
  for (const route of callerRoutes) {
    hono.get(route.path, async (c) => respond(parts, c.env, await answerCaller(parts, route, c.req.raw, c.env)))
  }
  hono.get(health.path, async (c) => respond(parts, c.env, await health.answer(parts, c.env)))
  hono.notFound((c) => respond(parts, c.env, answerElse(parts, c.req.path, c.req.method)))
  hono.onError((thrown) => {
    throw thrown // to the frame, where a crash is answered and logged whatever was thrown
  })
  return { fetch: frame(parts, routeOf, (request, visit) => hono.fetch(request, visit)) }
}

/** The service while its configuration is wrong: the same 503 everywhere, so that nothing is half-served. */
export function createUnconfiguredApp(parts: FrameParts): App {
  const refuse = (request: Request, visit: RequestContext) => bodiless(parts, request, visit, failure(notConfigured))
  return { fetch: frame(parts, routeOf, refuse) }
}

/** In this order: who asks, how often, and only then what; past the limit nothing is looked up for anybody. */
async function answerCaller(
  parts: HttpParts,
  route: CallerRoute,
  request: Request,
  visit: RequestContext,
): Promise<ApiResponse> {
  const caller = await parts.authenticate(request)
  if (!caller.ok) return failure(toAuthProblem(caller.error))
  if (!(await parts.admit(caller.value, route.rateClass(request.url)))) return failure(tooMany)
  const bookmark = readBookmark(request.headers)
  if (!bookmark.ok) return failure(toProblem(bookmark.error))
  visit.bookmark = bookmark.value
  return route.answer(parts, caller.value, request.url, visit)
}

function answerElse({ cors }: HttpParts, path: string, method: string): ApiResponse {
  if (!paths.has(path)) return failure(unknownPath)
  return method === 'OPTIONS' && cors !== null
    ? preflight
    : failure({ ...wrongMethod, headers: { allow: allowedMethods(cors) } })
}

/**
 * A route's path, or `unknown`. The path is taken as it was sent, neither decoded nor trimmed: a route has one
 * spelling, and neither `/wallet%2Flist` nor `/wallet/list/` is it.
 */
function routeOf({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const length = url.slice(start).search(/[?#]|$/)
  const path = url.slice(start, start + length)
  return paths.has(path) ? path : 'unknown'
}
