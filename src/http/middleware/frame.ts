import type { FrameParts, RequestContext } from '../context.ts'
import { type ApiResponse, failure, toResponse } from '../envelope.ts'
import { crashed, urlCharsMax, urlTooLong } from '../errors.ts'
import { bookmarkHeader } from './bookmark.ts'
import { corsHeaders } from './cors.ts'

/** Longest stack that goes into the log, in characters. */
export const stackCharsMax = 2000
/** How long a browser keeps to https after an answer. */
export const httpsSeconds = 31_536_000

/** A caller's own request id is taken over only in this form: it ends up in headers and log lines. */
const plainId = /^[\w.-]{1,64}$/

/** What `frame` puts around: the answer to one request. */
type Inner = (request: Request, visit: RequestContext) => Response | Promise<Response>

/** The routes' paths, for the log. */
type RouteOf = (request: Request) => string

/**
 * What every request meets first and last: its id, the bound on its URL, a bare 500 for a crash whose text stays in
 * the log, and one observation of how it was answered.
 */
export function frame(parts: FrameParts, routeOf: RouteOf, inner: Inner): (request: Request) => Promise<Response> {
  return async (request) => {
    const startedAt = parts.clock.now()
    const incoming = request.headers.get('x-request-id')
    const requestId = incoming !== null && plainId.test(incoming) ? incoming : parts.requestId()
    const visit: RequestContext = {
      requestId,
      route: routeOf(request),
      startedAt,
      headers: requestHeaders(parts, request, requestId),
      usage: parts.createUsage(),
      bookmark: null,
      bookmarkAfter: null,
      durationMs: 0,
    }
    const response = await answerOrCrash(parts, request, visit, inner)
    parts.observe({ visit, method: request.method, status: response.status })
    return response
  }
}

/** The response to a reply, with the headers that its request asks for and what it has cost. */
export function respond({ clock }: Pick<FrameParts, 'clock'>, visit: RequestContext, reply: ApiResponse): Response {
  const { usage, bookmarkAfter } = visit
  visit.durationMs = clock.now() - visit.startedAt
  const around: Record<string, string> = {
    ...visit.headers,
    'server-timing': `total;dur=${visit.durationMs}, db;dur=${usage.database.ms}, node;dur=${usage.node.ms}`,
  }
  if (bookmarkAfter !== null) around[bookmarkHeader] = bookmarkAfter
  return toResponse(reply, around)
}

/** An answer outside the routes, where nobody else takes the body off for HEAD. */
export function bodiless(parts: FrameParts, request: Request, visit: RequestContext, reply: ApiResponse): Response {
  const response = respond(parts, visit, reply)
  return request.method === 'HEAD' ? new Response(null, response) : response
}

async function answerOrCrash(
  parts: FrameParts,
  request: Request,
  visit: RequestContext,
  inner: Inner,
): Promise<Response> {
  try {
    if (request.url.length > urlCharsMax) return bodiless(parts, request, visit, failure(urlTooLong))
    return await inner(request, visit)
  } catch (thrown) {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    const { requestId, route } = visit
    parts.log.error('request crashed', { requestId, route, text: text.slice(0, stackCharsMax) })
    return bodiless(parts, request, visit, failure(crashed))
  }
}

function requestHeaders({ cors }: FrameParts, request: Request, requestId: string): Readonly<Record<string, string>> {
  const headers = { 'x-request-id': requestId, ...corsHeaders(cors, request) }
  if (!request.url.startsWith('https:')) return headers // a browser ignores it there
  return { ...headers, 'strict-transport-security': `max-age=${httpsSeconds}` }
}
