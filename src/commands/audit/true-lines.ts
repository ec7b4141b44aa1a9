import type { NumberedFile } from './archive-files.ts'
import { type ArchiveLine, parseLine } from './lines.ts'
import { createReader, isFault, lineAt, readFirstLine } from './segment.ts'

/** A later epoch. The lines from `from` to `to` were not in the database any more when it began. */
export interface Epoch {
  readonly epoch: number
  readonly from: number
  /** The line before the first one of the epoch. */
  readonly to: number
}

/**
 * The later epochs by the first lines of all segments: a line that an epoch has made untrue stands
 * before the line that says so.
 */
export function findEpochs(segments: readonly NumberedFile[]): readonly Epoch[] {
  return segments.flatMap((file) => {
    const head = parseLine(readFirstLine(file))
    // what is wrong with it is found when all of the segment is read
    if (!head.ok || head.value.row !== 'segment' || head.value.common === undefined) return []
    const { epoch, common, first } = head.value
    return [{ epoch, from: common + 1, to: first - 1 }]
  })
}

/** Makes a function that says whether a later epoch has made the line of this number untrue. */
export function createIsVoid(epochs: readonly Epoch[]): (number: number) => boolean {
  return (number) => epochs.some(({ from, to }) => number >= from && number <= to)
}

/** A line with its place. */
export interface PlacedLine {
  /** Its number in the archive. */
  readonly number: number
  readonly line: ArchiveLine
}

/**
 * The true lines of an archive in their order, without the first lines of segments. They must have
 * been verified: throws an `Error` if a segment cannot be read.
 */
export function* readTrueLines(segments: readonly NumberedFile[]): Generator<PlacedLine> {
  const isVoid = createIsVoid(findEpochs(segments))
  const read = createReader()
  for (const file of segments) {
    const segment = read(file)
    if (isFault(segment)) throw new Error(`${segment.file}: ${segment.why}`)
    for (let index = 1; index < segment.lines.length; index += 1) {
      if (isVoid(file.number + index)) continue
      const line = lineAt(segment, index)
      if (isFault(line)) throw new Error(`${line.file}, line ${line.line}: ${line.why}`)
      yield { number: file.number + index, line }
    }
  }
}
