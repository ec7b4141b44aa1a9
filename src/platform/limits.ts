/**
 * Limits of one invocation, all of them below those of the platform: Workers allow, on the paid plan and per invocation,
 * at least 10,000 subrequests, D1 queries included, 1,000 D1 queries, 30 s of CPU time, 6 connections that wait for an answer
 * and 128 MB of memory (Cloudflare's limits pages, read November 2026).
 */

/** Milliseconds that a request may spend on nodes: its caller waits for it. */
export const routeMs = 10_000
/** Milliseconds of `routeMs` after which a request reads no further blocks: the rest is for proofs. */
export const routeReadMs = 7_000
/** Milliseconds of the cron's minute: the time in which scans and deliveries begin. */
export const minuteMs = 60_000
/** Milliseconds that a tick may spend on reading blocks. */
export const tickReadMs = 16_000
/** Milliseconds after which a tick ends: less than the lease. A tick that was to begin before that is left out. */
export const tickMs = 27_000
/**
 * HTTP requests to nodes in one request of a caller, without proofs. Every caller can cause them, and providers limit them by
 * the second and by the day (PROTOCOL.md, Rate limits and gateways).
 */
export const routeRequestsMax = 40
/** HTTP requests to nodes in one request of a caller, for proofs: 10 take 90 receipts at two nodes. */
export const routeProofsMax = 30
// One invocation of the cron runs the ticks of a minute: six where one begins every 10 s. Their requests to two nodes add up to 812:
// 6 × 45 for reading blocks, 30 for ranges, 32 for reconciliation, 480 for proofs. Each tick takes about 40 database queries
// where it finds 540 transfers or reads 374 blocks: 240 of the 1,000. Deliveries are other invocations.
/**
 * HTTP requests to nodes in one tick for reading blocks, where up to two nodes must agree, and half as many for each further one.
 * Providers limit them: at most 194,400 a day with a tick every 20 s. A tick that is caught up takes 7 of them at two nodes, 30,240
 * a day. They also bound the CPU time of a tick: it reads at most 374 blocks, which takes 2 s of CPU time where blocks are busy
 * (`npm run bench`).
 */
export const tickRequestsMax = 45
/**
 * HTTP requests to nodes in the ticks of one minute for proofs, in equal parts. They are used only where that many transfers are
 * found: a token takes a ninth of a request at two nodes, and TRX one more, or less where a block has several.
 */
export const minuteProofsMax = 480
/** HTTP requests to nodes in the last tick of a minute for reading ranges again, for a quorum as above. */
export const tickRescansMax = 30
/** Milliseconds that a tick may spend on the nodes of reconciliation, after the scan. */
export const reconciliationMs = 20_000
/**
 * HTTP requests to nodes for reconciliation in the last tick of a minute, besides those of the scan: it takes none of them.
 * Usually there are at most 10, one for a slice. A node without batches takes 21 for one slice, and one question gets two
 * thirds of the limit.
 */
export const reconciliationRequestsMax = 32
/**
 * Database queries of an invocation that delivers to one endpoint: a delivery takes one, and a turn three. The events of 540
 * credits in one minute reach an endpoint in the next.
 */
export const endpointQueriesMax = 900
/**
 * Those of all endpoints in one minute, in equal parts, so that no backlog takes those of another endpoint. Each delivery is a
 * request and a query: should the platform count the subrequests of all of these invocations together, 8,000 are within 10,000.
 */
export const minuteDeliveryQueriesMax = 4_000
