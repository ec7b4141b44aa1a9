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
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** The folders (and top-level files) of src that each one may import from, besides itself. */
const core = [
  ...['common', 'platform', 'chain', 'addresses', 'ledger', 'deposits', 'scan', 'reconciliation'],
  ...['events', 'webhooks'],
]
const mayImport: Readonly<Record<string, readonly string[]>> = {
  common: [],
  platform: ['common'],
  chain: ['common', 'addresses', 'ledger'],
  addresses: ['common', 'chain', 'ledger', 'platform', 'scan'],
  ledger: ['common', 'addresses', 'chain'],
  deposits: ['common', 'platform', 'chain', 'addresses', 'ledger'],
  events: ['common', 'chain', 'addresses', 'ledger', 'deposits'],
  webhooks: ['common', 'platform', 'events'],
  scan: ['common', 'platform', 'chain', 'addresses', 'ledger', 'deposits', 'reconciliation', 'events'],
  reconciliation: ['common', 'platform', 'chain', 'addresses', 'ledger', 'scan'],
  services: core,
  tron: ['common', 'platform', 'chain', 'addresses', 'ledger'],
  d1: [...core, 'services'],
  config: ['common', 'platform', 'chain', 'addresses', 'ledger', 'events', 'webhooks'],
  http: [...core, 'services', 'config'],
  rpc: [...core, 'services', 'http'],
  compose: [...core, 'services', 'tron', 'd1', 'http', 'rpc', 'config'],
  index: ['compose', 'platform', 'rpc'],
  // Commands for a terminal: Node runs them, and the Worker does not contain them.
  doctor: [...core, 'tron', 'http', 'config', 'deploy'],
  deploy: ['common'],
  repair: ['common', 'addresses', 'deploy', 'doctor', 'd1'],
  keys: ['common', 'addresses'],
  collect: [...core, 'tron', 'config', 'deploy', 'doctor', 'keys'],
}

/** Folders whose files only compute: no clock, no I/O, no randomness, no SQL. */
const pure =
  /^src\/(common\/|chain\/|ledger\/|addresses\/(address|derive)|deposits\/(contract-types|detect-transfers|explain|transaction-bytes|trc20|trx|verify-deposit)|scan\/plan|events\/|webhooks\/schedule|reconciliation\/judge-reading|tron\/parse\/|keys\/(account-key|key-path)|collect\/(bandwidth|check-plan|collect-address|energy-pool|facts|limits|make-plan|plan|plan-table|refusals|report|sign-plan|step-state|transaction)\.ts)/

const folderOf = (file: string) => file.replace(/^src\//, '').replace(/(\/.*|\.ts)$/, '')
const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap((match) => match[1] ?? [])
const exportsOf = (text: string) =>
  [
    ...text.matchAll(/^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm),
  ].flatMap((match) => match[1] ?? [])

describe('the folders of src', () => {
  it.each(sources)('%s imports only what its folder may import', (file) => {
    const allowed = mayImport[folderOf(file)]
    expect(allowed, `a folder without a rule: ${folderOf(file)}`).toBeDefined()
    const imported = importsOf(textOf(file))
      .filter((path) => path.startsWith('.'))
      .map((path) => folderOf(normalize(join(dirname(file), path))))
    expect(imported.filter((folder) => folder !== folderOf(file) && !allowed?.includes(folder))).toEqual([])
  })

  it('keep private keys and tronweb out of the Worker: only the commands import the tools', () => {
    const tools = sources.filter((file) => /^src\/(keys|collect)\//.test(file))
    expect(tools.length).toBeGreaterThan(20)
    const secrets = /^(tronweb|age-encryption|@scure\/bip39)/
    const isTool = (path: string) => secrets.test(path) || /(^|\/)(keys|collect)\//.test(path)
    const importers = sources.filter((file) => importsOf(textOf(file)).some(isTool))
    expect(importers.filter((file) => !tools.includes(file))).toEqual([])
  })

  it('leave Node and wrangler to the commands', () => {
    const commands = /^src\/(doctor|deploy|repair|keys|collect)\//
    const isForNode = (path: string) => path.startsWith('node:') || path === 'wrangler'
    const found = sources.filter((file) => !commands.test(file) && importsOf(textOf(file)).some(isForNode))
    expect(found).toEqual([])
  })

  it('read the clock and randomness in src/platform only', () => {
    const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/
    const found = sources.filter((file) => !file.startsWith('src/platform/') && impure.test(textOf(file)))
    expect(found).toEqual([])
  })

  it('have pure files where they only compute', () => {
    const reaches = /\bfetch\(|\bsetTimeout\(|\.prepare\(|clock\.(now|sleep|random)\(|\b(SELECT|INSERT|UPDATE|DELETE) /
    const pureFiles = sources.filter((file) => pure.test(file))
    expect(pureFiles.length).toBeGreaterThan(20)
    expect(pureFiles.filter((file) => reaches.test(textOf(file)))).toEqual([])
  })

  it('have pure files that import only pure files, types aside', () => {
    const valueImports = /^import (?!type )(?!\{(?:\s*type \w+,?)+\s*\})[^']*'(\.[^']+)'/gm
    const impure = sources
      .filter((file) => pure.test(file) && file !== 'src/keys/account-key.ts') // it takes only the seed from mnemonic.ts
      .flatMap((file) =>
        [...textOf(file).matchAll(valueImports)]
          .map(({ 1: path = '' }) => normalize(join(dirname(file), path)))
          .filter((path) => !pure.test(path))
          .map((path) => `${file} imports ${path}`),
      )
    expect(impure).toEqual([])
  })

  it('have no circle of imports, those of types included', () => {
    const imported = new Map(
      sources.map((file) => [
        file,
        importsOf(textOf(file))
          .filter((path) => path.startsWith('.'))
          .map((path) => normalize(join(dirname(file), path))),
      ]),
    )
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (file: string, way: readonly string[]) => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '))
      if (way.includes(file) || done.has(file)) return
      for (const next of imported.get(file) ?? []) visit(next, [...way, file])
      done.add(file)
    }
    for (const file of sources) visit(file, [])
    expect(circles).toEqual([])
  })

  it('export each name once, and only src/index.ts exports names of other files', () => {
    const places = new Map<string, string[]>()
    for (const file of sources) {
      for (const name of exportsOf(textOf(file))) places.set(name, [...(places.get(name) ?? []), file])
    }
    expect([...places].filter(([, where]) => where.length > 1)).toEqual([])
    expect(sources.filter((file) => /^export (?:type )?[{*]/m.test(textOf(file)))).toEqual(['src/index.ts'])
  })

  it('have at most 300 lines in a file and 60 in a function, which the linter counts in every file of src', () => {
    const { linter, overrides } = JSON.parse(textOf('.biome.json'))
    const { style, complexity, suspicious } = linter.rules
    expect(style.noExcessiveLinesPerFile).toEqual({ level: 'error', options: { maxLines: 300 } })
    expect(complexity.noExcessiveLinesPerFunction).toEqual({ level: 'error', options: { maxLines: 60 } })
    expect(suspicious.noImportCycles).toEqual({ level: 'error', options: { ignoreTypes: false } })
    expect(overrides.map(({ includes }: { includes: unknown }) => includes)).toEqual([['**/*.test.ts']])
    expect(sources.filter((file) => textOf(file).includes('noExcessiveLines'))).toEqual([])
  })

  it('name log events in kebab-case', () => {
    const events = sources.flatMap((file) =>
      [...textOf(file).matchAll(/\blogger\.(?:info|warn|error|alarm)\(\s*'([^']*)'/g)].flatMap(({ 1: event }) =>
        event === undefined ? [] : [{ file, event }],
      ),
    )
    expect(events.length).toBeGreaterThan(10)
    expect(events.filter(({ event }) => !/^[a-z]+(-[a-z]+)*$/.test(event))).toEqual([])
  })
})

describe('the repository', () => {
  it('contains nothing unfinished, focused or skipped', () => {
    const leftover = new RegExp(['TO', 'DO|FIX', 'ME|\\b(it|test|describe)\\.(on', 'ly|sk', 'ip|to', 'do)\\b'].join(''))
    const found = files.filter(
      (file) => /^(src|test|migrations)\/.*\.(ts|sql|sol)$/.test(file) && leftover.test(textOf(file)),
    )
    expect(found).toEqual([])
  })

  it('has only the agreed names at the top level', () => {
    const agreed =
      /^(src|migrations|test|wrangler\.toml|package(-lock)?\.json|tsconfig\.json|drizzle\.config\.ts|README\.md|LICENSE|\..*)$/
    const top = new Set(files.map((file) => file.split('/')[0] ?? ''))
    expect([...top].filter((name) => !agreed.test(name))).toEqual([])
  })
})

describe('the documentation', () => {
  const pages = files.filter((file) => file.endsWith('.md'))
  const quoted = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].flatMap((match) => match[1] ?? [])

  it('names only paths that exist', () => {
    const named = pages.flatMap((file) =>
      quoted(textOf(file))
        .filter((path) => /^(src|test|migrations)\/[\w./-]+$/.test(path))
        .map((path) => ({ file, path })),
    )
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
  })

  it('links only to files and sections that exist', () => {
    const broken = pages.flatMap((file) =>
      [...textOf(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#([^)\s]+))?\)/g)]
        .map(({ 1: path = '', 2: section }) => ({ file, path: join(dirname(file), path), section }))
        .filter(({ path, section }) => {
          if (!existsSync(join(root, path))) return true
          return section !== undefined && !anchorsOf(textOf(path)).includes(section)
        }),
    )
    expect(broken).toEqual([])
  })

  it('has no line over 160 characters, tables outside the two main pages excepted', () => {
    const isTable = (file: string, line: string) => line.startsWith('|') && !/^(src\/)?README\.md$/.test(file)
    const long = pages.flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, i) => (line.length > 160 && !isTable(file, line) ? [`${file}:${i + 1}`] : [])),
    )
    expect(long).toEqual([])
  })

  it('names in src/README.md only files and exports that exist', () => {
    const exported = new Set(sources.flatMap((file) => exportsOf(textOf(file))))
    const words = quoted(textOf('src/README.md'))
    const paths = words.filter((word) => /^[\w-]+(\/[\w-]+)*(\.(ts|md)|\/)$/.test(word))
    const names = words.filter((word) => /^[a-z]+[A-Z]\w+$|^[A-Z][a-z]+[A-Z]\w+$/.test(word))
    expect(paths.length).toBeGreaterThan(20)
    expect(names.length).toBeGreaterThan(10)
    expect(paths.filter((path) => !existsSync(join(root, 'src', path)))).toEqual([])
    expect(names.filter((name) => !exported.has(name))).toEqual([])
  })

  it('names in migrations/README.md only tables, columns and rules that the migrations have', () => {
    const sql = files
      .filter((file) => /^migrations\/\w+\.sql$/.test(file))
      .map(textOf)
      .join('\n')
    const names = quoted(textOf('migrations/README.md')).filter((word) => /^[a-z]+(_[a-z]+)+$/.test(word))
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(sql))).toEqual([])
  })

  it('has every section of PROTOCOL.md that a comment or test cites, and every cited section is a heading', () => {
    const sections = [...textOf('src/tron/PROTOCOL.md').matchAll(/^## (.+)$/gm)].flatMap((match) => match[1] ?? [])
    const cited = files
      .filter((file) => /^(src|test|migrations)\/.*\.(ts|sql|md)$/.test(file))
      .flatMap((file) =>
        [...unwrapped(textOf(file)).matchAll(/PROTOCOL\.md, ([A-Z][\w -]*\w)/g)].map((match) => ({
          file,
          text: match[1] ?? '',
        })),
      )
    expect(cited.length).toBeGreaterThan(20)
    expect(cited.filter(({ text }) => !sections.some((section) => text.startsWith(section)))).toEqual([])
    expect(sections.filter((section) => !cited.some(({ text }) => text.startsWith(section)))).toEqual([])
  })

  it('has a source for each fact of PROTOCOL.md', () => {
    const [, ...sections] = textOf('src/tron/PROTOCOL.md').split(/^## /m)
    // These two name their source once.
    const facts = sections
      .filter((text) => !/^(Collecting|Scanner rules)/.test(text))
      .flatMap((text) => text.split('\n'))
    const listed = facts.filter((line) => line.startsWith('- '))
    expect(listed.length).toBeGreaterThan(80)
    expect(listed.filter((line) => !/ _\([SNDICU][^)]*\)_$/.test(line))).toEqual([])
  })

  it('cites no sources by private numbers', () => {
    const numbers = /§|fact sheet|\((?:rules? )?R\d+|\bR\d+\b[,)]| \(\d{1,2}\.\d(, row \d+)?\)/
    const found = files.filter(
      (file) =>
        /^(src|test|migrations)\/.*\.(ts|sql|md)$/.test(file) &&
        numbers.test(textOf(file)) &&
        !file.endsWith('architecture.test.ts'),
    )
    expect(found).toEqual([])
  })
})

/** A text with the line breaks of its comments removed: a citation can be wrapped. */
function unwrapped(text: string): string {
  return text.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ')
}

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(({ 1: heading = '' }) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
