// Limits of one step of the scan.

/** Blocks stored in one step: three reads. */
export const stepBlocksMax = 51
/**
 * Transactions and logs in memory from which on a step starts no further read: 0.5 kB each, of an isolate's 128 MB. Three
 * reads of busy blocks hold half as many.
 */
export const stepEntriesMax = 50_000
