// How much may be asked of the chain at once.

/** Blocks in one read: a batch of 20 less chain id, finalized head and one question about the logs of all. */
export const readBlocksMax = 17
/** Receipts in one question: a batch of 20 less chain id and finalized head. */
export const receiptsMax = 18
/** Addresses in one balance question: BIP-44's gap limit, which is also what the contract asks in one request. */
export const balancesMax = 20
