// Limits of collecting, each with its reason.

/**
 * Energy that is planned above what was measured, in percent: the price of a busy contract grows within hours, and a
 * transfer that runs out of energy fails and pays all the same.
 */
export const energyHeadroomPercent = 20n
/** Hours that a plan is valid by default. A reference block is known for 65,536 blocks. */
export const planHoursDefault = 12
/** A node takes no transaction that expires later than 24 hours after its newest block (PROTOCOL.md, Collecting). */
export const planHoursMax = 24
/** Unused addresses in a row after which a gap scan ends (BIP-44). */
export const scanGap = 20
/** Least time between two requests to the nodes, in milliseconds: 8 a second. Providers allow 10 to 15. */
export const requestIntervalMs = 120
/** Time for one request and its fail-over, in milliseconds. */
export const requestLimitMs = 20_000
/** Attempts of a request to all nodes before a command stops, with `retryMs` between them. */
export const attemptsOfRequest = 5
/** Milliseconds between them, and between two looks at the chain: one block. */
export const retryMs = 3_000
/** Blocks after which a transaction that is in none is sent again: the same bytes, so it cannot count twice. */
export const resendAfterBlocks = 20
/** Looks at the chain without any progress after which sending stops: 10 minutes. */
export const idleLooksMax = 200
/** No energy is delegated when the plan ends sooner than this: there must be time to take it back. */
export const lastDelegationMs = 600_000
/** Steps that are sent between two looks at the chain. */
export const stepsPerLook = 40
