import type { Address } from '../chain/address.ts'
import { blockSeconds, type Txid } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import {
  alarmUnreadable,
  type DecisionStores,
  type Decisions,
  decideCandidates,
  storeDecisions,
} from '../deposits/credit-deposits.ts'
import type { CreditKey } from '../deposits/deposit.ts'
import type { OwnedCandidate } from '../deposits/detect-transfers.ts'
import type { EvidenceSources, KnownDecimals } from '../deposits/gather-evidence.ts'
import type { PendingDeposits, PendingRecord } from '../deposits/pending-deposits.ts'
import { toPending } from '../deposits/verify-deposit.ts'
import type { Currencies } from '../ledger/currencies.ts'

/** Candidates that are proven together: their receipts take five queries, and their blocks are read once each. */
export const takenMax = 90
/** Groups of `takenMax` that one tick proves, where its requests are enough: 540 candidates. */
export const takesPerTick = 6
/** Time between two tries of one candidate. It is due in the next minute too where a tick read for as long as it may before. */
export const proofRetryMs = 40_000

/** What proving needs. */
export interface ProveParts extends EvidenceSources, DecisionStores {
  readonly pending: Pick<PendingDeposits, 'keep' | 'remove' | 'refuse' | 'takeDue' | 'putBack'>
  readonly currencies: Currencies
  readonly operators: ReadonlySet<Address>
}

/** The due candidates of all callers, in turns (`PendingDeposits.takeDue`). Returns why it stopped early, or null. */
export function proveQueue(parts: ProveParts, takes: number): Promise<ChainFailure | null> {
  return prove(parts, { uid: null, txid: null, dueInMs: 0 }, takes)
}

/** One caller's candidates, up to `takenMax`, whether they are due or not, except for those just tried. */
export function proveOwn(parts: ProveParts, uid: Uid): Promise<ChainFailure | null> {
  return prove(parts, { uid, txid: null, dueInMs: proofRetryMs - blockSeconds * 1000 }, 1)
}

/** One caller's candidates in one transaction. */
export function proveTransaction(parts: ProveParts, uid: Uid, txid: Txid): Promise<ChainFailure | null> {
  return prove(parts, { uid, txid, dueInMs: 0 }, 1)
}

/**
 * Decides one caller's candidates in a transaction that the queue does not have. What is worth nothing is not stored, and what
 * cannot be decided only joins the queue, which decides it in its turn: a question makes no event but that of a credit.
 */
export async function proveUnqueued(
  parts: ProveParts,
  uid: Uid,
  txid: Txid,
  owned: readonly OwnedCandidate[],
): Promise<Decisions & { readonly outcome: 'credited' | 'halted' }> {
  const decisions = await decideCandidates(parts, owned)
  const { deposits, pending, undecided } = decisions
  const now = parts.clock.now()
  const open = [...undecided.map((one) => toPending(one, 'queued')), ...pending]
  if (open.length > 0) {
    const queued = open.map((one) => ({ ...one, reason: 'queued' as const }))
    await parts.pending.keep(queued, now)
    // They were tried now.
    const query = { uid, txid, dueBy: now, nextTry: nextTryAfter(now) }
    await parts.pending.takeDue({ ...query, max: takenMax, accepted: acceptedIn(parts) })
  }
  const stored = deposits.filter(({ outcome }) => outcome === 'credited' || outcome === 'too-large')
  return { ...decisions, outcome: await parts.deposits.credit(stored, now) }
}

const nextTryAfter = (now: UnixMs) => (now + proofRetryMs) as UnixMs // safe: a later time

/** The currencies whose deposits are credited. */
function acceptedIn({ currencies }: Pick<ProveParts, 'currencies'>): readonly CurrencyId[] {
  return currencies.list.filter(({ retired }) => !retired).map(({ cuy }) => cuy)
}

/**
 * Takes candidates from the queue and decides them. Nothing but this file credits. Proven ones are credited, worthless ones are
 * stored as refusals, and the others keep their place with their present reason.
 */
async function prove(
  parts: ProveParts,
  { dueInMs, ...which }: { readonly uid: Uid | null; readonly txid: Txid | null; readonly dueInMs: number },
  takes: number,
): Promise<ChainFailure | null> {
  const now = parts.clock.now()
  const nextTry = nextTryAfter(now)
  const dueBy = (now + dueInMs) as UnixMs
  const accepted = acceptedIn(parts)
  const decimals: KnownDecimals = new Map()
  let stopped: ChainFailure | null = null
  for (let taken = 0; taken < takes && stopped?.kind !== 'out-of-budget'; taken += 1) {
    const records = await parts.pending.takeDue({ ...which, dueBy, nextTry, max: takenMax, accepted })
    if (records.length === 0) break
    stopped = (await decide(parts, records, decimals)) ?? stopped
  }
  return stopped
}

/** Decides what it can and stores it. What the invocation has no requests left for is due again at once. */
async function decide(
  parts: ProveParts,
  records: readonly PendingRecord[],
  decimals: KnownDecimals,
): Promise<ChainFailure | null> {
  const reasons = new Map(records.map((record) => [keyOf(record), record.reason]))
  const owned = records.flatMap((record) => toOwned(record, parts) ?? [])
  // Disputed ones are decided alone: with one of them in a group, each receipt of the group would be read by itself.
  const isDisputed = ({ candidate }: OwnedCandidate) => reasons.get(keyOf(candidate)) === 'disagreement'
  const disputed = owned.filter(isDisputed).map((one) => [one])
  const groups = [owned.filter((one) => !isDisputed(one)), ...disputed].filter(({ length }) => length > 0)
  let failure: ChainFailure | null = null
  for (const [i, group] of groups.entries()) {
    const { stopped, undecided, ...decisions } = await decideCandidates(parts, group, decimals)
    const changed = decisions.pending.filter((one) => reasons.get(keyOf(one)) !== one.reason)
    // First: once its reason is stored, it has changed for the last time.
    await alarmUnreadable(parts, changed)
    await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())
    failure = stopped ?? failure
    if (stopped?.kind !== 'out-of-budget') continue
    // The first one may cost more than an invocation has: it waits for its next try.
    const untried = [...undecided.slice(1), ...groups.slice(i + 1).flat()].map(({ candidate }) => candidate)
    await parts.pending.putBack(untried, parts.clock.now())
    return stopped
  }
  return failure
}

/** Null where it cannot be decided under this configuration: its currency is not configured, or an operator sent it. */
function toOwned(record: PendingRecord, { currencies, operators }: ProveParts): OwnedCandidate | null {
  const currency = currencies.byId.get(record.cuy)
  if (currency === undefined || operators.has(record.from)) return null
  const { uid, txid, position, block, from, to, raw } = record
  return { uid, candidate: { txid, position, block, from, to, raw, currency } }
}

function keyOf({ txid, position }: CreditKey): string {
  return `${txid}:${position}`
}
