import { failure, type Reply, toResponse } from './envelope.ts'
import { crashed } from './errors.ts'
import type { FrameParts } from './parts.ts'

/** Longest stack that goes into the log, in characters. */
export const stackCharsMax = 2000

/** A caller's own request id is taken over only in this form: it ends up in headers and log lines. */
const plainId = /^[\w.-]{1,64}$/

/** What `frame` puts around: the answer to one request that already has its id. */
type Inner = (request: Request, requestId: string) => Response | Promise<Response>

/** The routes' paths, for the log. */
type RouteOf = (request: Request) => string

/**
 * What every request meets first and last: its id, a bare 500 for a crash whose text stays in the log, and one
 * observation of how it was answered.
 */
export function frame(parts: FrameParts, routeOf: RouteOf, inner: Inner): (request: Request) => Promise<Response> {
  return async (request) => {
    const startedAt = parts.clock.now()
    const incoming = request.headers.get('x-request-id')
    const requestId = incoming !== null && plainId.test(incoming) ? incoming : parts.requestId()
    const route = routeOf(request)
    const response = await answerOrCrash(parts, request, { requestId, route }, inner)
    const durationMs = parts.clock.now() - startedAt
    parts.observe({ requestId, route, method: request.method, status: response.status, durationMs })
    return response
  }
}

async function answerOrCrash(
  { log }: FrameParts,
  request: Request,
  { requestId, route }: { readonly requestId: string; readonly route: string },
  inner: Inner,
): Promise<Response> {
  try {
    return await inner(request, requestId)
  } catch (thrown) {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    log.error('request crashed', { requestId, route, text: text.slice(0, stackCharsMax) })
    return bodiless(request, failure(crashed), requestId)
  }
}

/** An answer outside the routes, where nobody else takes the body off for HEAD. */
export function bodiless(request: Request, reply: Reply, requestId: string): Response {
  const response = toResponse(reply, requestId)
  return request.method === 'HEAD' ? new Response(null, response) : response
}
