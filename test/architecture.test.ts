import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))
const sources = files.filter((file) => /^src\/.*\.ts$/.test(file))

/** What each layer may import from. The edges know the core, never the reverse. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  domain: ['domain'],
  ports: ['ports', 'domain'],
  app: ['app', 'ports', 'domain'],
  http: ['http', 'app', 'ports', 'domain', 'config'],
  adapters: ['adapters', 'ports', 'domain', 'config'],
  config: ['domain'],
  compose: ['domain', 'ports', 'app', 'http', 'adapters', 'config'],
  index: ['compose', 'adapters'],
  // Commands for a terminal: Node runs them, and no Worker holds them.
  doctor: ['adapters', 'http', 'ports', 'domain', 'config'],
  deploy: [],
}

const layerOf = (file: string) => file.replace(/^src\//, '').replace(/(\/.*|\.ts)$/, '')
const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap((match) => match[1] ?? [])
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

describe('architecture', () => {
  it.each(sources)('%s imports only from the layers it may know', (file) => {
    const allowed = mayImport[layerOf(file)]
    expect(allowed, `a layer without a rule: ${layerOf(file)}`).toBeDefined()
    const imported = importsOf(textOf(file))
      .filter((path) => path.startsWith('.'))
      .map((path) => layerOf(normalize(join(dirname(file), path))))
    expect(imported.filter((layer) => layer !== layerOf(file) && !allowed?.includes(layer))).toEqual([])
  })

  it('leaves Node and wrangler to the commands', () => {
    const commands = /^src\/(doctor|deploy)\//
    const isForNode = (path: string) => path.startsWith('node:') || path === 'wrangler'
    const found = sources.filter((file) => !commands.test(file) && importsOf(textOf(file)).some(isForNode))
    expect(found).toEqual([])
  })

  it('reads the clock and chance only in src/adapters/system', () => {
    const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/
    const found = sources.filter((file) => !file.startsWith('src/adapters/system/') && impure.test(textOf(file)))
    expect(found).toEqual([])
  })

  it('leaves nothing unfinished, focused or skipped', () => {
    const leftover = new RegExp(['TO', 'DO|FIX', 'ME|\\b(it|test|describe)\\.(on', 'ly|sk', 'ip|to', 'do)\\b'].join(''))
    const found = files.filter(
      (file) => /^(src|test|migrations)\/.*\.(ts|sql|sol)$/.test(file) && leftover.test(textOf(file)),
    )
    expect(found).toEqual([])
  })

  it('keeps only the agreed names at the top level', () => {
    const agreed =
      /^(src|migrations|test|wrangler\.toml|package(-lock)?\.json|tsconfig\.json|drizzle\.config\.ts|README\.md|LICENSE|\..*)$/
    const top = new Set(files.map((file) => file.split('/')[0] ?? ''))
    expect([...top].filter((name) => !agreed.test(name))).toEqual([])
  })

  it('names only paths that exist in its Markdown', () => {
    const named = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...textOf(file).matchAll(/`((?:src|test|migrations)\/[\w./-]+)`/g)].map((match) => ({
          file,
          path: match[1] ?? '',
        })),
      )
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
  })
})
