import type { ReadDatabase } from '../d1/database.ts'
import type { ReaderPlace } from './position.ts'
import { readByKeys } from './read.ts'
import { linedTables, type RowKind, type StoredRow, writeLine } from './rows.ts'

/**
 * Compares the lines of a segment with the database. `had`: how many of the first ones it has, too.
 * `position`: where a reader is after these.
 */
export async function compareWithDatabase(
  db: ReadDatabase,
  lines: readonly string[],
  from: ReaderPlace,
): Promise<{ readonly had: number; readonly position: ReaderPlace }> {
  const parsed = lines.map((line) => JSON.parse(line) as StoredRow & { readonly row: string })
  const wanted = new Map<RowKind, (readonly unknown[])[]>()
  for (const line of parsed) {
    const kind = rowKindOf(line)
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
  let { event } = from
  for (const [i, line] of parsed.entries()) {
    const kind = rowKindOf(line)
    if (kind === null) continue
    if (!isHad(kind, line, stored.get(nameOf(kind, line)), removed)) {
      return { had: i, position: { ...from, event } }
    }
    if (kind === 'entry' || kind === 'event') event = Number(line.id)
  }
  return { had: lines.length, position: { ...from, event } }
}

/** Null for lines that are no row of a table. */
function rowKindOf({ row }: { readonly row: string }): RowKind | null {
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
    return kind === 'event' ? Number(line.id) <= removed : kind === 'transfer' && line.state === 'dropped'
  }
  const { fixed } = linedTables[kind]
  if (fixed === null) return JSON.stringify(stored) === JSON.stringify(line)
  const isSame = fixed.every((name) => line[name] === undefined || stored[name] === line[name])
  return isSame && Number(stored.version ?? 0) >= Number(line.version ?? 0)
}
