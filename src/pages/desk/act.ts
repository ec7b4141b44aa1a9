import type { OwnedDeposit } from './data.ts'
import type { DeskPayout } from './payout-data.ts'

/** An action of a person on a payout or a deposit. Amounts are texts to be shown, with the symbol of the currency. */
export type Act =
  | {
      readonly kind: 'approve' | 'cancel'
      readonly payout: DeskPayout
      readonly amount: string
      /** The amount, fee included, that returns to the user's balance if the payout is cancelled. */
      readonly back: string
      /** The outflows from the payout address for this payout so far, in sentences. */
      readonly left: readonly string[]
    }
  | { readonly kind: 'credit' | 'refuse'; readonly deposit: OwnedDeposit; readonly amount: string }
