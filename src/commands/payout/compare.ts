import type { UnixMs } from '../../worker/common/time.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { isSameContent } from './judge.ts'
import { type ShownPayout, textOfKey } from './payout.ts'

/** How far back a journal is compared: a database can be restored to a copy of the last 30 days. */
export const restoreMs = 31 * 86_400_000

/** What the journal has and the service lacks. */
export interface Lacking {
  /** Transactions of payouts that can be signed: they go to the service again. */
  readonly handIns: readonly { readonly payout: ShownPayout; readonly entry: JournalEntry }[]
  /** What a person must do, a sentence for each payout. */
  readonly notes: readonly { readonly entry: JournalEntry; readonly why: string }[]
  /** How many payouts have a transaction that is not of this journal, though they were asked for since it was begun. */
  readonly foreign: number
}

/** How a comparison is made. */
export interface Comparison {
  readonly now: UnixMs
  /** Whether the service has stopped payouts: it lacks a transaction, which can be one of the journal. */
  readonly isStopped: boolean
}

/** Compares a journal with what the service knows: after a restore the service lacks what came after its copy. */
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
    // More attempts say that it has ended, or, while payouts are stopped, that another signer's has: then this one can have paid.
    else if (payout.attempts > entry.attempts && !(isStopped && payout.state === 'approved')) continue
    else if (payout.state === 'approved') lacking.handIns.push({ payout, entry })
    else note(`the service shows it as ${payout.state}${payout.txid === undefined ? '' : ` with txid ${payout.txid}`}`)
  }
  return lacking
}
