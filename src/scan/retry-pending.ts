import type { UnixMs } from '../common/time.ts'
import type { Candidate, Deposit } from '../deposits/deposit.ts'
import { decideCandidates, type EvidenceSources, type KnownDecimals } from '../deposits/gather-evidence.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { LedgerWriter, PendingRecord } from '../ledger/ledger-store.ts'

/** Pending deposits tried in one scan. Each can cost three requests. */
export const pendingPerScanMax = 10
/** Time between two tries of one pending deposit. */
export const pendingRetryMs = 60_000

/** What trying again needs. */
export interface RetryParts extends EvidenceSources {
  readonly writer: LedgerWriter
  readonly currencies: Currencies
}

/**
 * Tries to decide the pending deposits that are due: credits those that are proven now, removes those that are
 * worth nothing, keeps the others with their present reason. Each is taken and tried by itself, so that neither one that
 * can't be decided nor an invocation that runs out of requests keeps the ones behind it waiting for ever.
 */
export async function retryPending(parts: RetryParts): Promise<void> {
  const now = parts.clock.now()
  const nextTry = (now + pendingRetryMs) as UnixMs
  const decimals: KnownDecimals = new Map()
  for (let tried = 0; tried < pendingPerScanMax; tried++) {
    const [record] = await parts.writer.takeDue(now, nextTry, 1)
    if (record === undefined) return
    const candidate = toCandidate(record, parts.currencies)
    if (candidate === null) continue // its currency is not configured any more: kept, and decided when it is again
    const { verdicts, stopped } = await decideCandidates(parts, [{ candidate, uid: record.uid }], decimals)
    const deposits: Deposit[] = []
    for (const verdict of verdicts) {
      if (verdict.kind === 'deposit') deposits.push(verdict.deposit)
      else if (verdict.kind === 'refused') await parts.writer.removePending([record])
      else if (verdict.pending.reason !== record.reason) await parts.writer.keepPending([verdict.pending], now)
    }
    if (deposits.length > 0) await parts.writer.credit(deposits, parts.clock.now())
    if (stopped?.kind === 'out-of-budget') return
  }
}

function toCandidate(record: PendingRecord, currencies: Currencies): Candidate | null {
  const currency = currencies.byId.get(record.cuy)
  if (currency === undefined) return null
  const { txid, position, block, from, to, raw } = record
  return { txid, position, block, from, to, raw, currency }
}
