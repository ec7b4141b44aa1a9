import type { UnixMs } from '../../worker/common/time.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { isSameContent } from './judge.ts'
import { type ShownPayout, textOfKey } from './payout.ts'

/** A journal is compared this far back, because a database can be restored to a copy of the last 30 days. */
export const restoreMs = 31 * 86_400_000

/** Transactions in the journal that the service lacks. */
export interface Lacking {
  /** Transactions of payouts that can be signed now. They are handed in (sent to the service) again. */
  readonly handIns: readonly { readonly payout: ShownPayout; readonly entry: JournalEntry }[]
  /** Actions for a person, one sentence for each payout. */
  readonly notes: readonly { readonly entry: JournalEntry; readonly why: string }[]
  /** How many payouts, asked for after the journal was begun, have a transaction that is not in this journal. */
  readonly foreign: number
}

export interface Comparison {
  readonly now: UnixMs
  /** Whether the service has stopped payouts. Then it lacks a transaction, which may be in the journal. */
  readonly isStopped: boolean
}

/** Compares a journal with `known`, the payouts that the service shows. After a restore the service lacks everything that came after its copy. */
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
    // More attempts mean that this transaction has ended. But while payouts are stopped, another signer's transaction may have ended, and this one may have
    // paid.
    else if (payout.attempts > entry.attempts && !(isStopped && payout.state === 'approved')) continue
    else if (payout.state === 'approved') lacking.handIns.push({ payout, entry })
    else note(`the service shows it as ${payout.state}${payout.txid === undefined ? '' : ` with txid ${payout.txid}`}`)
  }
  return lacking
}
