import { formatBase58 } from '../chain/address.ts'
import { trxDecimals } from '../common/amount.ts'
import { formatInstant, type UnixMs } from '../common/time.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import { type Currencies, configured } from '../ledger/currencies.ts'
import type { SummaryData } from '../schemas/summary.ts'
import { jsonAmount, type Written } from '../schemas/written.ts'
import { currencyOfContract } from './outflow.ts'
import { selectHoldings, selectLeavingFacts } from './store/facts.ts'
import { selectOpenSums, selectUnresolved } from './store/lists.ts'

/** Most transactions that a summary lists. */
const unresolvedMax = 50

type PayoutSummary = NonNullable<SummaryData['payouts']>
type Stopped = NonNullable<PayoutSummary['stopped']>

/**
 * Reads the summary from stored data. The number of rows that are read grows with the number of
 * currencies, not with that of payouts.
 */
export async function readPayoutSummary(
  db: ReadDatabase,
  { address }: PayoutRules,
  currencies: Currencies,
): Promise<Written<PayoutSummary>> {
  const [open, facts, holdings] = [
    await selectOpenSums(db),
    await selectLeavingFacts(db, address),
    await selectHoldings(db, address),
  ]
  const txids = facts.unknownSince === null ? [] : await selectUnresolved(db, unresolvedMax)
  const stoppedBy = (why: Stopped['why'], since: UnixMs | null) =>
    since === null ? null : { why, since: formatInstant(since), txids }
  return {
    address: formatBase58(address),
    open: open.map(({ state, cuy, count, sum, oldestAt }) => {
      const amount = jsonAmount(sum, configured(cuy, currencies).scale)
      return { state, cuy, count, sum: amount, oldest_at: formatInstant(oldestAt) }
    }),
    stopped: stoppedBy('unknown-transaction', facts.unknownSince) ?? stoppedBy('restored', facts.restoredAt),
    holds: holdings.map(({ contract, balance, read_at }) => {
      const { symbol = 'TRX', decimals = trxDecimals } = currencyOfContract(contract, currencies) ?? {}
      return { symbol, amt: jsonAmount(BigInt(balance), decimals), read_at: formatInstant(read_at) }
    }),
  }
}
