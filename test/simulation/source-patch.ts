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

/** How often the text of a patch occurs in its file. */
export function countOccurrences({ file, text }: SourcePatch): number {
  return readFileSync(`${root}src/${file}`, 'utf8').split(text).length - 1
}

const own = pathToFileURL(root).href
/** Packages, and what changes the functions of the whole process. */
const unpatched = /\/node_modules\/|\/event-loop\.ts$/
const patches = new Map<string, SourcePatch>()

/**
 * Loads a module of this project anew, with everything that it imports from the project, where one file of the source is patched.
 * Nothing changes on the disk. The copies differ by the query of their URLs. Throws where the text does not occur exactly once.
 */
export async function importPatched<T>(path: string, patch: SourcePatch): Promise<T> {
  const { file, text } = patch
  if (countOccurrences(patch) !== 1) throw new Error(`src/${file} does not have this text exactly once: ${text}`)
  if (patches.size === 0) patchLoads()
  const query = `?patch=${patches.size}`
  patches.set(query, patch)
  return (await import(`${own}${path}${query}`)) as T // what the caller says the module is
}

function patchLoads(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const query = new URL(context.parentURL ?? own).search
      const isOwn = resolved.url.startsWith(own) && !unpatched.test(resolved.url)
      return isOwn && patches.has(query) ? { ...resolved, url: new URL(query, resolved.url).href } : resolved
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const patch = patches.get(new URL(url).search)
      if (patch === undefined || !url.startsWith(`${own}src/${patch.file}?`)) return loaded
      return { ...loaded, source: String(loaded.source).replace(patch.text, () => patch.replacement) }
    },
  })
}
