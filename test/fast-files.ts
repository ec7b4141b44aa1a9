import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type ProjectFiles, projects } from './projects.ts'

/**
 * The modules that make a test slow, if it imports them itself or through other files: a service, a
 * browser or a process.
 */
const slow =
  /^(cloudflare:|node:(child_process|http|net|worker_threads|sqlite)$|wrangler$|miniflare$|puppeteer-core$|esbuild$|@redocly\/|vitest\/node$)/
/** Tests that are slow although they import no module that `slow` matches. */
export const longer: ReadonlySet<string> = new Set([
  'test/http/auth/authenticate.test.ts', // needs workerd, whose `Request` takes URLs that Node's `Request` refuses
  // each of these tests takes seconds
  ...['allowance', 'large-blocks', 'node-deadline', 'object', 'transport'].map((name) => `test/tron/${name}.test.ts`),
])

const importOf = /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^'"`;]*?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g

const known = new Map<string, readonly string[]>()

/** The import paths in a file as they are written, without imports of types. */
function importsOf(file: string): readonly string[] {
  const found = known.get(file) ?? [...readFileSync(file, 'utf8').matchAll(importOf)].map(([, a, b]) => a ?? b ?? '')
  known.set(file, found)
  return found
}

/** Whether a test needs no service, browser or process, by all that it imports. */
export function isFast(file: string, root: string): boolean {
  if (longer.has(file)) return false
  const reached = new Set([resolve(root, file)])
  for (const path of reached) {
    for (const name of importsOf(path)) {
      if (slow.test(name)) return false
      const target = resolve(dirname(path), name)
      if (name.startsWith('.') && target.endsWith('.ts') && existsSync(target)) reached.add(target)
    }
  }
  return true
}

/** The test files of each vitest project by its name. Paths are relative to `root`. */
export function filesByProject(root: string): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries<ProjectFiles>(projects)
  return new Map(
    entries.map(([name, { include, exclude = [] }]) => {
      const left = new Set(globSync([...exclude], { cwd: root }))
      return [name, globSync([...include], { cwd: root }).filter((file) => !left.has(file))]
    }),
  )
}

/** All test files: the fast ones in `fast`, the slow ones in `left`. */
export function splitFiles(root: string) {
  const all = [...filesByProject(root)].flatMap(([project, files]) => files.map((file) => ({ project, file })))
  const fast = all.filter(({ file }) => isFast(file, root))
  return { fast, left: all.filter((one) => !fast.includes(one)) }
}
