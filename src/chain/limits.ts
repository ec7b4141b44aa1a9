// How much one call to the chain may request.

/** Blocks of one read: `getblockbylimitnext` gives at most 100 (PROTOCOL.md, HTTP API). */
export const readBlocksMax = 100
/** Receipts of one call: one batch. */
export const receiptsMax = 18
/** Addresses of one balance query. This is BIP-44's gap limit, and the most addresses that one caller has without a deposit. */
export const balancesMax = 20
