import type { OwnedDeposit } from './data.ts'
import type { DeskPayout } from './payout-data.ts'

/** An action of a person, with its subject; the texts that depend on currencies are written already. */
export type Act =
  | {
      readonly kind: 'approve' | 'cancel'
      readonly payout: DeskPayout
      readonly amount: string
      /** The amount that returns to the balance if the payout is cancelled. */
      readonly back: string
      /** The outflows for the payout so far, in sentences. */
      readonly left: readonly string[]
    }
  | { readonly kind: 'credit' | 'refuse'; readonly deposit: OwnedDeposit; readonly amount: string }
