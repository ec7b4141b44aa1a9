import { ToolError } from '../tool-error.ts'
import type { NumberedFile } from './archive-files.ts'
import type { ArchiveLine, LineOf } from './lines.ts'
import { createReader, isFault, lineAt } from './segment.ts'
import type { CellReport } from './verify.ts'

/** Lines of an archive, both ends included. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

/** The row `archive` of a database: how many lines it knows, and where an epoch begins next. */
export interface ArchivePosition {
  readonly epoch: number
  readonly lines: number
  readonly common: number | null
}

/**
 * The lines that a restored database may lack. If the service has begun an epoch since, its first
 * segment names the last line that both have. If not, these are the lines that the row of the
 * database does not know. Throws a `ToolError` if the copy of the archive is too old to tell.
 */
export function lostRanges({ epochs, lines }: CellReport, row: ArchivePosition | null): readonly LineRange[] {
  const known = row?.lines ?? 0
  const newest = Math.max(1, ...epochs.map(({ epoch }) => epoch))
  if (row !== null && row.epoch > newest && (row.common === null || known > lines)) {
    throw new ToolError(
      'the database has begun an epoch that this copy of the archive has not',
      'copy the bucket again, then run this command again',
    )
  }
  const begins = row?.common == null ? [] : [{ from: row.common + 1, to: known - 1 }]
  return [...epochs, ...begins, { from: known, to: lines - 1 }].filter(({ from, to }) => from <= to)
}

/** The key of each kind of row that can be lacking, the same in each database. */
const keys = {
  address: ({ id, uid }: LineOf<'address'>) => [id, uid],
  order: ({ uid, reference }: LineOf<'order'>) => [uid, reference],
  decision: ({ txid, position, decision }: LineOf<'decision'>) => [txid, position, decision],
  entry: ({ uid, cuy, type, osn = '' }: LineOf<'entry'>) => [uid, cuy, type, osn],
  transfer: ({ txid, position }: LineOf<'transfer'>) => [txid, position],
  payout: ({ uid, cuy, osn }: LineOf<'payout'>) => [uid, cuy, osn],
  correction: ({ finalized, created_at }: LineOf<'correction'>) => [finalized, created_at],
}
export type LostKind = keyof typeof keys
export const lostKinds = Object.keys(keys) as readonly LostKind[] // safe: its own keys

/** A row that the database may lack, as its newest line has it. */
export interface LostRow<Kind extends LostKind> {
  readonly line: LineOf<Kind>
  /** The number of the line. */
  readonly number: number
  readonly key: readonly (string | number)[]
}
export type LostRows = { readonly [Kind in LostKind]: readonly LostRow<Kind>[] }

/** More rows are those of a whole database, which is made anew. */
const rowsMax = 200_000

/** Reads the rows in some lines of a verified archive, each kind in the order of lines. */
export function readLost(segments: readonly NumberedFile[], ranges: readonly LineRange[]): LostRows {
  const found = new Map<LostKind, Map<string, LostRow<LostKind>>>(lostKinds.map((kind) => [kind, new Map()]))
  const read = createReader()
  const isLost = (number: number) => ranges.some(({ from, to }) => number >= from && number <= to)
  let count = 0
  for (const [index, file] of segments.entries()) {
    const end = segments[index + 1]?.number ?? Number.POSITIVE_INFINITY
    if (!ranges.some(({ from, to }) => from < end && to >= file.number)) continue
    const segment = read(file)
    if (isFault(segment)) throw new Error(segment.why) // it was verified
    for (let i = 1; i < segment.lines.length; i += 1) {
      const line = lineAt(segment, i)
      const number = file.number + i
      if (isFault(line) || !isLost(number) || !isLostKind(line)) continue
      const { row: kind } = line
      const key = (keys[kind] as (one: typeof line) => LostRow<LostKind>['key'])(line) // safe: of this kind
      const ofKind = found.get(kind)
      const name = JSON.stringify(key)
      if (ofKind?.has(name) === false) count += 1
      if (count > rowsMax) {
        const next = 'restore a newer copy, if there is one: this one lacks a whole database'
        throw new ToolError(`the archive has more than ${rowsMax} rows that this database may lack`, next)
      }
      // an order or a payout is put back where it was asked for, with the newest content
      ofKind?.set(name, { line, number: ofKind.get(name)?.number ?? number, key })
    }
  }
  const rows = lostKinds.map((kind) => [kind, [...(found.get(kind)?.values() ?? [])]])
  return Object.fromEntries(rows) as LostRows // safe: all kinds
}

type LostLine = { [Kind in LostKind]: LineOf<Kind> }[LostKind]

/** Recharges are named by their transfers. */
function isLostKind(line: ArchiveLine): line is LostLine {
  return Object.hasOwn(keys, line.row) && !(line.row === 'entry' && line.transfer_id !== undefined)
}
