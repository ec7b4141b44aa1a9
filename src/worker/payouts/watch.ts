import type { Txid } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteContext } from '../ledger/context.ts'
import type { Fault, Observation } from '../platform/observation.ts'
import { sayAnswers } from './answers.ts'
import { stoppedCurrencies, stopRules } from './leaving.ts'
import { selectLeavingFacts } from './store/facts.ts'
import { selectTroubles } from './store/lists.ts'
import { selectUntaken } from './store/transactions.ts'
import { sayFailed } from './transfer-failure.ts'
import { findShortages } from './wallet.ts'

/** An approved payout that has waited this long lacks a signer, unless its currency is stopped. */
export const unsignedMs = 600_000
/** A payout that no node has taken raises an alarm this long after it was sent first. */
export const refusedMs = 60_000
/**
 * A transaction that a node has passed on is in a block this long after it was sent first: the
 * alarm comes once each final block up to that time was read.
 */
export const minedMs = 10_000
/** Up to so many transactions that no payout names have an alarm each. */
const unknownApartMax = 3
/**
 * A restored copy reads again what it lacks in several ticks. The alarm with the list comes this
 * long after the first transaction was found.
 */
const listedAfterMs = 60_000
/** Most payouts and transactions that have alarms of their own at a time. */
const watchedMax = 50

/** Kinds of alarms about payouts. An alarm ends unless its cause is found again. */
const kinds = ['payout-stuck', 'payouts-unsigned', 'payout-unknown', 'payout-wallet-low', 'payout-refused'] as const

/** No faults: the result of a tick when nothing is open. */
export const nothingOfPayouts: Observation = { kinds, faults: [] }

/**
 * Finds the faults of payouts that raise alarms. `restoredAt`: since when payouts are stopped
 * because the database is a restored older copy. `nodes`: the names of the configured nodes, in the
 * order of their numbers.
 */
export async function watchPayouts(
  { db, clock, payouts: rules, currencies }: Pick<WriteContext, 'db' | 'clock' | 'payouts' | 'currencies'>,
  restoredAt: UnixMs | null,
  nodes: readonly string[],
): Promise<Observation> {
  const now = clock.now()
  const facts = rules === null ? null : await selectLeavingFacts(db, rules.address)
  const stopped = facts === null ? new Map() : stoppedCurrencies(facts, currencies.list, 'offer')
  const open = currencies.list.flatMap(({ cuy }) => (stopped.has(cuy) ? [] : [cuy]))
  // safe: an earlier time
  const { stuck, unsigned, unknown } = await selectTroubles(db, open, (now - unsignedMs) as UnixMs, watchedMax)
  const shortages = rules === null ? [] : await findShortages(db, rules, currencies)
  const sentBefore = (now - refusedMs) as UnixMs // safe: an earlier time
  const refused = await selectUntaken(db, { sentBefore, minedMs, max: watchedMax })
  const faults: Fault[] = [
    ...stuck.map(({ payout, reason, failure }): Fault => {
      const why = reason === 'failed' ? { why: sayFailed(failure ?? { result: null }) } : {}
      return { kind: 'payout-stuck', subject: { payout }, fields: { payout, reason, ...why } }
    }),
    ...unknownFaults(unknown, restoredAt !== null),
    ...shortages.map(({ cuy, ...fields }): Fault => {
      return { kind: 'payout-wallet-low', subject: cuy === null ? {} : { cuy }, fields: { cuy, ...fields } }
    }),
    ...refused.map(({ payout, answers }): Fault => {
      return { kind: 'payout-refused', subject: { payout }, fields: { payout, said: sayAnswers(answers, nodes) } }
    }),
  ]
  if (restoredAt !== null) {
    faults.push({ kind: 'payout-unknown', subject: {}, fields: { why: stopRules.restored.why } })
  }
  if (unsigned !== null) {
    const minutes = Math.floor((now - unsigned.since) / 60_000)
    faults.push({ kind: 'payouts-unsigned', subject: {}, fields: { payout: unsigned.payout, minutes } })
  }
  return { kinds, faults }
}

/**
 * The faults of transactions that no payout names, the oldest first: one for each, or a single one
 * with their list if the database is a restored copy, or if there are more than `unknownApartMax`.
 * A restored copy is told about them once the list is likely whole.
 */
function unknownFaults(txids: readonly Txid[], isRestored: boolean): readonly Fault[] {
  const kind = 'payout-unknown'
  const { why } = stopRules['unknown-transaction']
  const [oldest] = txids
  if (oldest === undefined || (!isRestored && txids.length <= unknownApartMax)) {
    return txids.map((txid): Fault => ({ kind, subject: { txid }, fields: { txid, why } }))
  }
  const fields = { why, transactions: txids.length, txids: txids.join(' ') }
  return [{ kind, subject: { txid: oldest }, fields, ...(isRestored ? { afterMs: listedAfterMs } : {}) }]
}
