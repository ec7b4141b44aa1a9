/** All checks of one node together, in milliseconds. */
export const nodeMs = 30_000
/** All questions about one token together, in milliseconds. */
export const tokenMs = 15_000
/** HTTP requests for either. */
export const requestsMax = 60
/** A small request that takes longer than this makes callers wait. */
export const roundTripMsMax = 1_500
/** How far the newest block's time may be from this machine's clock: a block comes every 3 s. */
export const clockDifferenceMsMax = 30_000
/** How far finality may be behind the newest block: a normal rotation is 54 s, and then nothing is credited. */
export const finalityLagMsMax = 180_000
/** Fewer different characters than this make a long secret look like a placeholder. */
export const secretCharactersMin = 10
/** Characters of a token's own symbol that are shown. */
export const symbolCharsMax = 20
