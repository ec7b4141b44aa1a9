import { existsSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { ToolError } from '../tool-error.ts'

/** The files of one cell in a copy of the bucket. */
export interface CellFiles {
  /** The first address of the cell's key, in Base58: the name of the folder. */
  readonly name: string
  /** In the order of their first lines. */
  readonly segments: readonly NumberedFile[]
  /** By how many lines they are about. */
  readonly checkpoints: ReadonlyMap<number, string>
  /** Files that are none of an archive: a phrase for each. */
  readonly strange: readonly string[]
}

export interface NumberedFile {
  readonly path: string
  /** The number in the file's name. */
  readonly number: number
}

const cellForm = /^T[1-9A-HJ-NP-Za-km-z]{33}$/

/**
 * Finds the cells in a folder: that of a bucket, or that of one cell. Throws a `ToolError` if there
 * is none.
 */
export function listArchives(folder: string): readonly CellFiles[] {
  const names = namesIn(folder)
  if (names.includes('segments')) return [readCell(folder)]
  const cells = names.filter((name) => cellForm.test(name))
  if (cells.length > 0) return cells.map((name) => readCell(join(folder, name)))
  throw new ToolError(
    `${folder} has no archive`,
    'name the folder with a copy of the bucket, or that of one cell, which has a folder "segments"',
  )
}

function readCell(folder: string): CellFiles {
  const segments = readNumbered(join(folder, 'segments'), /^(\d{15})\.jsonl$/)
  const checkpoints = readNumbered(join(folder, 'checkpoints'), /^(\d{15})\.checkpoint$/)
  return {
    name: basename(resolve(folder)),
    segments: segments.files,
    checkpoints: new Map(checkpoints.files.map(({ path, number }) => [number, path])),
    strange: [...segments.strange, ...checkpoints.strange],
  }
}

/** The files whose names have this form, and the names of the others, hidden ones aside. */
function readNumbered(folder: string, form: RegExp) {
  const files: NumberedFile[] = []
  const strange: string[] = []
  for (const name of existsSync(folder) ? namesIn(folder) : []) {
    const [, number] = form.exec(name) ?? []
    if (number !== undefined) files.push({ path: join(folder, name), number: Number(number) })
    else if (!name.startsWith('.')) strange.push(join(folder, name))
  }
  return { files, strange }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    throw new ToolError(`${folder} cannot be read`, 'name a folder that this user may read')
  }
}
