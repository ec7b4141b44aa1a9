/** The states of a payout (docs/guides/payouts.md), in the order in which filters offer them. */
export const payoutStates = ['waiting', 'approved', 'signed', 'paid', 'stuck', 'cancelled'] as const
export type PayoutState = (typeof payoutStates)[number]

/** The states of a payout that is not yet `paid` or `cancelled`. */
export const openStates = ['waiting', 'approved', 'signed', 'stuck'] as const satisfies readonly PayoutState[]

/**
 * Why a payout waits for a person, by the limits of its currency when it was asked for. `day`: the
 * limits of a day were used up, or something stopped what approves by itself.
 */
export const waitReasons = ['no-limits', 'above-limit', 'below-limit', 'day'] as const
export type WaitReason = (typeof waitReasons)[number]
