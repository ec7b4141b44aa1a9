import { dayMs, type UnixMs } from '../../worker/common/time.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { isSameContent } from './judge.ts'
import { type ShownPayout, textOfKey } from './payout.ts'

/**
 * Only the journal's entries of this time are compared, in milliseconds: D1 restores copies that
 * are at most 30 days old.
 */
export const restoreMs = 31 * dayMs

/** Transactions in the journal that the service lacks. */
export interface Lacking {
  /**
   * Transactions of approved payouts. The signer hands them in (sends them to the service) again.
   */
  readonly handIns: readonly { readonly payout: ShownPayout; readonly entry: JournalEntry }[]
  /** Payouts about which a person must act. `why` is one sentence for each. */
  readonly notes: readonly { readonly entry: JournalEntry; readonly why: string }[]
  /**
   * How many payouts that were asked for after this journal was begun have a transaction and no
   * entry in this journal: another journal must have it.
   */
  readonly foreign: number
}

export interface Comparison {
  readonly now: UnixMs
  /**
   * Whether the service has stopped payouts. If so, the service may lack a transaction that the
   * journal has.
   */
  readonly isStopped: boolean
}

/**
 * Compares a journal with `known`, the payouts that the service shows. A restored service lacks
 * everything that is newer than the restored copy.
 */
export function findLacking(
  { entries, of, startedAt }: Pick<Journal, 'entries' | 'of' | 'startedAt'>,
  known: readonly ShownPayout[],
  { now, isStopped }: Comparison,
): Lacking {
  const byKey = new Map(known.map((payout) => [textOfKey(payout), payout]))
  const isForeign = (payout: ShownPayout) =>
    payout.txid !== undefined && of(payout).length === 0 && Date.parse(payout.created_at) > startedAt
  const lacking = {
    foreign: known.filter(isForeign).length,
    handIns: [] as { payout: ShownPayout; entry: JournalEntry }[],
    notes: [] as { entry: JournalEntry; why: string }[],
  }
  for (const entry of entries) {
    if (Date.parse(entry.created_at) < now - restoreMs || of(entry).at(-1) !== entry) continue
    const payout = byKey.get(textOfKey(entry))
    const note = (why: string) => lacking.notes.push({ entry, why })
    if (payout === undefined) note('the service does not know it: the backend must ask for it again, with the same key')
    else if (!isSameContent(payout, entry))
      note(`the service has ${payout.amt} to ${payout.to} under its key: find out why`)
    else if (payout.txid === entry.txid) continue
    // A higher number of attempts normally means that the entry's transaction has ended. But while
    // payouts are stopped, the ended one may be another signer's, and the entry's transaction may
    // have paid. So the signer hands it in.
    else if (payout.attempts > entry.attempts && !(isStopped && payout.state === 'approved')) continue
    else if (payout.state === 'approved') lacking.handIns.push({ payout, entry })
    else note(`the service shows it as ${payout.state}${payout.txid === undefined ? '' : ` with txid ${payout.txid}`}`)
  }
  return lacking
}
