import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Address } from '../../src/worker/chain/address.ts'
import { root } from '../support/project.ts'
import { workDir } from './bundles.ts'
import { uidIn } from './cells.ts'

/** The number of users with a few entries each in the ledger's database. */
export const userCount = 200
const historyOffset = 900_000
/** The user with the long history, in a database whose first user is 1. */
export const historyUid = 1 + historyOffset

// to be raised when this file writes other rows: it is part of the files' names, so old files are
// no longer used
const seedVersion = 4
const startMs = 1_790_000_000_000

/**
 * Makes a database with the wallets of `userCount` users from `firstUid` on, and with one more user
 * who has `entries` entries. Returns its path.
 */
export function seedLedger(entries: number, firstUid = 1): string {
  return seeded(`ledger-${entries}-${firstUid}`, (db) => {
    for (let i = 0; i < userCount; i += 1) for (const cuy of [1, 2]) addEntries(db, firstUid + i, cuy, 20)
    addEntries(db, firstUid + historyOffset, 2, entries)
  })
}

/**
 * Makes a database with `count` issued addresses, one for each user of a cell. Cells count from 0,
 * and each has other addresses. Returns its path.
 */
export function seedAddresses(count: number, cell = 0): string {
  return seeded(`addresses-${count}-${cell}`, (db) => {
    const insert = db.prepare(`INSERT INTO stored_address (id, uid, address, issued_height, created_at)
      VALUES (?, ?, unhex(?), 0, ${startMs})`)
    db.exec('BEGIN')
    for (let i = 0; i < count; i += 1) insert.run(i + 1, uidIn(cell, i), seededAddress(cell * count + i))
    db.exec('COMMIT')
  })
}

/** Makes a database of the tables without their triggers, for raw inserts. Returns its path. */
export function seedBare(): string {
  return seeded('bare', (db) => {
    const triggers = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'trigger'`).all()
    for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`)
  })
}

/**
 * The address at an index of the seeded databases. Neighbouring indices have distant addresses, as
 * real addresses are, so that look-ups are scattered.
 */
export function seededAddress(index: number): Address {
  return createHash('sha256').update(`user ${index}`).digest('hex').slice(0, 40) as Address // 40 hex digits
}

function seeded(name: string, fill: (db: DatabaseSync) => void): string {
  const migrations = readdirSync(`${root}migrations`)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => readFileSync(`${root}migrations/${file}`, 'utf8'))
  const content = JSON.stringify([seedVersion, migrations])
  const mark = createHash('sha256').update(content).digest('hex').slice(0, 12)
  const folder = `${workDir}seeds/`
  const path = `${folder}${name}-${mark}.sqlite`
  if (existsSync(path)) return path
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

/**
 * Adds adjustments of one unit each, with an `osn` as long as a token deposit's. The triggers run
 * for every row.
 */
function addEntries(db: DatabaseSync, uid: number, cuy: number, count: number): void {
  const before = Number(db.prepare('SELECT count(*) AS n FROM flow').get()?.n)
  const insert =
    db.prepare(`WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1)
    INSERT INTO posting (entries, posted_by, created_at)
    SELECT json_array(json_object('uid', ?2, 'cuy', ?3, 'type', 9, 'amount', 1, 'mark', 'seeded',
      'osn', printf('%032x%032x:0', (n * 2654435761) % 4294967296, n))), 'bench', ${startMs} + ?4 + n
    FROM numbers`)
  db.exec('BEGIN')
  insert.run(count, uid, cuy, before)
  db.exec('COMMIT')
}
