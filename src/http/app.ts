import { Hono } from 'hono/tiny'
import { failure, toResponse } from './envelope.ts'
import { notConfigured, toAuthProblem, unknownPath, wrongMethod } from './errors.ts'
import { bodiless, frame } from './frame.ts'
import type { FrameParts, Parts, Route } from './parts.ts'
import { balance } from './routes/balance.ts'
import { generate } from './routes/generate.ts'
import { health } from './routes/health.ts'
import { recharge } from './routes/recharge.ts'
import { walletFlowList } from './routes/wallet-flow-list.ts'
import { walletList } from './routes/wallet-list.ts'

/** The HTTP side of the service. */
export interface App {
  fetch(request: Request): Promise<Response>
}

/** The routes that act for a caller. */
const callerRoutes: readonly Route[] = [generate, balance, recharge, walletList, walletFlowList]
const paths: ReadonlySet<string> = new Set([...callerRoutes.map((route) => route.path), health.path])

type Env = { Bindings: { readonly requestId: string } }

/** The service over its parts. Holds nothing of a request, so one app may answer many at once. */
export function createApp(parts: Parts): App {
  const hono = new Hono<Env>({ getPath: routeOf })
  for (const route of callerRoutes) {
    hono.get(route.path, async (c) => {
      const caller = await parts.authenticate(c.req.raw)
      const reply = caller.ok
        ? await route.answer(parts, caller.value, c.req.url)
        : failure(toAuthProblem(caller.error))
      return toResponse(reply, c.env.requestId)
    })
  }
  hono.get(health.path, async (c) => toResponse(await health.answer(parts), c.env.requestId))
  hono.notFound((c) => toResponse(failure(paths.has(c.req.path) ? wrongMethod : unknownPath), c.env.requestId))
  hono.onError((thrown) => {
    throw thrown // to the frame, where a crash is answered and logged whatever was thrown
  })
  return { fetch: frame(parts, routeOf, (request, requestId) => hono.fetch(request, { requestId })) }
}

/** The service while its configuration is wrong: the same 503 everywhere, so that nothing is half-served. */
export function createUnconfiguredApp(parts: FrameParts): App {
  const refuse = (request: Request, requestId: string) => bodiless(request, failure(notConfigured), requestId)
  return { fetch: frame(parts, routeOf, refuse) }
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
