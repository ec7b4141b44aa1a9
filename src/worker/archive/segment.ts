import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ChangedKind } from '../d1/archive-tables.ts'
import type { ArchivePlace, ArchiveState, ReaderPlace } from './position.ts'
import type { Reading, Surroundings } from './read.ts'
import { linedTables, type StoredRow, writeLine, writeRemoved } from './rows.ts'
import { addLeaf, hashLeaf, type Tree } from './tree.ts'

/** The format that the first line of a segment names: docs/decisions/0091-the-archive.md. */
const archiveFormat = 'tron-wallet-archive/1'
/** Most lines for rows in a segment, beside the first line, `configuration` and `scan`. */
export const segmentRowsMax = 1_000
/** Most bytes of a segment. */
export const segmentBytesMax = 1_000_000
/** At most as many bytes has the first line: its `tree` has a hash for each bit of a number. */
const firstLineBytesMax = 5_000

/** Lines that stand together, and the position of a reader that has written them. */
export interface Item {
  readonly lines: readonly string[]
  readonly to: ReaderPlace
}

/** A row of the database is missing, so that the archive must not go on. */
class MissingRow extends Error {
  constructor(id: number) {
    super(`the entry or event ${id} is missing in the database`)
  }
}

/**
 * The lines of at most `max` entries and events with what is new beside them, in the order of
 * commit. `isAll`: nothing else is new, which `reading` shows, because it has one row more. Throws
 * `MissingRow` if the numbers of entries and events have a hole.
 */
export function followItems(
  reading: Reading,
  from: ReaderPlace,
  begun: number,
  max: number,
): { readonly items: readonly Item[]; readonly isAll: boolean } {
  const { entries, events, changes, surroundings, removed, newest } = reading
  const found = [
    ...entries.map((row) => ({ kind: 'entry' as const, row, id: Number(row.id) })),
    ...events.map((row) => ({ kind: 'event' as const, row, id: Number(row.id) })),
  ].sort((a, b) => a.id - b.id)
  const happened = found.slice(0, max)
  const last = Math.max(found.at(-1)?.id ?? from.event, removed)
  if (found.length <= max && last < newest) throw new MissingRow(last + 1)
  const isAll = found.length <= max && changes.length <= max
  // what happened after a change that was not read must wait for it
  const until = changes.length <= max ? Number.POSITIVE_INFINITY : (changes.at(-1)?.after_event ?? 0)
  const find = createFinder(reading)
  const written = new Set<string>()
  /** The line of a row, unless it stands in this reading already or the row is gone. */
  const once = (kind: ChangedKind, row: StoredRow | undefined): readonly string[] => {
    const name = row === undefined ? '' : `${kind} ${keyText(kind, row)}`
    if (row === undefined || written.has(name)) return []
    written.add(name)
    return [writeLine(kind, row, surroundings.scales)]
  }
  const rest = [...changes]
  const items: Item[] = []
  let { event, change } = from
  const takeChanges = (before: number) => {
    for (let next = rest[0]; next !== undefined && next.after_event < before; next = rest[0]) {
      change = next.id
      const { kind, key } = next
      const lines = kind === 'removed' ? [writeRemoved(key)] : once(kind, find.byKey(kind, key))
      items.push({ lines, to: { event, change } })
      // a reader removes what a correction removes, so what was stored again stands again after it
      if (next.kind === 'correction') written.clear()
      rest.shift()
    }
  }
  for (const { kind, row, id } of happened) {
    if (id > until) break
    if (id !== event + 1 && event + 1 > removed) throw new MissingRow(event + 1)
    takeChanges(id)
    event = id
    const isCopied = id <= begun // what it is about was copied, or is in the list of changes
    const about = isCopied ? [] : find.about(kind, row).flatMap(([what, one]) => once(what, one))
    items.push({ lines: [...about, writeLine(kind, row, surroundings.scales)], to: { event, change } })
  }
  if (found.length <= max) takeChanges(Number.POSITIVE_INFINITY)
  return { items, isAll }
}

/**
 * The lines of rows that are copied; `to` of the last one has no `copy` if it was the last of all.
 */
export function copyItems(
  kind: ChangedKind,
  rows: readonly StoredRow[],
  { event, change }: ReaderPlace,
  of: Surroundings,
): Item[] {
  return rows.map((row) => ({
    lines: [writeLine(kind, row, of.scales)],
    to: { event, change, copy: [kind, ...(JSON.parse(keyText(kind, row)) as readonly unknown[])] },
  }))
}

/** The key of a row, as the list of changes has it. */
function keyText(kind: ChangedKind, row: StoredRow): string {
  return JSON.stringify(linedTables[kind].key.map(({ name }) => row[name]))
}

/** Finds rows of a reading: by the key of a change, or those that an entry or event is about. */
function createFinder({ rows }: Reading) {
  const byKey = new Map<string, StoredRow>()
  for (const [kind, list] of Object.entries(rows) as readonly (readonly [ChangedKind, readonly StoredRow[]])[]) {
    for (const row of list) byKey.set(`${kind} ${keyText(kind, row)}`, row)
  }
  const byPlace = new Map(rows.transfer.map((row) => [`${row.txid} ${row.position}`, row]))
  const found = (kind: ChangedKind, key: string) => byKey.get(`${kind} ${key}`)
  return {
    byKey: found,
    about(kind: 'entry' | 'event', row: StoredRow): readonly (readonly [ChangedKind, StoredRow | undefined])[] {
      if (kind === 'entry') {
        if (row.transfer_id === null) return []
        const order = row.mark === '' ? undefined : found('order', `[${row.mark}]`)
        return [
          ['transfer', found('transfer', `[${row.transfer_id}]`)],
          ['order', order],
        ]
      }
      const type = String(row.type)
      if (type.startsWith('deposit.')) return [['transfer', byPlace.get(`${row.txid} ${row.position}`)]]
      const orderId = type.startsWith('order.') ? (JSON.parse(String(row.about)) as readonly unknown[])[0] : null
      return [['order', orderId === null ? undefined : found('order', `[${orderId}]`)]]
    },
  }
}

/** The line `configuration`, and its hash by which a change is noticed. */
export function configurationLine({ configuration }: Surroundings): { readonly line: string; readonly hash: string } {
  const lists = Object.entries(configuration).map(([name, rows]) => [name, rows.map(withoutNulls)])
  const line = JSON.stringify({ row: 'configuration', ...Object.fromEntries(lists) })
  return { line, hash: hashOf(line) }
}

/** The line `scan`. */
export function scanLine({ scan, rescans }: Surroundings): string {
  return JSON.stringify({ row: 'scan', ...withoutNulls(scan ?? {}), rescans: rescans.map(withoutNulls) })
}

const withoutNulls = (row: StoredRow) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

/** The first line of a segment. */
export interface SegmentHead {
  readonly row: 'segment'
  readonly format: string
  readonly name: string
  readonly cell: number
  readonly epoch: number
  readonly first: number
  readonly last: number
  readonly before: string
  readonly from: ArchivePlace
  readonly to: ArchivePlace
  /** Hex digits. */
  readonly tree: readonly string[]
  /** Only in the first segment of an epoch after the first one. */
  readonly common?: number
}

/**
 * As many of the items as a segment may have, with what stands before (`configuration`) and after
 * them (`scan`). `isWhole`: all of them.
 */
export function cut(
  items: readonly Item[],
  around: readonly string[],
): { readonly taken: readonly Item[]; readonly isWhole: boolean } {
  let bytes = firstLineBytesMax + bytesOf(around)
  let rows = 0
  const end = items.findIndex(({ lines }) => {
    bytes += bytesOf(lines)
    rows += lines.length
    return rows > segmentRowsMax || bytes > segmentBytesMax
  })
  // one item always fits
  return end === -1 ? { taken: items, isWhole: true } : { taken: items.slice(0, Math.max(end, 1)), isWhole: false }
}

const bytesOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + utf8ToBytes(line).length + 1, 0)

/** Writes the segment with these lines after the state that the archive has now. */
export function writeSegment(
  state: ArchiveState,
  of: Pick<SegmentHead, 'name' | 'cell'>,
  lines: readonly string[],
  to: ReaderPlace,
): string {
  const { epoch, lines: first, hash: before, tree, position: from, common } = state
  const head: SegmentHead = {
    row: 'segment',
    format: archiveFormat,
    name: of.name,
    cell: of.cell,
    epoch,
    first,
    last: first + lines.length,
    before,
    from: placeOf(from),
    to: placeOf(to),
    tree,
    ...(common === null ? {} : { common }),
  }
  return [JSON.stringify(head), ...lines].map((line) => `${line}\n`).join('')
}

const placeOf = ({ event, copy }: ArchivePlace): ArchivePlace => (copy === undefined ? { event } : { event, copy })

/** Reads a segment: its first line, and the lines after it. Throws if it is none of this format. */
export function readSegment(text: string): { readonly head: SegmentHead; readonly lines: readonly string[] } {
  const [first = '', ...lines] = text.slice(0, -1).split('\n')
  const head = JSON.parse(first) as SegmentHead
  const isOne = text.endsWith('\n') && head.format === archiveFormat && head.last - head.first === lines.length
  if (!isOne) throw new Error('an object of the bucket is no segment')
  return { head, lines }
}

/** The tree with all lines of a segment. */
export function growTree(subtrees: readonly string[], size: number, text: string): Tree {
  const before: Tree = { size, subtrees: subtrees.map(hexToBytes) }
  return text
    .slice(0, -1)
    .split('\n')
    .reduce((tree, line) => addLeaf(tree, hashLeaf(utf8ToBytes(line), sha256), sha256), before)
}

/** SHA-256 of a text, as hex digits. */
export const hashOf = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))
