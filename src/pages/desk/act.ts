import type { OwnedDeposit } from './data.ts'
import type { DeskPayout } from './payout-data.ts'

/** What a person can do: what it is about, in words as far as they depend on the currencies. */
export type Act =
  | {
      readonly kind: 'approve' | 'cancel'
      readonly payout: DeskPayout
      readonly amount: string
      /** What is back in the balance where it is cancelled. */
      readonly back: string
      /** What has left for it already, in sentences. */
      readonly left: readonly string[]
    }
  | { readonly kind: 'credit' | 'refuse'; readonly deposit: OwnedDeposit; readonly amount: string }
