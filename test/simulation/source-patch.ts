import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { root } from '../support/project.ts'

/** A change of one place in the source of the service. */
export interface SourcePatch {
  /** Relative to `src`. */
  readonly file: string
  /** Must occur exactly once in the file. */
  readonly text: string
  readonly replacement: string
}

/** A deliberate mistake in the source, and a seed from which on the simulation finds it soon. */
export interface Defect extends SourcePatch {
  readonly from: number
}

/** How often the text of a patch occurs in its file. */
export function countOccurrences({ file, text }: SourcePatch): number {
  return readFileSync(`${root}src/${file}`, 'utf8').split(text).length - 1
}

/**
 * Makes this process load the patched source. Nothing changes on the disk. To be called before the first import of the
 * service. Throws where the text does not occur exactly once.
 */
export function applyPatch(patch: SourcePatch): void {
  const { file, text, replacement } = patch
  if (countOccurrences(patch) !== 1) throw new Error(`src/${file} does not have this text exactly once: ${text}`)
  const path = `${root}src/${file}`
  const { href } = pathToFileURL(path)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (url !== href) return loaded
      return { ...loaded, source: readFileSync(path, 'utf8').replace(text, () => replacement) }
    },
  })
}
