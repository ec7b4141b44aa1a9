/**
 * Limits of one invocation, each with the platform's figure that it stays below. Workers, paid plan, per invocation: 1,000
 * and more subrequests and D1 queries, 30 s of CPU time, 6 connections at a time, 128 MB of memory (Cloudflare's limits
 * pages, read November 2026).
 */

/** A route's time at the chain, in milliseconds: what a person still waits for. */
export const routeMs = 10_000
/** A tick's time at the chain, in milliseconds: well within the minute until the next one, and below the lease. */
export const tickMs = 25_000
/** HTTP requests to nodes in one request of a caller. The free plan allows 50 subrequests. */
export const routeRequestsMax = 40
/**
 * HTTP requests to nodes in one tick. The free plan allows 50 subrequests. This bounds a tick's CPU time too: it reads no
 * more than 374 blocks, 2 s of CPU where they are busy (`npm run bench`), and the paid plan allows 30 s.
 */
export const tickRequestsMax = 45
