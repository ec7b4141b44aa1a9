import { bytesToHex } from '@noble/hashes/utils.js'
import { type ChangedKind, changedKinds } from '../d1/archive-tables.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Bucket } from './bucket.ts'
import { type ArchiveState, type ArchiveStep, openArchive, type ReaderPlace, storeStep } from './position.ts'
import { readCopy, readNext, type Surroundings } from './read.ts'
import type { Seal } from './seal.ts'
import {
  configurationLine,
  copyItems,
  cut,
  followItems,
  growTree,
  hashOf,
  type Item,
  readSegment,
  type SegmentHead,
  scanLine,
  segmentRowsMax,
  writeSegment,
} from './segment.ts'
import { hasAllLines } from './take-over.ts'
import type { Tree } from './tree.ts'

/** Without anything new, a segment with the line `scan` alone is written this often. */
const quietMsMax = 3_600_000

export interface ArchiveParts {
  readonly db: WriteDatabase
  readonly bucket: Bucket
  readonly clock: Pick<Clock, 'now'>
  /** The folder in the bucket: the first address of the cell's key, in Base58. */
  readonly folder: string
  /** The number of the cell, for people. */
  readonly cell: number
  /** Null without a key. */
  readonly seal: ((tree: Tree) => Promise<Seal>) | null
}

/** The name of the log and of its key. */
export const originOf = (folder: string) => `tron-wallet/${folder}`
const padded = (number: number) => String(number).padStart(15, '0')
const segmentsOf = (folder: string) => `${folder}/segments/`
/** The name of the segment whose first line has this number. */
const segmentName = (folder: string, first: number) => `${segmentsOf(folder)}${padded(first)}.jsonl`
/** The name of the note about so many lines. */
export const checkpointName = (folder: string, size: number) => `${folder}/checkpoints/${padded(size)}.checkpoint`

/**
 * The result of a step of `archiveNext`: it wrote or took over a segment, or had nothing to do.
 */
export type ArchiveProgress = 'more' | 'done'

/**
 * Writes the next segment, or takes over one that is in the bucket already. Each call is whole: a
 * crash anywhere, or a second writer, leaves a state from which the next call goes on. Throws if
 * the database or R2 fails, or if a row is missing.
 */
export async function archiveNext(parts: ArchiveParts): Promise<ArchiveProgress> {
  const state = await openArchive(parts.db)
  const { folder, cell, bucket } = parts
  const next = await readSegmentAfter(parts, state)
  if (next === null) return 'done'
  const text = writeSegment(state, { name: originOf(folder), cell }, next.lines, next.to)
  const isNew = await bucket.putNew(segmentName(folder, state.lines), text)
  if (!isNew) return takeOver(parts, state)
  const step = { epoch: state.epoch, position: next.to, common: null, configuration: next.configuration }
  await finish(parts, state, text, step)
  return next.isAll ? 'done' : 'more'
}

interface NextSegment {
  readonly lines: readonly string[]
  readonly to: ReaderPlace
  readonly configuration: string
  /** Nothing was left when it was read. */
  readonly isAll: boolean
}

/** Reads what the next segment has; null if there is nothing new. */
async function readSegmentAfter(parts: ArchiveParts, state: ArchiveState): Promise<NextSegment | null> {
  const { db, clock } = parts
  const copied = state.position.copy === undefined ? null : await readCopies(db, state.position)
  const { event, change } = state.position
  const read = copied ?? (await readFollowing(db, { event, change }, state.begun))
  const { surroundings, isAll } = read
  const configuration = configurationLine(surroundings)
  const before = configuration.hash === state.configuration ? [] : [configuration.line]
  const scan = scanLine(surroundings)
  const { taken, isWhole } = cut(read.items, [...before, scan])
  const isComplete = isWhole && isAll
  const lines = [...before, ...taken.flatMap((item) => item.lines)]
  const isQuiet = clock.now() - state.writtenAt >= quietMsMax
  if (lines.length === 0 && !isQuiet && state.position.copy === undefined) return null
  const to = taken.at(-1)?.to ?? { event, change }
  const end = isComplete ? [scan] : []
  return { lines: [...lines, ...end], to, configuration: configuration.hash, isAll: isComplete }
}

interface ReadItems {
  readonly items: readonly Item[]
  readonly surroundings: Surroundings
  /** The segment with all items is complete. */
  readonly isAll: boolean
}

async function readFollowing(db: WriteDatabase, from: ReaderPlace, begun: number): Promise<ReadItems> {
  const reading = await readNext(db, from, segmentRowsMax + 1)
  return { ...followItems(reading, from, begun, segmentRowsMax), surroundings: reading.surroundings }
}

/** Reads rows that are older than the archive; null if there are none left. */
async function readCopies(db: WriteDatabase, from: ReaderPlace): Promise<ReadItems | null> {
  const [last, ...above] = from.copy ?? []
  const start = last === undefined ? 0 : changedKinds.indexOf(last as ChangedKind)
  for (const [i, kind] of changedKinds.slice(start).entries()) {
    const { rows, surroundings } = await readCopy(db, kind, i === 0 ? above : [], segmentRowsMax)
    if (rows.length > 0) return { items: copyItems(kind, rows, from, surroundings), surroundings, isAll: false }
  }
  return null
}

/**
 * Ends a step whose segment is in the bucket: writes its checkpoint, and stores the position. If
 * another writer was faster, that one's position stays.
 */
async function finish(
  { db, bucket, clock, folder, seal }: ArchiveParts,
  state: ArchiveState,
  text: string,
  step: Pick<ArchiveStep, 'epoch' | 'position' | 'common' | 'configuration'>,
): Promise<void> {
  const tree = growTree(state.tree, state.lines, text)
  const sealed = seal === null ? null : await seal(tree)
  if (sealed !== null) await bucket.putNew(checkpointName(folder, tree.size), sealed.note)
  const subtrees = tree.subtrees.map(bytesToHex)
  await storeStep(
    db,
    state,
    { ...step, lines: tree.size, hash: hashOf(text), tree: subtrees, seal: sealed },
    clock.now(),
  )
}

/**
 * Goes on after a segment that is in the bucket, though the database does not know it: after a
 * crash, a lost answer or a restore, or beside another writer.
 */
async function takeOver(parts: ArchiveParts, state: ArchiveState): Promise<ArchiveProgress> {
  const { db, bucket, folder } = parts
  const name = segmentName(folder, state.lines)
  const text = await bucket.get(name)
  if (text === null) throw new Error(`${name} exists and cannot be read`)
  const { head, lines } = readSegment(text)
  if (head.first !== state.lines || head.before !== state.hash) throw new Error(`${name} does not follow this archive`)
  const common = await lastCommonLine(db, state, head, lines)
  if (common !== null) {
    await beginEpoch(parts, state, common)
    return 'more'
  }
  const [configuration] = lines.filter((line) => line.startsWith('{"row":"configuration"'))
  await finish(parts, state, text, {
    epoch: Math.max(state.epoch, head.epoch),
    // changes that are not removed stand again: those of a copy may be others under the same
    // numbers
    position: { ...head.to, change: state.position.change },
    common: head.common === undefined ? state.common : null,
    configuration: configuration === undefined ? state.configuration : hashOf(configuration),
  })
  return 'more'
}

/**
 * The last line that counts, if an epoch must begin after a segment that is in the bucket; null if
 * that segment is the next one of this database.
 */
async function lastCommonLine(
  db: WriteDatabase,
  state: ArchiveState,
  head: SegmentHead,
  lines: readonly string[],
): Promise<number | null> {
  // Nothing tells whether this row began that archive. Another row may have copied other rows than
  // this database has, so all are copied again.
  if (state.lines === 0) return -1
  // an epoch is to begin, and the database has nothing of what another one has written since
  if (state.common !== null && head.epoch < state.epoch) return state.common
  return (await hasAllLines(db, lines)) ? null : head.first - 1
}

/** The next segment begins an epoch, after the newest one in the bucket. */
async function beginEpoch(
  { db, bucket, folder, clock }: ArchiveParts,
  state: ArchiveState,
  common: number,
): Promise<void> {
  const name = segmentName(folder, await findNewest(bucket, folder, state.lines))
  const text = await bucket.get(name)
  if (text === null) throw new Error(`${name} cannot be read`)
  const { head } = readSegment(text)
  const step: ArchiveStep = {
    epoch: head.epoch + 1,
    lines: head.last + 1,
    hash: hashOf(text),
    tree: growTree(head.tree, head.first, text).subtrees.map(bytesToHex),
    position: state.position,
    common,
    configuration: null, // so that the epoch begins with it
    seal: null,
  }
  await storeStep(db, state, step, clock.now())
}

/** The first line of the newest segment, of which one begins with `known`. */
async function findNewest(bucket: Bucket, folder: string, known: number): Promise<number> {
  let [low, high] = [known, 10 ** 15 - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const found = await bucket.nextName(segmentsOf(folder), segmentName(folder, middle - 1))
    if (found === null) high = middle - 1
    else low = Number(found.slice(segmentsOf(folder).length, -'.jsonl'.length))
  }
  return low
}
