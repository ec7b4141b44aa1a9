// Limits of one step of the scan.

/** Blocks of the first read where the scan before stored nothing: one block can be readable where several together are not. */
export const carefulBlocksMax = 1
/** Blocks stored in one step: three reads. */
export const stepBlocksMax = 51
/**
 * Transactions and logs in memory from which on a step starts no further read: 0.5 kB each, of an isolate's 128 MB. Three
 * reads of busy blocks have half as many.
 */
export const stepEntriesMax = 50_000
