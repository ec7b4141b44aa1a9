import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import type { NumberedFile } from './archive-files.ts'
import { type ArchiveLine, type LineOf, parseLine } from './lines.ts'

/**
 * The largest segment that is read, in bytes: the service ends one at a million, after a line of
 * less than 20,000.
 */
const segmentBytesMax = 4_000_000

/** A fault in a file of an archive. */
export interface ArchiveFault {
  readonly file: string
  /** The line in the file, from 1; null if it is about the whole file. */
  readonly line: number | null
  /** A phrase. */
  readonly why: string
}

/** A segment, cut into lines. Its bytes are overwritten when the next one is read. */
export interface SegmentBytes {
  readonly file: NumberedFile
  /** Hex digits. */
  readonly sha256: string
  /** Without their line breaks. */
  readonly lines: readonly Buffer[]
}

/** Makes a function that reads a segment, or says why it is none. */
export function createReader(): (file: NumberedFile) => SegmentBytes | ArchiveFault {
  // one buffer for all: new ones would stay in memory until they are collected
  const buffer = Buffer.alloc(segmentBytesMax + 1)
  return (file) => {
    const bytes = readInto(buffer, file)
    return bytes.length > segmentBytesMax
      ? { file: file.path, line: null, why: 'it is larger than any segment' }
      : cutSegment(file, bytes)
  }
}

function cutSegment(file: NumberedFile, bytes: Buffer): SegmentBytes | ArchiveFault {
  const ofFile = (why: string): ArchiveFault => ({ file: file.path, line: null, why })
  if (bytes.at(-1) !== newline) return ofFile('it does not end with a line break: it is cut off')
  if (!isUtf8(bytes)) return ofFile('it is not UTF-8')
  const lines: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start)
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return { file, sha256: hash('sha256', bytes), lines }
}

const newline = 10
/** No first line of a segment is longer: it has at most 53 hashes. */
const firstLineBytesMax = 16_384

/** The first line of a segment, without its line break; other text if there is none. */
export function readFirstLine(file: NumberedFile): string {
  const bytes = readInto(Buffer.alloc(firstLineBytesMax), file)
  return bytes.subarray(0, bytes.indexOf(newline)).toString()
}

/** Reads a file as far as the buffer has room. */
function readInto(buffer: Buffer, { path }: NumberedFile): Buffer {
  const file = openSync(path, 'r')
  try {
    return buffer.subarray(0, readSync(file, buffer))
  } finally {
    closeSync(file)
  }
}

/** The line at this index, or why it is none. */
export function lineAt({ file, lines }: SegmentBytes, index: number): ArchiveLine | ArchiveFault {
  const parsed = parseLine(lines[index]?.toString() ?? '')
  return parsed.ok ? parsed.value : { file: file.path, line: index + 1, why: parsed.error }
}

export const isFault = (value: object): value is ArchiveFault => 'why' in value && 'file' in value

/** The first line of a segment. */
export type HeadLine = LineOf<'segment'>
