import { readFileSync } from 'node:fs'
import type { Checkpoint } from '../../worker/archive/note.ts'
import { rootOf, type Tree } from '../../worker/archive/tree.ts'
import type { CellFiles } from './archive-files.ts'
import { openSealed, type Seals, sha256 } from './seals.ts'
import type { ArchiveFault } from './segment.ts'

/** The report about the checkpoints of an archive. */
export interface SealReport {
  /** How many lines the newest checkpoint is about; 0 without one. */
  readonly size: number
  /** Whether a key has verified the signatures. */
  readonly isVerified: boolean
  /** How many segments before the newest checkpoint have none of their own. */
  readonly without: number
  /** How many checkpoints that were kept elsewhere are of this archive. */
  readonly kept: number
}

interface SealChecks {
  /** Compares the tree at the end of a segment with the checkpoints about so many lines. */
  atEnd(tree: Tree, origin: string): ArchiveFault | null
  /** Finds checkpoints about which no segment has said anything: the archive has `lines` lines. */
  atLast(lines: number): ArchiveFault | null
  report(origin: string): SealReport
}

/** Checks the checkpoints of a cell, and those that were kept elsewhere. */
export function createSealChecks({ checkpoints }: CellFiles, seals: Seals): SealChecks {
  const met = new Set<string>()
  let [size, segments, sealed] = [0, 0, 0]
  let signer = 0 // which of the keys has signed the newest checkpoint so far
  const keptOf = (origin: string) => seals.kept.filter(({ checkpoint }) => checkpoint.origin === origin)
  let name = ''
  const compare = (file: string, checkpoint: Checkpoint, tree: Tree): ArchiveFault | null => {
    met.add(file)
    const isEqual = Buffer.compare(checkpoint.root, rootOf(tree, sha256)) === 0
    return isEqual ? null : { file, line: 3, why: `its root is not that of the first ${tree.size} lines` }
  }
  const checkOwn = (file: string, tree: Tree): ArchiveFault | null => {
    const note = readFileSync(file, 'utf8')
    const read = openSealed(note, seals)
    if (!read.ok) return { file, line: null, why: read.error }
    const { checkpoint, keyIndex } = read.value
    if (checkpoint.origin !== name) return { file, line: 1, why: `its origin is not ${name}` }
    if (checkpoint.size !== tree.size) return { file, line: 2, why: `it is not about ${tree.size} lines` }
    if (keyIndex < signer) return { file, line: null, why: 'its key had been replaced before: a later one has signed' }
    signer = keyIndex
    return compare(file, checkpoint, tree)
  }
  return {
    atEnd: (tree, origin) => {
      name = origin
      segments += 1
      const own = checkpoints.get(tree.size)
      if (own !== undefined) [size, sealed] = [tree.size, sealed + 1]
      const kept = keptOf(origin).filter(({ checkpoint }) => checkpoint.size === tree.size)
      const faults = kept.map(({ file, checkpoint }) => compare(file, checkpoint, tree))
      return (own === undefined ? null : checkOwn(own, tree)) ?? faults.find((fault) => fault !== null) ?? null
    },
    atLast: (lines) => {
      const all = [
        ...[...checkpoints].map(([about, file]) => ({ file, about })),
        ...keptOf(name).map(({ file, checkpoint }) => ({ file, about: checkpoint.size })),
      ]
      const other = all.find(({ file }) => !met.has(file))
      const newest = checkpoints.get(size)
      if (other === undefined && newest !== undefined && signer < (seals.keys.get(name)?.length ?? 1) - 1) {
        return { file: newest, line: null, why: 'the newest checkpoint is not signed by the last --verifier' }
      }
      if (other === undefined) return null
      const why = other.about > lines ? `the archive has only ${lines} lines` : 'no segment ends there'
      return { file: other.file, line: 2, why: `it is about ${other.about} lines, and ${why}` }
    },
    report: (origin) => ({
      size,
      isVerified: seals.keys.has(origin),
      without: segments - sealed,
      kept: keptOf(origin).length,
    }),
  }
}
