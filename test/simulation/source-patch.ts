import { readFileSync } from 'node:fs'
import { type ResolveFnOutput, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transformSync } from 'esbuild'
import { root } from '../support/project.ts'

/** A change of one place in the source of the service, or in its migrations. */
export interface SourcePatch {
  /** Relative to `src`; a migration is `../migrations/…sql`. */
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
/**
 * The file that reads the migrations, and the end of the expression that reads one. A patch of a
 * migration is inserted there.
 */
const migrationReader = { file: 'test/support/database-file.ts', text: "`, 'utf8')" }
/** The module that a patch changes. */
const moduleOf = ({ file }: SourcePatch) => `${own}${file.endsWith('.sql') ? migrationReader.file : `src/${file}`}`
/**
 * Files that are never copied: packages, and the one that changes functions of the whole process.
 */
const unpatched = /\/node_modules\/|\/event-loop\.ts$/
/**
 * For each query string, which marks the URLs of the copies for one patch: the patch, and the files
 * that are copied.
 */
const patches = new Map<string, { readonly patch: SourcePatch; readonly copied: ReadonlySet<string> }>()

/**
 * Loads a module of this project anew if a patch of one file of the source changes what it imports:
 * the patched file, and what imports it, by way of others too. All other files are shared, so that
 * they are compiled and optimized once. Nothing changes on the disk. The copies differ by the query
 * of their URLs. Throws if the text does not occur exactly once.
 */
export async function importPatched<T>(path: string, patch: SourcePatch): Promise<T> {
  const { file, text } = patch
  if (countOccurrences(patch) !== 1) throw new Error(`src/${file} does not have this text exactly once: ${text}`)
  if (patches.size === 0) patchLoads()
  const query = `?patch=${patches.size}`
  addImportsOf(`${own}${path}`)
  patches.set(query, { patch, copied: withImporters(moduleOf(patch)) })
  return (await import(`${own}${path}${query}`)) as T // what the caller says the module is
}

/** Resolved imports and compiled sources, kept because a hundred copies need the same ones. */
const resolutions = new Map<string, ResolveFnOutput>()
const sources = new Map<string, string>()
/** The files that import each file. */
const importers = new Map<string, string[]>()

function patchLoads(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { pathname, search } = new URL(context.parentURL ?? own)
      const key = `${pathname} ${specifier}`
      const resolved = resolutions.get(key) ?? nextResolve(specifier, context)
      resolutions.set(key, { ...resolved, shortCircuit: true })
      const isCopied = patches.get(search)?.copied.has(resolved.url) ?? false
      return isCopied ? { ...resolved, url: new URL(search, resolved.url).href } : resolved
    },
    load(url, context, nextLoad) {
      const { search, href } = new URL(url)
      const copy = patches.get(search)
      if (copy === undefined) return nextLoad(url, context)
      const path = href.slice(0, -search.length)
      const source = path === moduleOf(copy.patch) ? patched(copy.patch) : sourceOf(path)
      return { format: 'module', shortCircuit: true, source }
    },
  })
}

/** Notes what a file of the project imports, directly or through other files, except types. */
function addImportsOf(url: string): void {
  for (const [, specifier = ''] of sourceOf(url).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
    const imported = new URL(specifier, url).href
    if (unpatched.test(imported)) continue
    const known = importers.get(imported)
    if (known === undefined) importers.set(imported, [url])
    else if (!known.includes(url)) known.push(url)
    if (!sources.has(imported)) addImportsOf(imported)
  }
}

/** A file, and all that import it, by way of others too. */
function withImporters(url: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(url)
  for (const importer of importers.get(url) ?? []) if (!found.has(importer)) withImporters(importer, found)
  return found
}

/** The source of a file without its types. */
function sourceOf(url: string): string {
  const source = sources.get(url) ?? withoutTypes(readFileSync(fileURLToPath(url), 'utf8'))
  sources.set(url, source)
  return source
}

function patched(patch: SourcePatch): string {
  const { file, text, replacement } = patch
  const source = readFileSync(fileURLToPath(moduleOf(patch)), 'utf8')
  if (!file.endsWith('.sql')) return withoutTypes(source.replace(text, () => replacement))
  const change = `.replace(${JSON.stringify(text)}, () => ${JSON.stringify(replacement)})`
  return withoutTypes(source.replace(migrationReader.text, (read) => read + change))
}

const withoutTypes = (source: string) => transformSync(source, { loader: 'ts', target: 'esnext' }).code
