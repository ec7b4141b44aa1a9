import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { addLeaf, hashLeaf, type Tree } from '../../worker/archive/tree.ts'
import type { CellFiles, NumberedFile } from './archive-files.ts'
import { createRowWriter } from './rebuilt-rows.ts'
import { rebuildSums } from './rebuilt-sums.ts'
import { sha256 } from './seals.ts'
import { type ArchiveFault, createReader, type HeadLine, isFault, lineAt, type SegmentBytes } from './segment.ts'
import { createSqlFile, writeSql } from './sql-file.ts'
import { readTrueLines } from './true-lines.ts'
import { locate } from './verify.ts'
import { WrongLine } from './wrong-line.ts'

const migrations = join(import.meta.dirname, '../../../migrations')

/** The outcome of a rebuild. */
export interface Rebuilt {
  /** The height of the scan; null if it had not begun. */
  readonly height: number | null
  /** When the scan had last looked for blocks, in milliseconds. */
  readonly triedAt: number | null
  /** How many rows of some tables there are. */
  readonly rows: Readonly<Record<'stored_address' | 'stored_flow' | 'stored_transfer' | 'payout', number>>
}

/**
 * Writes the database of a verified archive as SQL into a new file, with the schema of the
 * migrations. `completeTo`: the number of the last line that is used. `at`: the time, in
 * milliseconds. The database continues the archive with a new epoch. Returns the first line that
 * the schema refuses.
 */
export function rebuildCell(files: CellFiles, completeTo: number, path: string, at: number): Rebuilt | ArchiveFault {
  const file = createSqlFile(path)
  const db = new DatabaseSync('') // a temporary file, which SQLite removes
  try {
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;
      PRAGMA temp_store = FILE; BEGIN`)
    const fault = fillDatabase(db, files, completeTo, at)
    if (fault === null) writeSql(db, file.write)
    else rmSync(path)
    return fault ?? describe(db)
  } catch (error) {
    rmSync(path)
    throw error
  } finally {
    file.close()
    db.close()
  }
}

function fillDatabase(db: DatabaseSync, files: CellFiles, completeTo: number, at: number): ArchiveFault | null {
  applyMigrations(db)
  const addTriggers = removeTriggers(db)
  const writer = createRowWriter(db)
  let newest = 0
  try {
    for (const { number, line } of readTrueLines(files.segments)) {
      if (number > completeTo) break
      newest = number
      writer.take(line)
    }
    writer.finish(at)
  } catch (error) {
    const why = refusalOf(error)
    if (why === null) throw error
    return { ...locate(files.segments, newest), why }
  }
  addTriggers()
  db.exec(rebuildSums)
  continueArchive(db, files.segments, completeTo)
  return null
}

/** Why a line cannot be stored; null if something else has failed. */
function refusalOf(error: unknown): string | null {
  if (error instanceof WrongLine) return error.message
  const isRefusal = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
  return isRefusal ? `the database refuses it: ${error.message}` : null
}

/** Applies the migrations, with the list of them that wrangler keeps. */
function applyMigrations(db: DatabaseSync): void {
  db.exec(`CREATE TABLE d1_migrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`)
  const applied = db.prepare('INSERT INTO d1_migrations (name) VALUES (?)')
  for (const name of readdirSync(migrations).sort()) {
    if (!name.endsWith('.sql')) continue
    db.exec(readFileSync(join(migrations, name), 'utf8'))
    applied.run(name)
  }
}

/** Removes all triggers: they are about steps, and the rows are as they were at last. */
function removeTriggers(db: DatabaseSync): () => void {
  const triggers = db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid`).all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  return () => {
    for (const { sql } of triggers) db.exec(String(sql))
  }
}

/**
 * Stores that the next segment follows the newest one that is there, and begins an epoch: what the
 * lines after `completeTo` say, the database does not have.
 */
function continueArchive(db: DatabaseSync, segments: readonly NumberedFile[], completeTo: number): void {
  const read = createReader()
  const complete = readWhole(
    read,
    segments.findLast(({ number }) => number <= completeTo),
  ).head.to
  const { head, segment } = readWhole(read, segments.at(-1))
  const before: Tree = { size: head.first, subtrees: head.tree.map((text) => Buffer.from(text, 'hex')) }
  const tree = segment.lines.reduce((so, line) => addLeaf(so, hashLeaf(line, sha256), sha256), before)
  const subtrees = tree.subtrees.map((one) => Buffer.from(one).toString('hex'))
  db.prepare(`INSERT INTO archive (id, epoch, lines, hash, tree, event, change, begun, common, written_at)
    VALUES (1, ?, ?, ?, ?, ?, 0, ?, ?, 0)`).run(
    head.epoch + 1,
    tree.size,
    segment.sha256,
    JSON.stringify(subtrees),
    complete.event,
    complete.event,
    completeTo,
  )
}

/** Reads a segment that was verified. */
function readWhole(
  read: ReturnType<typeof createReader>,
  file: NumberedFile | undefined,
): { readonly head: HeadLine; readonly segment: SegmentBytes } {
  const segment = file === undefined ? null : read(file)
  if (segment === null || isFault(segment)) throw new Error(`${file?.path} is no segment any more`)
  const head = lineAt(segment, 0)
  if (isFault(head) || head.row !== 'segment') throw new Error(`${file?.path} is no segment any more`)
  return { head, segment }
}

function describe(db: DatabaseSync): Rebuilt {
  const { height = null, tried_at = null } = db.prepare('SELECT height, tried_at FROM scan').get() ?? {}
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count)
  return {
    height: height === null ? null : Number(height),
    triedAt: tried_at === null ? null : Number(tried_at),
    rows: {
      stored_address: count('stored_address'),
      stored_flow: count('stored_flow'),
      stored_transfer: count('stored_transfer'),
      payout: count('payout'),
    },
  }
}
