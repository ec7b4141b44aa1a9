import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ReadDatabase, toStatement } from '../d1/database.ts'
import { type PayoutState, payouts, payoutTransactions } from '../d1/payout-tables.ts'
import { alarmRows } from '../d1/state-tables.ts'
import type { PayoutRules } from '../ledger/context.ts'
import { selectHoldings } from './wallet.ts'

/** What is open of payouts, why they are stopped, and what their address holds. */
export interface PayoutSummary {
  readonly address: Address
  /** By state and currency. Sums are in ledger units. */
  readonly open: readonly {
    readonly state: PayoutState
    readonly cuy: CurrencyId
    readonly count: number
    readonly sum: bigint
    /** Since when the one that has been in this state for longest is in it. */
    readonly oldestAt: UnixMs
  }[]
  /** Null: payouts are offered to the signer. */
  readonly stopped: { readonly why: 'unknown-transaction' | 'restored'; readonly since: UnixMs } | null
  /** By the contract, which is empty for TRX, in chain units. */
  readonly holds: readonly { readonly contract: Address | ''; readonly balance: bigint; readonly readAt: UnixMs }[]
}

/** Reads what is stored. The rows read grow with what is open, not with the history. */
export async function readPayoutSummary(db: ReadDatabase, { address }: PayoutRules): Promise<PayoutSummary> {
  const { state, cuy, amount, changed_at: since } = payouts
  const { ended, excused, changed_at } = payoutTransactions
  const { kind, subject, raised_at } = alarmRows
  const [open, unknown, restored] = await db.batch([
    toStatement(
      db,
      sql`SELECT ${state}, ${cuy}, count(*) AS count, CAST(sum(${amount}) AS TEXT) AS sum, min(${since}) AS oldestAt
        FROM ${payouts} INDEXED BY payout_state
        WHERE ${state} IN ('waiting', 'approved', 'signed', 'stuck') GROUP BY ${state}, ${cuy} ORDER BY ${state}, ${cuy}`,
    ),
    toStatement(
      db,
      sql`SELECT min(${changed_at}) AS since FROM ${payoutTransactions} INDEXED BY payout_transaction_unresolved
        WHERE ${ended} IN ('unknown', 'late') AND ${excused} IS NULL`,
    ),
    // The scanner knows it: its alarm is the copy for everybody else.
    toStatement(
      db,
      sql`SELECT ${raised_at} AS since FROM ${alarmRows} WHERE ${kind} = 'payout-unknown' AND ${subject} = '{}'`,
    ),
  ])
  const sinceOf = (result: D1Result | undefined) => {
    const [row] = (result?.results ?? []) as { since: UnixMs | null }[] // safe: the columns
    return row?.since ?? null
  }
  const [unknownSince, restoredSince] = [sinceOf(unknown), sinceOf(restored)]
  const rows = (open?.results ?? []) as StoredKind[] // safe: as above
  return {
    address,
    open: rows.map((row) => ({ ...row, sum: BigInt(row.sum) })),
    stopped: stoppedBy('unknown-transaction', unknownSince) ?? stoppedBy('restored', restoredSince),
    holds: (await selectHoldings(db, address)).map((one) => {
      return { contract: one.contract, balance: BigInt(one.balance), readAt: one.read_at }
    }),
  }
}

type StoredKind = Omit<PayoutSummary['open'][number], 'sum'> & { readonly sum: string }

const stoppedBy = <Why>(why: Why, since: UnixMs | null) => (since === null ? null : { why, since })
