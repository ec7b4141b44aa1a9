import { formatTrx } from '../common/amount.ts'

/** Why a payout's transaction failed, by the chain's word, and what that has cost. */
export interface TransferFailure {
  /** Such as `OUT_OF_ENERGY`; null if it is not known. */
  readonly result: string | null
  /** Sun that it burnt, and energy that it used; null or absent until nodes have shown both. */
  readonly burnt?: number | null
  readonly energy?: number | null
}

/**
 * What the chain's words mean for a transfer (java-tron
 * `Protocol.Transaction.Result.contractResult`). Others are faults of the contract's code.
 */
const meanings: Readonly<Record<string, string>> = {
  OUT_OF_ENERGY: 'its energy, or the TRX for it up to its fee_limit, did not suffice',
  REVERT: "the token's contract refused the transfer",
  OUT_OF_TIME: 'it ran for longer than a block producer allows',
}
const otherMeaning = "the code of the token's contract failed"

/**
 * Says that a payout's transaction has failed: the chain's result, its meaning and what it cost, in
 * one sentence.
 */
export function sayFailed({ result, burnt = null, energy = null }: TransferFailure): string {
  const cause = result === null ? '' : ` (${result}: ${meanings[result] ?? otherMeaning})`
  const cost =
    burnt === null || energy === null ? '' : `, and it cost ${formatTrx(BigInt(burnt))} TRX and ${energy} energy`
  return `its transaction is final and has failed${cause}: nothing was paid${cost}`
}
