import type { ReadDatabase } from '../d1/database.ts'
import { readByKeys } from './read.ts'
import { linedTables, type RowKind, type StoredRow, writeLine } from './rows.ts'

/**
 * Whether the database has all lines of a segment. If it lacks one, it may have none of them so: a
 * row that changes stands in a segment as it was when that was made, before what it was made by.
 */
export async function hasAllLines(db: ReadDatabase, lines: readonly string[]): Promise<boolean> {
  const parsed = lines.map((line) => JSON.parse(line) as StoredRow & { readonly row: string })
  const wanted = new Map<RowKind, (readonly unknown[])[]>()
  for (const line of parsed) {
    const kind = tableOf(line)
    if (kind !== null) wanted.set(kind, [...(wanted.get(kind) ?? []), keyOfLine(kind, line)])
  }
  const { rows, removed, surroundings } = await readByKeys(db, wanted)
  const stored = new Map<string, StoredRow>()
  for (const [kind, list] of rows) {
    for (const row of list) {
      const line = JSON.parse(writeLine(kind, row, surroundings.scales)) as StoredRow
      stored.set(nameOf(kind, line), line)
    }
  }
  return parsed.every((line) => {
    const kind = tableOf(line)
    return kind === null || isHad(kind, line, stored.get(nameOf(kind, line)), removed)
  })
}

/** The table that a line is about; null if it is about none. */
function tableOf({ row }: { readonly row: string }): RowKind | null {
  if (row === 'removed') return 'transfer'
  return row in linedTables ? (row as RowKind) : null // safe: a name of that table
}

const keyOfLine = (kind: RowKind, line: StoredRow) => linedTables[kind].key.map(({ name }) => line[name])
const nameOf = (kind: RowKind, line: StoredRow) => `${kind} ${JSON.stringify(keyOfLine(kind, line))}`

/**
 * Whether a row of the database is that of a line, or what has become of it. A row that was
 * removed by its age was there.
 */
function isHad(kind: RowKind, line: StoredRow, stored: StoredRow | undefined, removed: number): boolean {
  if (stored === undefined) {
    return kind === 'event' ? Number(line.id) <= removed : line.row === 'removed' || line.state === 'dropped'
  }
  const { fixed } = linedTables[kind]
  // a transfer with its id is another one
  if (line.row === 'removed') return fixed?.every((name) => stored[name] === line[name]) === false
  if (fixed === null) return JSON.stringify(stored) === JSON.stringify(line)
  const isSame = fixed.every((name) => line[name] === undefined || stored[name] === line[name])
  return isSame && Number(stored.version ?? 0) >= Number(line.version ?? 0)
}
