/**
 * The limits of a scan, each with the platform's figure that it stays below.
 * Workers, per invocation: 50 subrequests and 50 D1 queries on the free plan, 1,000 and more on the paid one;
 * CPU 10 ms free, 30 s paid (Cloudflare's limits pages, read November 2026).
 */

/** JSON-RPC calls in one HTTP request. java-tron takes 100 from 4.8.2 on; gateways are stricter. */
export const batchCallsMax = 20
/** Blocks in one read: a batch of 20 less chain id, finalized head and one question about the logs of all. */
export const readBlocksMax = 17
/** Blocks committed in one step: three reads. */
export const stepBlocksMax = 51
/**
 * Transactions and logs in memory after which a step begins no further read: 0.5 kB each, of an isolate's 128 MB. Three reads
 * of busy blocks hold half as many.
 */
export const stepEntriesMax = 50_000
/** Requests after which a step begins no further read: those that are left must do for proving what it has read. */
export const stepRequestsMax = 15
/**
 * D1 statements after which catching up begins no further step that would take more: those that are left end the scan.
 * The free plan allows 50 queries, the paid one 1,000.
 */
export const catchUpStatementsMax = 40
/** Receipts in one question: a batch of 20 less chain id and finalized head. */
export const receiptsMax = 18
/** Addresses in one balance question: BIP-44's gap limit, which is also what the contract asks in one request. */
export const balancesMax = 20
/** Addresses of one caller that may be without a deposit (BIP-44). */
export const gapLimit = 20
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
