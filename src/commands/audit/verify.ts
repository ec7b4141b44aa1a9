import { isDeepStrictEqual } from 'node:util'
import { addLeaf, emptyTree, hashLeaf, type Tree } from '../../worker/archive/tree.ts'
import { ToolError } from '../tool-error.ts'
import type { CellFiles, NumberedFile } from './archive-files.ts'
import type { BookCounts } from './book-part.ts'
import { type Books, openBooks } from './books.ts'
import type { ArchiveLine } from './lines.ts'
import { createSealChecks, type SealReport } from './seal-checks.ts'
import { type Seals, sha256 } from './seals.ts'
import { type ArchiveFault, createReader, type HeadLine, isFault, lineAt, type SegmentBytes } from './segment.ts'
import { createIsVoid, type Epoch, findEpochs } from './true-lines.ts'
import { demand, WrongLine } from './wrong-line.ts'

/** The report about the archive of a cell that has no fault. */
export interface CellReport {
  /** The origin of its checkpoints: the name of deployment and cell. */
  readonly origin: string
  readonly lines: number
  readonly segments: number
  /** Each later epoch: which lines it has made untrue, if any. */
  readonly epochs: readonly Epoch[]
  readonly counts: Readonly<BookCounts>
  readonly seal: SealReport
  readonly newer: NewerLines
}

/** How many lines say what this version does not know; what the first one says, and its number. */
export interface NewerLines {
  count: number
  first: { readonly what: string; readonly number: number } | null
}

/** How far the check is; `total` is the number of segments. */
export type VerifyProgress = (lines: number, segments: number, total: number) => void

/**
 * Checks the archive of one cell, segment by segment: the chain, the tree, the checkpoints, and
 * what the lines say. Returns the first fault.
 */
export function verifyCell(files: CellFiles, seals: Seals, progress: VerifyProgress): CellReport | ArchiveFault {
  const books = openBooks()
  try {
    return verifyWith(books, files, seals, progress)
  } finally {
    books.close()
  }
}

/** The state to which the segments so far lead. */
interface Chain {
  readonly head: HeadLine | null
  /** SHA-256 of the segment before. */
  readonly before: string
  readonly tree: Tree
}

function verifyWith(books: Books, files: CellFiles, seals: Seals, progress: VerifyProgress): CellReport | ArchiveFault {
  const [strange] = files.strange
  if (strange !== undefined) return { file: strange, line: null, why: 'it is no file of an archive' }
  const epochs = findEpochs(files.segments)
  const isVoid = createIsVoid(epochs)
  const checks = createSealChecks(files, seals)
  const read = createReader()
  const newer: NewerLines = { count: 0, first: null }
  const take = ({ unknown }: ArchiveLine, number: number) => {
    if (unknown === undefined) return
    newer.count += 1
    newer.first ??= { what: unknown, number }
  }
  let chain: Chain = { head: null, before: '0'.repeat(64), tree: emptyTree }
  for (const [index, file] of files.segments.entries()) {
    const segment = read(file)
    if (isFault(segment)) return segment
    const head = readHead(files, segment, chain)
    if (isFault(head)) return head
    take(head, chain.tree.size)
    const tree = takeLines(files, segment, chain.tree, (line, number) => {
      take(line, number)
      if (!isVoid(number)) books.take(line, number)
    })
    if (isFault(tree)) return tree
    chain = { head, before: segment.sha256, tree }
    const fault = checks.atEnd(chain.tree, head.name)
    if (fault !== null) return fault
    progress(tree.size, index + 1, files.segments.length)
  }
  const fault = checks.atLast(chain.tree.size)
  if (fault !== null) return fault
  const { counts } = books
  const origin = chain.head?.name ?? files.name
  return {
    origin,
    lines: chain.tree.size,
    segments: files.segments.length,
    epochs,
    counts,
    seal: checks.report(origin),
    newer,
  }
}

/** The first line of a segment, which must follow what is before it. */
function readHead(files: CellFiles, segment: SegmentBytes, chain: Chain): HeadLine | ArchiveFault {
  const head = lineAt(segment, 0)
  if (isFault(head)) return head
  const why =
    head.row === 'segment' ? faultOfHead(files, head, segment, chain) : 'it is not the first line of a segment'
  return head.row !== 'segment' || why !== null ? { file: segment.file.path, line: 1, why: why ?? '' } : head
}

function faultOfHead(files: CellFiles, head: HeadLine, { file, lines }: SegmentBytes, chain: Chain): string | null {
  const next = chain.tree.size
  const { head: last } = chain
  if (file.number !== next) return `it begins with line ${file.number}: lines ${next} to ${file.number - 1} are missing`
  if (head.first !== next) return `it does not say that it begins with line ${next}`
  if (head.last !== next + lines.length - 1)
    return `it ends with line ${next + lines.length - 1}, and says ${head.last}`
  if (head.name !== (last?.name ?? `tron-wallet/${files.name}`)) return 'it is of another deployment or cell'
  if (head.before !== chain.before)
    return 'it does not name the bytes of the segment before it: one of both was changed'
  if (
    !isDeepStrictEqual(
      head.tree,
      chain.tree.subtrees.map((one) => Buffer.from(one).toString('hex')),
    )
  )
    return 'its tree is not that of the lines before it: one of both was changed'
  if (head.epoch === (last?.epoch ?? 1)) {
    if (head.common !== undefined) return 'only the first segment of a later epoch names a common line'
    return last === null || isDeepStrictEqual(head.from, last.to)
      ? null
      : 'it does not go on where the segment before it ends'
  }
  if (last === null || head.epoch !== last.epoch + 1) return `epoch ${head.epoch} cannot follow`
  return head.common !== undefined && head.common < next ? null : 'it begins an epoch, and names no line before it'
}

/** Adds the lines of a segment to the tree, and gives each to `take`. */
function takeLines(
  { segments }: CellFiles,
  segment: SegmentBytes,
  before: Tree,
  take: Books['take'],
): Tree | ArchiveFault {
  let tree = before
  for (const [index, bytes] of segment.lines.entries()) {
    tree = addLeaf(tree, hashLeaf(bytes, sha256), sha256)
    if (index === 0) continue
    const line = lineAt(segment, index)
    if (isFault(line)) return line
    const number = before.size + index
    try {
      checkPlace(line, index === segment.lines.length - 1)
      take(line, number)
    } catch (error) {
      if (!(error instanceof WrongLine)) throw error
      return { ...locate(segments, error.line ?? number), why: error.message }
    }
  }
  return tree
}

function checkPlace({ row }: ArchiveLine, isLast: boolean): void {
  demand(row !== 'segment', 'only the first line of a file begins a segment')
  demand(row !== 'scan' || isLast, 'only the last line of a segment says that it is complete')
}

/**
 * Throws a `ToolError` if lines say what this version does not know: a database that is made from
 * them would lack it.
 */
export function demandAllKnown({ newer: { count, first } }: CellReport): void {
  if (first === null) return
  throw new ToolError(
    `${count} lines of the archive say what this version does not know, first ${first.what}`,
    'use the version of the service that has written it',
  )
}

/** The file and the line in it of a line by its number in the archive. */
export function locate(segments: readonly NumberedFile[], number: number): Pick<ArchiveFault, 'file' | 'line'> {
  const file = segments.findLast((one) => one.number <= number)
  return { file: file?.path ?? '', line: number - (file?.number ?? 0) + 1 }
}
