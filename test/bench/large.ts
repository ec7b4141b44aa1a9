import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { root } from '../support/project.ts'
import { firstHeight } from './mainnet.ts'
import { historyUid, seededAddress } from './seeds.ts'

/** How many rows a large database has. */
export interface LargeCounts {
  /** Entries of the ledger, deposits and posted ones together. */
  readonly entries: number
  readonly users: number
  /** Entries of one user, `historyUid`. They are a part of `entries`. */
  readonly history: number
}

/** The bytes of rows, with their parts of the indexes, and how fast the database was filled. */
export interface LargeSizes {
  /** Bytes of the address, the wallet and the holding of a user with one currency. */
  readonly user: number
  /** Bytes of a deposit and its entry, once its events are removed. */
  readonly deposit: number
  /** Bytes of a deposit that was seen before it was final, with its entry and its events. */
  readonly depositWithEvents: number
  /** Bytes of an entry that a backend has posted. */
  readonly posted: number
  /** Bytes of the database's file, with all events. */
  readonly file: number
  /**
   * Deposits per second that SQLite stores in this process: with the database's triggers, without
   * the service's code.
   */
  readonly depositsPerSecond: number
}

/** The part of all entries that are deposits. */
const depositPart = 0.8
const startMs = 1_755_000_000_000
const endMs = 1_790_000_000_000
/**
 * When the holdings are due to be compared with the chain: not in this century, because a
 * comparison adds requests to a tick, whatever the size.
 */
const neverDueMs = 4_102_444_800_000

/**
 * Fills a new database with years of use, by the triggers of the migrations: users, their deposits
 * in USDT, and payments.
 */
export function fillLarge(path: string, { entries, users, history }: LargeCounts): LargeSizes {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA synchronous = off; PRAGMA journal_mode = off; PRAGMA cache_size = -2000000')
  const folder = `${root}migrations/`
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()) {
    db.exec(readFileSync(folder + file, 'utf8'))
  }
  db.exec(`INSERT INTO scan (id, height, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at)
    VALUES (1, -1, -1, 0, ${startMs}, ${startMs}, ${startMs}, ${startMs})`)
  addUsers(db, users)
  db.exec(`UPDATE scan SET height = ${firstHeight}, finalized = ${firstHeight}`)
  const deposits = Math.round((entries - history) * depositPart)
  const begin = performance.now()
  addDeposits(db, deposits, (n) => `1 + (${n} * 7919) % ${users}`, 0)
  const seconds = (performance.now() - begin) / 1000
  addPayments(db, entries - history - deposits, users)
  const before = bytesOf(db)
  addDeposits(db, history, () => `${historyUid}`, deposits, 'seen')
  db.exec(
    `UPDATE stored_transfer SET version = version + 1, state = 'credited', amount = 25000000, seconds = NULL WHERE state = 'seen'`,
  )
  const depositWithEvents = (bytesOf(db) - before) / history
  db.exec(`UPDATE stored_holding SET due_at = ${neverDueMs}`)
  // All addresses count as compared with the chain before, because a tick would compare new ones at
  // once.
  db.exec(`INSERT INTO compared (cuy, first_id, last_id) VALUES (1, 0, ${users + 1}), (2, 0, ${users + 1})`)
  db.exec('PRAGMA journal_mode = delete')
  const sizes = { ...sizesOf(db), depositWithEvents, depositsPerSecond: deposits / seconds }
  db.close()
  return sizes
}

/** Adds one address for each user. The last one is that of the user with the long history. */
function addUsers(db: DatabaseSync, users: number): void {
  const insert = db.prepare(`INSERT INTO stored_address (id, uid, address, issued_height, created_at)
    VALUES (?, ?, unhex(?), 0, ${startMs})`)
  db.exec('BEGIN')
  for (let i = 0; i <= users; i += 1) insert.run(i + 1, i < users ? i + 1 : historyUid, seededAddress(i))
  db.exec('COMMIT')
}

/**
 * Adds deposits. Txids and senders are scattered, as real ones are, so that their index entries
 * are, too. `uidOf` is SQL for the user of the n-th deposit.
 */
function addDeposits(
  db: DatabaseSync,
  count: number,
  uidOf: (n: string) => string,
  before: number,
  state: 'credited' | 'seen' = 'credited',
): void {
  const isSeen = state === 'seen'
  const insert =
    db.prepare(`WITH RECURSIVE numbers(n) AS (SELECT ${before} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1)
    INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state, amount,
      seconds, created_at, changed_at)
    SELECT unhex(printf('%08x%056x', (n * 2654435761) % 4294967296, n)), 0, 1 + n / 10, 2, uid,
      unhex(printf('%08x%032x', (n * 2246822519) % 4294967296, n)), address, '25000000', 0, '${state}',
      ${isSeen ? 0 : 25_000_000}, ${isSeen ? 57 : null}, at, at
    FROM (SELECT n, ${uidOf('n')} AS payee, ?2 + (n - ${before}) / ?3 AS at FROM numbers)
    JOIN stored_address ON uid = payee`)
  const [from] = db.prepare('SELECT coalesce(max(created_at), ?) AS at FROM flow').all(startMs)
  db.exec('BEGIN')
  insert.run(before + count, Number(from?.at), Math.max(1, Math.ceil(count / (endMs - startMs))))
  db.exec('COMMIT')
}

/** Adds payments of one unit each, by users that have deposits. */
function addPayments(db: DatabaseSync, count: number, users: number): void {
  const insert =
    db.prepare(`WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1)
    INSERT INTO posting (entries, posted_by, created_at)
    SELECT json_array(json_object('uid', 1 + (n * 7919) % ${users}, 'cuy', 2, 'type', 4, 'amount', -1, 'mark',
      'two cups', 'osn', printf('order-%012d', n))), 'shop', ${endMs} FROM numbers`)
  db.exec('BEGIN')
  insert.run(count)
  db.exec('COMMIT')
}

function bytesOf(db: DatabaseSync): number {
  const all = { ...db.prepare('PRAGMA page_count').get(), ...db.prepare('PRAGMA page_size').get() }
  return Number(all.page_count) * Number(all.page_size)
}

/** The bytes of a row, with its part of the table's indexes, and those of the file. */
function sizesOf(db: DatabaseSync): Pick<LargeSizes, 'user' | 'deposit' | 'posted' | 'file'> {
  const pages = db
    .prepare(
      `SELECT tbl_name AS name, sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema USING (name) GROUP BY tbl_name`,
    )
    .all()
  const perRow = (table: string) => {
    const bytes = Number(pages.find(({ name }) => name === table)?.bytes)
    return bytes / Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)
  }
  const posted = perRow('stored_flow')
  const user = perRow('stored_address') + perRow('wallet') + perRow('stored_holding')
  return { user, deposit: perRow('stored_transfer') + posted, posted, file: bytesOf(db) }
}
