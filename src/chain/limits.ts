// How much one call to the chain may request. A batch to a node has at most 20 calls.

/** Blocks of one read: a batch without chain id, finalized head and one log query. */
export const readBlocksMax = 17
/** Receipts of one call: a batch without chain id and finalized head. */
export const receiptsMax = 18
/** Addresses of one balance query. This is BIP-44's gap limit, and the most addresses that one caller has. */
export const balancesMax = 20
