import { DatabaseSync } from 'node:sqlite'
import type { BookContext, BookCounts, BookPart, PendingKind, Takers } from './book-part.ts'
import { type ArchivedCurrencies, currencyOf, nextCurrencies } from './currencies.ts'
import { takeDeposits } from './deposits.ts'
import { takeEntries } from './entries.ts'
import type { ArchiveLine } from './lines.ts'
import { takePayouts } from './payouts.ts'
import { WrongLine } from './wrong-line.ts'

/** The books of one cell, as the lines of its archive make them. */
export interface Books {
  /** Takes the next true line with its number. Throws a `WrongLine` if the line cannot be right. */
  take(line: ArchiveLine, number: number): void
  readonly counts: Readonly<BookCounts>
  close(): void
}

/**
 * Memory for the tables, in KiB. What does not fit is in a temporary file, so that an archive of
 * any size is checked in the same memory.
 */
const cacheKib = 32 * 1024

const tables = `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${cacheKib};
PRAGMA temp_store = FILE; PRAGMA locking_mode = EXCLUSIVE;
CREATE TABLE wallet (id INTEGER PRIMARY KEY, uid INTEGER, cuy INTEGER, balance INTEGER, entries INTEGER,
  of_type TEXT);
CREATE UNIQUE INDEX wallet_owner ON wallet (uid, cuy);
CREATE TABLE entry (key TEXT PRIMARY KEY, amount INTEGER) WITHOUT ROWID;
CREATE TABLE decision (key TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID;
CREATE TABLE address (id INTEGER PRIMARY KEY, uid INTEGER, address TEXT UNIQUE);
CREATE TABLE transfer (id INTEGER PRIMARY KEY, version INTEGER, key TEXT UNIQUE, created INTEGER, uid INTEGER,
  cuy INTEGER, state TEXT, amount INTEGER, entry INTEGER, to_address TEXT, line INTEGER);
CREATE TABLE payout (id INTEGER PRIMARY KEY, version INTEGER, key TEXT UNIQUE, uid INTEGER, cuy INTEGER, osn TEXT,
  amount INTEGER, fee INTEGER, state TEXT, txid TEXT, height INTEGER);
CREATE TABLE payment (id INTEGER PRIMARY KEY, version INTEGER, txid TEXT UNIQUE, payout INTEGER, ended TEXT,
  height INTEGER);
CREATE INDEX payment_payout ON payment (payout);
CREATE TABLE pending (kind TEXT, id INTEGER, line INTEGER, PRIMARY KEY (kind, id)) WITHOUT ROWID;
BEGIN`

/** Opens empty books. */
export function openBooks(): Books {
  const db = new DatabaseSync('') // a file of its own, which SQLite removes
  db.exec(tables)
  const prepare = (sql: string) => db.prepare(sql)
  const counts: BookCounts = { entries: 0, credits: 0, paid: 0, completeTo: -1 }
  let currencies: ArchivedCurrencies = new Map()
  const addPending = prepare('INSERT OR REPLACE INTO pending VALUES (?, ?, ?)')
  const context: BookContext = {
    counts,
    prepare,
    currency: (cuy) => currencyOf(currencies, cuy),
    later: (kind, id, line) => addPending.run(kind, id, line),
  }
  const parts: readonly BookPart[] = [takeEntries(context), takeDeposits(context), takePayouts(context)]
  const complete = createComplete(context, parts)
  const own: Takers = {
    configuration: (line) => {
      currencies = nextCurrencies(currencies, line)
    },
    scan: (_, number) => complete(number),
  }
  const all = [own, ...parts.map(({ takers }) => takers)]
  return {
    counts,
    take: (line, number) => {
      for (const takers of all) takerOf(takers, line)?.(line, number)
    },
    close: () => db.close(),
  }
}

/** The function that takes this line, if there is one. */
function takerOf(takers: Takers, { row }: ArchiveLine) {
  return takers[row] as ((line: ArchiveLine, number: number) => void) | undefined // safe: it is of this kind
}

/** The checks that are made where the archive is complete, at a line of the kind `scan`. */
function createComplete({ counts, prepare }: BookContext, parts: readonly BookPart[]): (line: number) => void {
  const selectPending = prepare('SELECT kind, id, line FROM pending ORDER BY line')
  const removePending = prepare('DELETE FROM pending')
  return (number) => {
    for (const { kind, id, line } of selectPending.iterate() as Iterable<{
      kind: PendingKind
      id: number
      line: number
    }>) {
      for (const { checks } of parts) checkAs(line, () => checks?.[kind]?.(id))
    }
    removePending.run()
    for (const { whole } of parts) whole?.()
    counts.completeTo = number
  }
}

/** Runs a check whose fault is one of an earlier line. */
function checkAs(line: number, check: () => void): void {
  try {
    check()
  } catch (error) {
    throw error instanceof WrongLine ? new WrongLine(error.message, error.line ?? line) : error
  }
}
