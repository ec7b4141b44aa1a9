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
/** Time for one question to the nodes, in milliseconds. */
export const questionMs = 20_000
/** Attempts of a question before a command stops, with `lookMs` between them. */
export const attemptsOfQuestion = 12
/** Milliseconds between them, and between two looks at the chain: one block. */
export const lookMs = 3_000
/** Blocks after which a transaction that is in none is sent again: the same bytes, so it cannot count twice. */
export const resendAfterBlocks = 20
/** Looks at the chain without any progress after which sending stops: 10 minutes. */
export const idleLooksMax = 200
/** No energy is delegated when the plan ends sooner than this: there must be time to take it back. */
export const lastDelegationMs = 600_000
/** Steps that are sent between two looks at the chain. */
export const stepsPerLook = 40
/** Looks, a block apart, in which a step must differ from the plan before it is given up. */
export const doubtsMax = 4
