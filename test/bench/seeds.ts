import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { printLine, root } from '../support/project.ts'
import { workDir } from './work-dir.ts'

/** The number of users with a few entries each in the ledger's database; their uids start at 1. */
export const userCount = 200
/** The user with a long history. */
export const longHistory = { uid: 900_001, flows: 1_000_000 } as const
/** The user with a short history. */
export const shortHistory = { uid: 900_002, flows: 100 } as const

const seedVersion = 3 // to be raised when this file writes other rows
const chunkRows = 50_000
const flowsStart = 1_790_000_000_000
/** With this finish time, no reconciliation is due during a measurement. */
const year2100 = 4_102_444_800_000

/**
 * A database with the real migrations, the wallets of `userCount` users, and those of the long and the short history.
 */
export function seedLedger(): string {
  return seeded('ledger', (db) => {
    issueAddresses(db, userCount)
    const users = Array.from({ length: userCount }, (_, i) => ({ uid: i + 1, flows: 20 }))
    for (const { uid, flows } of [...users, shortHistory, longHistory]) {
      for (const cuy of uid === longHistory.uid || uid === shortHistory.uid ? [2] : [1, 2])
        addFlows(db, uid, cuy, flows)
    }
  })
}

/** A database with `count` watched addresses, one for each user. With `reconciled`, no reconciliation is due. */
export function seedWatched(count: number, reconciled: boolean): string {
  return seeded(`watched-${count}${reconciled ? '-reconciled' : ''}`, (db) => {
    issueAddresses(db, count)
    if (reconciled) {
      for (const cuy of [1, 2]) {
        db.prepare(
          `INSERT INTO reconciliation (cuy, started_at, finished_at, cursor, last_index) VALUES (?, ?, ?, ?, ?)`,
        ).run(cuy, year2100, year2100, -1, -1)
      }
    }
  })
}

/** The tables without their triggers, for raw inserts. */
export function seedBare(): string {
  return seeded('bare', (db) => {
    const triggers = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'trigger'`).all()
    for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`)
  })
}

/** A database with no row. */
export function seedEmpty(): string {
  return seeded('empty', () => undefined)
}

/** The address at an index of the seeded databases. Addresses are scattered like real ones, and so are look-ups. */
export function watchedAddress(index: number): string {
  const part = (factor: number) => (((index + 1) * factor) % 4_294_967_296).toString(16).padStart(8, '0')
  return part(2_654_435_761) + part(40_503) + (index + 1).toString(16).padStart(24, '0')
}

const addressSql = `printf('%08x%08x%024x', ((n + 1) * 2654435761) % 4294967296, ((n + 1) * 40503) % 4294967296, n + 1)`

function seeded(name: string, fill: (db: DatabaseSync) => void): string {
  const migrations = readdirSync(`${root}migrations`)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => readFileSync(`${root}migrations/${file}`, 'utf8'))
  const mark = createHash('sha256')
    .update(JSON.stringify([seedVersion, migrations]))
    .digest('hex')
    .slice(0, 12)
  const folder = `${workDir}seeds/`
  const path = `${folder}${name}-${mark}.sqlite`
  if (existsSync(path)) return path
  printLine(`  seeding ${name} …`)
  mkdirSync(folder, { recursive: true })
  const unfinished = `${path}.new`
  rmSync(unfinished, { force: true })
  const db = new DatabaseSync(unfinished)
  db.exec('PRAGMA synchronous = off; PRAGMA journal_mode = memory')
  for (const sql of migrations) db.exec(sql)
  fill(db)
  db.exec('PRAGMA journal_mode = delete')
  db.close()
  renameSync(unfinished, path)
  return path
}

/** Adds rows in chunks, one transaction each, and prints the progress of long work. */
function inChunks(db: DatabaseSync, rows: number, what: string, add: (from: number, count: number) => void): void {
  for (let from = 0; from < rows; from += chunkRows) {
    const count = Math.min(chunkRows, rows - from)
    db.exec('BEGIN')
    add(from, count)
    db.exec('COMMIT')
    if (rows >= 4 * chunkRows && (from / chunkRows) % 4 === 3) printLine(`  ${from + count} of ${rows} ${what}`)
  }
}

const numbers = `WITH RECURSIVE numbers(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1 + ?2)`

function issueAddresses(db: DatabaseSync, count: number): void {
  const insert = db.prepare(`${numbers} INSERT INTO address (derivation_index, uid, address, issued_height, created_at)
    SELECT n, n + 1, ${addressSql}, 0, ${flowsStart} + n FROM numbers`)
  inChunks(db, count, 'addresses', (from, rows) => insert.run(from, rows))
}

/** Adjustments of one unit each, with references as long as a token deposit's. The triggers run for every row. */
function addFlows(db: DatabaseSync, uid: number, cuy: number, count: number): void {
  const before = Number(db.prepare('SELECT count(*) AS n FROM flow').get()?.n)
  const insert = db.prepare(`${numbers} INSERT INTO posting (id, entries, posted_by, created_at)
    SELECT 1, json_array(json_object('uid', ?3, 'cuy', ?4, 'type', 9, 'amount', 1, 'mark', 'seeded',
      'osn', printf('%032x%032x:0', (n * 2654435761) % 4294967296, n))), 'bench', ${flowsStart} + ?5 + n
    FROM numbers`)
  inChunks(db, count, 'entries', (from, rows) => insert.run(from, rows, uid, cuy, before))
}
