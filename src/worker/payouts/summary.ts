import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import { selectHoldings, selectLeavingFacts } from './store/facts.ts'
import { type OpenSum, selectOpenSums, selectUnresolved } from './store/lists.ts'

/** Most transactions that a summary lists. */
const unresolvedMax = 50

/** Why payouts are stopped, since when, and the transactions that no payout names, the oldest `unresolvedMax`. */
interface Stopped {
  readonly why: 'unknown-transaction' | 'restored'
  readonly since: UnixMs
  readonly txids: readonly Txid[]
}

/** Open payouts, why payouts are stopped, and the balances of the payout address. */
export interface PayoutSummary {
  readonly address: Address
  readonly open: readonly OpenSum[]
  /** Since when an unexplained transaction or a restore of the database stops payouts; null if neither does. */
  readonly stopped: Stopped | null
  /** Balances in chain units by contract, which is empty for TRX. */
  readonly holds: readonly { readonly contract: Address | ''; readonly balance: bigint; readonly readAt: UnixMs }[]
}

/** Reads the summary from stored data. The number of rows that are read grows with the number of currencies, not with that of payouts. */
export async function readPayoutSummary(db: ReadDatabase, { address }: PayoutRules): Promise<PayoutSummary> {
  const [open, facts, holdings] = [
    await selectOpenSums(db),
    await selectLeavingFacts(db, address),
    await selectHoldings(db, address),
  ]
  const txids = facts.unknownSince === null ? [] : await selectUnresolved(db, unresolvedMax)
  const stoppedBy = (why: Stopped['why'], since: UnixMs | null) => (since === null ? null : { why, since, txids })
  return {
    address,
    open,
    stopped: stoppedBy('unknown-transaction', facts.unknownSince) ?? stoppedBy('restored', facts.restoredAt),
    holds: holdings.map(({ contract, balance, read_at }) => ({ contract, balance: BigInt(balance), readAt: read_at })),
  }
}
