import type { UnixMs } from '../common/time.ts'
import { type DecisionStores, decideCandidates, storeDecisions } from '../deposits/credit-deposits.ts'
import type { Candidate } from '../deposits/deposit.ts'
import type { EvidenceSources, KnownDecimals } from '../deposits/gather-evidence.ts'
import type { PendingDeposits, PendingRecord } from '../deposits/pending-deposits.ts'
import type { Currencies } from '../ledger/currencies.ts'

/** Pending deposits tried in one scan. Each can cost three requests. */
export const pendingPerScanMax = 10
/** Time between two tries of one pending deposit. */
export const pendingRetryMs = 60_000

/** What trying again needs. */
export interface RetryParts extends EvidenceSources, DecisionStores {
  readonly pending: Pick<PendingDeposits, 'keep' | 'remove' | 'takeDue'>
  readonly currencies: Currencies
}

/**
 * Tries to decide the pending deposits that are due: credits those that are proven now, removes those that are worth
 * nothing, and keeps the others with their present reason. Each is taken and tried alone, so that neither one that
 * cannot be decided nor an invocation without requests left delays the ones behind it for ever.
 */
export async function retryPending(parts: RetryParts): Promise<void> {
  const now = parts.clock.now()
  const nextTry = (now + pendingRetryMs) as UnixMs
  const decimals: KnownDecimals = new Map()
  for (let tried = 0; tried < pendingPerScanMax; tried++) {
    const [record] = await parts.pending.takeDue(now, nextTry, 1)
    if (record === undefined) return
    const candidate = toCandidate(record, parts.currencies)
    if (candidate === null) continue // its currency is not configured now: kept until it is again
    const { stopped, ...decisions } = await decideCandidates(parts, [{ candidate, uid: record.uid }], decimals)
    const changed = decisions.pending.filter(({ reason }) => reason !== record.reason)
    await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())
    if (stopped?.kind === 'out-of-budget') return
  }
}

function toCandidate(record: PendingRecord, currencies: Currencies): Candidate | null {
  const currency = currencies.byId.get(record.cuy)
  if (currency === undefined) return null
  const { txid, position, block, from, to, raw } = record
  return { txid, position, block, from, to, raw, currency }
}
