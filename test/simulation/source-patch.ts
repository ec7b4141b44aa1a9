import { readFileSync } from 'node:fs'
import { type ResolveFnOutput, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { transformSync } from 'esbuild'
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

/** What was found and read once: a hundred copies need the same. */
const resolutions = new Map<string, ResolveFnOutput>()
const sources = new Map<string, string>()

function patchLoads(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { pathname, search } = new URL(context.parentURL ?? own)
      const key = `${pathname} ${specifier}`
      const resolved = resolutions.get(key) ?? nextResolve(specifier, context)
      resolutions.set(key, { ...resolved, shortCircuit: true })
      const isOwn = resolved.url.startsWith(own) && !unpatched.test(resolved.url)
      return isOwn && patches.has(search) ? { ...resolved, url: new URL(search, resolved.url).href } : resolved
    },
    load(url, context, nextLoad) {
      const { search, href } = new URL(url)
      const patch = patches.get(search)
      if (patch === undefined) return nextLoad(url, context)
      const path = href.slice(0, -search.length)
      const source = sources.get(path) ?? withoutTypes(String(nextLoad(url, context).source))
      sources.set(path, source)
      const isPatched = path === `${own}src/${patch.file}`
      return { format: 'module', shortCircuit: true, source: isPatched ? patched(patch) : source }
    },
  })
}

const patched = ({ file, text, replacement }: SourcePatch) =>
  withoutTypes(readFileSync(`${root}src/${file}`, 'utf8').replace(text, () => replacement))

const withoutTypes = (source: string) => transformSync(source, { loader: 'ts', target: 'esnext' }).code
