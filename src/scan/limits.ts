// Limits of one step of the scan.

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
