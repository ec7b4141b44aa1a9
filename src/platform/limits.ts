/**
 * Limits of one invocation, all of them below those of the platform: Workers allow, on the paid plan and per invocation,
 * at least 1,000 subrequests and 1,000 D1 queries, 30 s of CPU time, 6 connections at a time and 128 MB of memory
 * (Cloudflare's limits pages, read November 2026).
 */

/** Milliseconds that a request may spend on nodes: its caller waits for it. */
export const routeMs = 10_000
/** The part of it after which a request reads no further blocks: the rest is for proofs. */
export const routeReadMs = 7_000
/** Milliseconds that a tick may spend on reading blocks. */
export const tickReadMs = 16_000
/** Milliseconds after which a tick ends: less than the lease, and less than the minute until the next tick. */
export const tickMs = 27_000
/**
 * HTTP requests to nodes in one request of a caller, without proofs. Every caller can cause them, and providers limit them by
 * the second and by the day (PROTOCOL.md, Rate limits and gateways).
 */
export const routeRequestsMax = 40
/** HTTP requests to nodes in one request of a caller, for proofs: 10 take 90 receipts at two nodes. */
export const routeProofsMax = 30
/**
 * HTTP requests to nodes in one tick for reading blocks, for the same reason: at most 64,800 a day. They also bound the CPU
 * time of a tick: it reads at most 374 blocks, which takes 2 s of CPU time where blocks are busy (`npm run bench`).
 */
export const tickRequestsMax = 45
/**
 * HTTP requests to nodes in one tick for proofs. They are used only where that many transfers are found: a token takes a ninth of
 * a request at two nodes, and TRX one more, or less where a block has several.
 */
export const tickProofsMax = 600
/** HTTP requests to nodes in one tick for reading ranges again, where there are any. */
export const tickRescansMax = 30
/** Milliseconds that a tick may spend on the nodes of reconciliation, after the scan: both are over before the next tick. */
export const reconciliationMs = 20_000
/**
 * HTTP requests to nodes for reconciliation in one tick, besides those of the scan: it takes none of them. Usually there
 * are at most 10, one for a slice. A node without batches takes 21 for one slice, and one question gets two thirds of the limit.
 */
export const reconciliationRequestsMax = 32
