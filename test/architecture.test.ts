import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportsOf, repositoryFiles as files, sources, textOf } from './support/source-files.ts'

/**
 * The folders (and files) of src/worker, lowest first: each imports only from itself and from those
 * before it.
 */
const layers = [
  ...['common', 'platform', 'chain', 'd1', 'schemas', 'alarms', 'ledger', 'addresses', 'deposits', 'issuer', 'orders'],
  'payouts',
  'search',
  'events',
  'archive',
  'webhooks',
  ...['reconciliation', 'scan', 'summary', 'config', 'cells', 'services', 'http', 'rpc', 'tron', 'compose', 'index'],
]
/** What a folder may import, where that is less or other than the folders before it in `layers`. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  tron: ['common', 'platform', 'chain'],
  index: ['compose', 'platform', 'rpc', 'common', 'chain'],
  // Commands for a terminal: Node runs them, and the Worker does not contain them.
  commands: layers,
  // Browsers run them. They get the table of alarms, too, and nothing else that the Worker
  // contains.
  pages: ['common'],
}
/** Single files that a folder may import although it may not import their folder. */
const mayImportFiles: Readonly<Record<string, readonly string[]>> = { pages: ['src/worker/platform/alarm-table.ts'] }
/** The script that makes the static files of the pages. It runs in Node, not in a browser. */
const pagesBuild = 'src/pages/build.ts'
/**
 * The file that the build runs, and whose values it puts into the pages: it alone of the pages may
 * import schemas.
 */
const pagesShapes = 'src/pages/shapes.ts'

/** Folders whose files only compute: no clock, no I/O, no randomness, no SQL. */
const pure =
  /^src\/worker\/(cells\/(choose|objects)|common\/|chain\/|addresses\/derive|archive\/(note|tree)\.|deposits\/(explain|transfer\.|transitions\.)|issuer\/state\.|ledger\/(currencies|parse-post|entry|stops)\.|orders\/parse-order-request\.|payouts\/(answers|leaving|lifecycle|outflow|outgoing|payment|payout|signed-bytes|transfer-failure)\.|reconciliation\/judge|tron\/parse\/|platform\/alarm-table)|^src\/commands\/(signing\/account-key|collect\/(check-plan|collect-address|make-plan|plan|transaction)\.ts|payout\/(compare|judge|payout)\.ts)/

const folderOf = (file: string) => file.replace(/^src\/(worker\/)?/, '').replace(/(\/.*|\.ts)$/, '')
const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap((match) => match[1] ?? [])

/**
 * A text or a regular expression that begins and ends on its line. It is not broken, so that it can
 * be searched for; SQL is.
 */
const unbroken =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<!sql)`(?:[^`\\]|\\.)*`|(?<=^\s*|[(,=] )\/(?:[^/\\]|\\.)+\/[a-z]*/g
const isTooLong = (line: string) =>
  /^\s*(\/\/|\/?\*)/.test(line) ? [...line].length > 100 : [...line.replace(unbroken, "''")].length > 120

/** The files of src that a file imports. */
const localImportsOf = (file: string) =>
  importsOf(textOf(file))
    .filter((path) => path.startsWith('.'))
    .map((path) => normalize(join(dirname(file), path)))

describe('the folders of src', () => {
  it.each(sources)('%s imports only what its folder may import', (file) => {
    const folder = folderOf(file)
    const known = mayImport[folder] ?? layers.slice(0, layers.indexOf(folder))
    const allowed = file === pagesShapes ? [...known, 'schemas'] : known
    expect([...layers, 'commands', 'pages'], 'a folder without a rule').toContain(folder)
    const imported = localImportsOf(file)
      .filter((other) => !mayImportFiles[folder]?.includes(other))
      .map(folderOf)
    expect(imported.filter((other) => other !== folder && !allowed.includes(other))).toEqual([])
  })

  it('keep the build of the pages out of the pages', () => {
    const pages = sources.filter((file) => file.startsWith('src/pages/'))
    expect(pages).toContain(pagesBuild)
    expect(pages.filter((file) => importsOf(textOf(file)).some((path) => path.endsWith('/build.ts')))).toEqual([])
    expect(importsOf(textOf(pagesBuild)).filter((path) => path.startsWith('.'))).toEqual([])
  })

  it('keep private keys out of the Worker, and tronweb out of everything that ships: it is the oracle of tests', () => {
    const tools = sources.filter((file) => /^src\/commands\/(keys|signing|collect|payout|operate)\//.test(file))
    expect(tools.length).toBeGreaterThan(15)
    const isOfKeys = (path: string) => /^@scure\/bip39|(^|\/)(keys|signing|collect|payout)\//.test(path)
    const importersOf = (isMeant: (path: string) => boolean) =>
      sources.filter((file) => importsOf(textOf(file)).some(isMeant))
    expect(importersOf(isOfKeys).filter((file) => !tools.includes(file))).toEqual([])
    expect(importersOf((path) => path.startsWith('tronweb'))).toEqual([])
  })

  it('match no sentence of the service in the pages and commands: `x-reason` is the word for programs', () => {
    const sentence = '(msg|message|why|remedy|raised|failure)'
    const matches = [
      `\\b${sentence}\\??\\.(includes|match|startsWith|endsWith|search)\\(`,
      `\\.(test|exec)\\((\\w+\\.)*${sentence}\\)`,
      `\\b${sentence} [!=]== '[^']* `, // a text with a space: comparing with one word is allowed
    ].map((form) => new RegExp(form))
    const clients = sources.filter((file) => /^src\/(pages|commands\/payout)\//.test(file))
    expect(clients.length).toBeGreaterThan(50)
    expect(clients.filter((file) => matches.some((form) => form.test(textOf(file))))).toEqual([])
  })

  it('have a signer of payouts that broadcasts nothing: nothing that it imports, nor what that imports, asks a node to', () => {
    const reached = new Set(sources.filter((file) => file.startsWith('src/commands/payout/')))
    // the loop also visits the files that it adds
    for (const file of reached) for (const next of localImportsOf(file)) reached.add(next)
    expect([...reached]).toEqual(expect.arrayContaining(['src/commands/nodes.ts', 'src/worker/tron/finalized-head.ts']))
    const senders = sources.filter((file) => /'[^' ]*broadcast(hex|transaction)'/.test(textOf(file)))
    expect(senders).toEqual(['src/commands/collect/node-api.ts', 'src/worker/tron/broadcast.ts'])
    expect([...reached].filter((file) => senders.includes(file))).toEqual([])
  })

  it('leave Node and wrangler to the commands', () => {
    const commands = /^src\/commands\//
    const isForNode = (path: string) => path.startsWith('node:') || path === 'wrangler'
    const found = sources.filter(
      (file) => !commands.test(file) && file !== pagesBuild && importsOf(textOf(file)).some(isForNode),
    )
    expect(found).toEqual([])
  })

  it('read the clock and randomness in src/worker/platform only', () => {
    const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/
    const found = sources.filter((file) => !file.startsWith('src/worker/platform/') && impure.test(textOf(file)))
    expect(found).toEqual([])
  })

  it('take the clock of the machine where a program starts: all else is given one', () => {
    // jose adds a text such as '5m' to the time of the machine
    const taken = /\bsystemClock\b|setExpirationTime\((?!new Date\()/
    const found = sources.filter((file) => file !== 'src/worker/platform/clock.ts' && taken.test(textOf(file)))
    const starts = ['audit', 'collect', 'deploy', 'doctor', 'operate', 'payout'].map(
      (command) => `src/commands/${command}/start.ts`,
    )
    expect(found.toSorted()).toEqual([...starts, 'src/worker/index.ts'])
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
      // of mnemonic.ts, which is not pure, it uses only the pure `seedOf`
      .filter((file) => pure.test(file) && file !== 'src/commands/signing/account-key.ts')
      .flatMap((file) =>
        [...textOf(file).matchAll(valueImports)]
          .map(({ 1: path = '' }) => normalize(join(dirname(file), path)))
          .filter((path) => !pure.test(path))
          .map((path) => `${file} imports ${path}`),
      )
    expect(impure).toEqual([])
  })

  it('have no circle of imports, those of types included', () => {
    const imported = new Map(sources.map((file) => [file, localImportsOf(file)]))
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

  it('export each name once, and only src/worker/index.ts exports names of other files', () => {
    const places = new Map<string, string[]>()
    for (const file of sources) {
      for (const name of exportsOf(textOf(file))) places.set(name, [...(places.get(name) ?? []), file])
    }
    expect([...places].filter(([, where]) => where.length > 1)).toEqual([])
    expect(sources.filter((file) => /^export (?:type )?[{*]/m.test(textOf(file)))).toEqual(['src/worker/index.ts'])
  })

  it('have at most 400 lines in a file and 60 in a function, which the linter counts in every file of src', () => {
    const { linter, overrides } = JSON.parse(textOf('.biome.json'))
    const { style, complexity, suspicious } = linter.rules
    expect(style.noExcessiveLinesPerFile).toEqual({ level: 'error', options: { maxLines: 400 } })
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

  it('has comments of at most 100 columns, and code of at most 120 beside its texts', () => {
    const long = files
      .filter((file) => /^(src|test|migrations)\/.*\.([cm]?[jt]s|css)$/.test(file))
      .map((file) => ({ file, lines: textOf(file).split('\n').filter(isTooLong) }))
    expect(long.filter(({ lines }) => lines.length > 0)).toEqual([])
  })

  it('has only the agreed names at the top level', () => {
    const agreed =
      /^(src|migrations|test|wrangler\.toml|package(-lock)?\.json|tsconfig\.json|drizzle\.config\.ts|docs|findings|README\.md|CHANGELOG\.md|LICENSE|\..*)$/
    const top = new Set(files.map((file) => file.split('/')[0] ?? ''))
    expect([...top].filter((name) => !agreed.test(name))).toEqual([])
  })
})
