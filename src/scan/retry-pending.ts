import type { Address } from '../addresses/address.ts'
import { blockSeconds } from '../chain/block.ts'
import { receiptsMax } from '../chain/limits.ts'
import type { UnixMs } from '../common/time.ts'
import { alarmUnreadable, type DecisionStores, decideCandidates, storeDecisions } from '../deposits/credit-deposits.ts'
import type { CreditKey } from '../deposits/deposit.ts'
import type { OwnedCandidate } from '../deposits/detect-transfers.ts'
import type { EvidenceSources, KnownDecimals } from '../deposits/gather-evidence.ts'
import type { PendingDeposits, PendingRecord } from '../deposits/pending-deposits.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'

/** Pending deposits tried in one tick, where its requests are enough: 18,000 in an hour. */
export const pendingPerTickMax = 300
/** Time between two tries of one pending deposit. */
export const pendingRetryMs = 60_000

/** What trying again needs. */
export interface RetryParts extends EvidenceSources, DecisionStores {
  readonly pending: Pick<PendingDeposits, 'keep' | 'remove' | 'takeDue' | 'putBack'>
  readonly currencies: Currencies
  readonly operators: ReadonlySet<Address>
}

/**
 * Tries to decide the pending deposits that are due, in groups whose receipts fit one query: credits those that are
 * proven now, removes those that are worth nothing, and keeps the others with their present reason.
 */
export async function retryPending(parts: RetryParts): Promise<void> {
  const now = parts.clock.now()
  const nextTry = (now + pendingRetryMs) as UnixMs
  const decimals: KnownDecimals = new Map()
  for (let tried = 0; tried < pendingPerTickMax; tried += receiptsMax) {
    const max = Math.min(receiptsMax, pendingPerTickMax - tried)
    const records = await parts.pending.takeDue({ dueBy: now, nextTry, max, uid: null })
    if (records.length === 0 || !(await tryAgain(parts, records, decimals))) return
  }
}

/** Tries one caller's pending deposits, up to one group, whether they are due or not, except for those just tried. */
export async function retryOwnPending(parts: RetryParts, uid: Uid): Promise<void> {
  const now = parts.clock.now()
  const nextTry = (now + pendingRetryMs) as UnixMs
  const dueBy = (nextTry - blockSeconds * 1000) as UnixMs
  const records = await parts.pending.takeDue({ dueBy, nextTry, max: receiptsMax, uid })
  await tryAgain(parts, records, new Map())
}

/**
 * Decides what it can and stores it. A group that the nodes do not answer for is halved, so that one pending deposit
 * delays no other; what the invocation has no requests left for is due again at once. False where none are left.
 */
async function tryAgain(
  parts: RetryParts,
  records: readonly PendingRecord[],
  decimals: KnownDecimals,
): Promise<boolean> {
  const owned = records.flatMap((record) => toOwned(record, parts) ?? [])
  const reasons = new Map(records.map((record) => [keyOf(record), record.reason]))
  const reasonOf = ({ candidate }: OwnedCandidate) => reasons.get(keyOf(candidate))
  // A dispute about one would make each of a group cost requests of its own.
  const disputed = owned.filter((one) => reasonOf(one) === 'disagreement').map((one) => [one])
  const groups = [owned.filter((one) => reasonOf(one) !== 'disagreement'), ...disputed]
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const { stopped, undecided, ...decisions } = await decideCandidates(parts, group, decimals)
    const changed = decisions.pending.filter((one) => reasons.get(keyOf(one)) !== one.reason)
    await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())
    alarmUnreadable(parts, changed)
    if (stopped?.kind === 'out-of-budget') {
      // The first one may cost more than an invocation has: it waits for its next try.
      const untried = [...undecided.slice(1), ...groups.flat()].map(({ candidate }) => candidate)
      await parts.pending.putBack(untried, parts.clock.now())
      return false
    }
    const half = Math.ceil(undecided.length / 2)
    if (undecided.length > 1) groups.unshift(undecided.slice(0, half), undecided.slice(half))
  }
  return true
}

/** Null where it cannot be decided under this configuration: its currency is not configured, or an operator sent it. */
function toOwned(record: PendingRecord, { currencies, operators }: RetryParts): OwnedCandidate | null {
  const currency = currencies.byId.get(record.cuy)
  if (currency === undefined || operators.has(record.from)) return null
  const { uid, txid, position, block, from, to, raw } = record
  return { uid, candidate: { txid, position, block, from, to, raw, currency } }
}

function keyOf({ txid, position }: CreditKey): string {
  return `${txid}:${position}`
}
