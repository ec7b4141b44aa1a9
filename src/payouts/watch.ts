import { sql } from 'drizzle-orm'
import type { Fault, Observation } from '../alarms/alarms.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, PayoutId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ReadDatabase, toStatement } from '../d1/database.ts'
import { payouts, payoutTransactions, type StuckReason } from '../d1/payout-tables.ts'
import { type IssuerState, stoppedIn } from '../issuer/state.ts'
import type { WriteContext } from '../ledger/context.ts'
import { stoppedAfterRestore, stoppedForUnknown } from './stopped.ts'
import { findShortages } from './wallet.ts'

/** An approved payout that is older has no signer, unless it waits for the issuer of its token. */
export const unsignedMs = 600_000
/** Stuck payouts, and unknown transactions, that have an alarm of their own at a time. */
const watchedMax = 50

/** What an operator must see of payouts, and what ends if it is not found again. */
const kinds = ['payout-stuck', 'payouts-unsigned', 'payout-unknown', 'payout-wallet-low'] as const

/** All is well: what a tick says where nothing is open. */
export const nothingOfPayouts: Observation = { kinds, faults: [] }

/** What is wrong with payouts. `restoredAt`: since when they are stopped because an older copy of the database was restored. */
export async function watchPayouts(
  { db, clock, payouts: rules, currencies }: Pick<WriteContext, 'db' | 'clock' | 'payouts' | 'currencies'>,
  restoredAt: UnixMs | null,
  issuers: IssuerState,
): Promise<Observation> {
  const now = clock.now()
  const waiting = rules === null ? [] : [...stoppedIn(issuers, rules.address).keys()]
  const { stuck, unsigned, unknown } = await selectTroubles(db, waiting, (now - unsignedMs) as UnixMs) // safe: an earlier time
  const shortages = rules === null ? [] : await findShortages(db, rules, currencies)
  const faults: Fault[] = [
    ...stuck.map((one): Fault => ({ kind: 'payout-stuck', subject: { payout: one.payout }, fields: { ...one } })),
    ...unknown.map(({ txid }): Fault => {
      return { kind: 'payout-unknown', subject: { txid }, fields: { txid, why: stoppedForUnknown } }
    }),
    ...shortages.map(({ cuy, ...fields }): Fault => {
      return { kind: 'payout-wallet-low', subject: cuy === null ? {} : { cuy }, fields: { cuy, ...fields } }
    }),
  ]
  if (restoredAt !== null) faults.push({ kind: 'payout-unknown', subject: {}, fields: { why: stoppedAfterRestore } })
  const [oldest] = unsigned
  if (oldest !== undefined) {
    const minutes = Math.floor((now - oldest.since) / 60_000)
    faults.push({ kind: 'payouts-unsigned', subject: {}, fields: { payout: oldest.payout, minutes } })
  }
  return { kinds, faults }
}

/** The payouts in currencies that are `waiting` have no trouble that a signer could end. */
async function selectTroubles(db: ReadDatabase, waiting: readonly CurrencyId[], before: UnixMs) {
  const { id, cuy, state, reason, changed_at } = payouts
  const { txid, ended, excused } = payoutTransactions
  const [stuck, unsigned, unknown] = await db.batch([
    toStatement(
      db,
      sql`SELECT ${id} AS payout, ${reason} FROM ${payouts} INDEXED BY payout_state WHERE ${state} = 'stuck' LIMIT ${watchedMax}`,
    ),
    toStatement(
      db,
      sql`SELECT ${id} AS payout, ${changed_at} AS since FROM ${payouts} INDEXED BY payout_state
        WHERE ${state} = 'approved' AND ${changed_at} <= ${before}
          AND ${cuy} NOT IN (SELECT value FROM json_each(${JSON.stringify(waiting)})) ORDER BY ${changed_at} LIMIT 1`,
    ),
    toStatement(
      db,
      sql`SELECT ${txid} FROM ${payoutTransactions} INDEXED BY payout_transaction_unresolved
        WHERE ${ended} IN ('unknown', 'late') AND ${excused} IS NULL ORDER BY ${payoutTransactions.id} LIMIT ${watchedMax}`,
    ),
  ])
  return {
    stuck: (stuck?.results ?? []) as { readonly payout: PayoutId; readonly reason: StuckReason }[], // safe: the columns
    unsigned: (unsigned?.results ?? []) as { readonly payout: PayoutId; readonly since: UnixMs }[], // safe: as above
    unknown: (unknown?.results ?? []) as { readonly txid: Txid }[], // safe: as above
  }
}
