import type { OwnedDeposit } from './data.ts'
import type { DeskPayout } from './payout-data.ts'

/** An action of a person on a payout or a deposit. The amounts are texts for people already, with the symbol of the currency. */
export type Act =
  | {
      readonly kind: 'approve' | 'cancel'
      readonly payout: DeskPayout
      readonly amount: string
      /** The amount that returns to the balance if the payout is cancelled. */
      readonly back: string
      /** What has already left the payout address for this payout, in sentences. */
      readonly left: readonly string[]
    }
  | { readonly kind: 'credit' | 'refuse'; readonly deposit: OwnedDeposit; readonly amount: string }
