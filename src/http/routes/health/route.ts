import type { HttpParts, RequestContext } from '../../context.ts'
import type { ApiResponse } from '../../envelope.ts'

/** How the scan is, for a load balancer or a pager: no token, no node call. */
export const health = {
  path: '/health',
  answer: async (parts: Pick<HttpParts, 'readHealth'>, visit: RequestContext): Promise<ApiResponse> => {
    const { status, scanned, finalized, behind, healthy, msg } = await parts.readHealth(visit)
    const data = { status, scanned, finalized, behind }
    // The one failure with data: who is paged needs to know how far the scan is.
    if (status === 'stopped' || !healthy) return { status: 503, msg, data }
    return { status: 200, msg: `success: ${msg}`, data }
  },
}
