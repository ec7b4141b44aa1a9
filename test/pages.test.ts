import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseCells } from '../src/worker/cells/parse-cells.ts'
import { payoutStates } from '../src/worker/common/payout-states.ts'
import { ledgerRoutes, routes } from '../src/worker/http/routes.ts'
import { type AlarmRule, alarmTable, urgencies } from '../src/worker/platform/alarm-table.ts'
import { root } from './support/project.ts'
import { exportsOf, repositoryFiles as files, sources, textOf } from './support/source-files.ts'

describe('the documentation', () => {
  const pages = files.filter((file) => file.endsWith('.md'))
  const quoted = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].flatMap((match) => match[1] ?? [])

  it('names only paths that exist', () => {
    const named = pages.flatMap((file) =>
      quoted(textOf(file))
        .filter((path) => /^(src|test|migrations|docs)\/[\w./-]+$/.test(path))
        .map((path) => ({ file, path })),
    )
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
  })

  it('has each page, and each section of it, to which a message or a comment of the code sends a reader', () => {
    const code = files.filter(
      (file) => /^(src|test)\/.*\.(ts|mjs|sh)$|^wrangler\.toml$/.test(file) && file !== 'test/pages.test.ts',
    )
    const named = code.flatMap((file) =>
      [...textOf(file).matchAll(/(?<![\w/.])(docs\/[\w/-]+\.md)(?:[^'"\n]{0,24}"([A-Z][^"]+)")?/g)].map(
        ([, path = '', title]) => ({
          file,
          path,
          title,
        }),
      ),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ title }) => title !== undefined).length).toBeGreaterThan(2)
    const isThere = ({ path, title }: { readonly path: string; readonly title: string | undefined }) =>
      existsSync(join(root, path)) && (title === undefined || textOf(path).includes(`# ${title}\n`))
    expect(named.filter((one) => !isThere(one))).toEqual([])
  })

  it('links only to files, pictures and sections that exist', () => {
    const broken = pages.flatMap((file) => linksOf(file).filter(({ path, section }) => !hasTarget(path, section)))
    expect(broken).toEqual([])
    expect(hasTarget('docs/operate.md', 'alarms')).toBe(true)
    expect([hasTarget('docs/operate.md', 'no-such-section'), hasTarget('docs/none.md')]).toEqual([false, false])
  })

  it('leads from the index to every page of docs/', () => {
    const reached = new Set(['docs/README.md'])
    for (const file of reached) {
      if (!file.endsWith('.md') || !file.startsWith('docs/')) continue
      for (const { path } of linksOf(file)) reached.add(path)
    }
    const ours = files.filter((file) => file.startsWith('docs/'))
    expect(ours.length).toBeGreaterThan(40)
    expect(ours.filter((file) => !reached.has(file) && !isShownIn(pages, file))).toEqual([])
  })

  it('names only routes, settings, and words of programs that the code has', () => {
    const paths = [...routes, ...ledgerRoutes].map(({ path }) => path)
    const isRoute = (name: string) =>
      paths.some((path) => path === name || (name.endsWith('/') && path.startsWith(name)))
    const code = files
      .filter((file) =>
        /^(src|test\/devnet)\/.*\.(ts|mjs|html|vars)$|^(wrangler\.toml|\.dev\.vars\.example)$/.test(file),
      )
      .map(textOf)
      .join('\n')
    const has = (word: string) => settingsRead().has(word) || new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(code)
    const named = pages.filter(isAboutThisService).flatMap((file) => {
      const text = textOf(file)
      const route = [...text.matchAll(/(?<![\w./}-])\/(?:tron|wallet|ledger)\/[a-z/-]*/g)].map(([name]) => name)
      const words = quoted(text).filter((word) => /^[A-Z]+(_[A-Z]+)+$|^[a-z]+(-[a-z]+)+$/.test(word))
      return [
        ...route.map((name) => ({ file, name, isKnown: isRoute(name) })),
        ...words.map((name) => ({ file, name, isKnown: isAboutOthers(file) || has(name) })),
      ]
    })
    expect(named.length).toBeGreaterThan(200)
    expect([isRoute('/tron/generate'), isRoute('/tron/none'), has('gap-unread'), has('no-such-alarm')]).toEqual([
      ...[true, false, true, false],
    ])
    expect(named.filter(({ isKnown }) => !isKnown).map(({ file, name }) => `${file}: ${name}`)).toEqual([])
  })

  it('has a line for each finding', () => {
    const scripts = files.filter((file) => /^findings\/[\w-]+\.sh$/.test(file))
    const index = textOf('findings/README.md')
    expect(scripts.length).toBeGreaterThan(10)
    expect(scripts.filter((file) => !index.includes(`](${file.slice('findings/'.length)})`))).toEqual([])
  })

  it('has no line over 160 characters, tables outside the main pages excepted', () => {
    const isTable = (file: string, line: string) =>
      line.startsWith('|') && !/^(src\/)?README\.md$|^docs\/(README|start|integrate|concepts)\.md$/.test(file)
    const long = pages.flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, i) => (line.length > 160 && !isTable(file, line) ? [`${file}:${i + 1}`] : [])),
    )
    expect(long).toEqual([])
  })

  it('names in src/README.md and the walks only files and exports that exist', () => {
    const exported = new Set(sources.flatMap((file) => exportsOf(textOf(file))))
    const words = ['src/README.md', 'docs/concepts.md'].flatMap((page) => quoted(textOf(page)))
    const paths = words.filter((word) => /^[\w-]+(\/[\w-]+)*(\.(ts|md)|\/)$/.test(word))
    const names = words.filter((word) => /^[a-z]+[A-Z]\w+$|^[A-Z][a-z]+[A-Z]\w+$/.test(word))
    expect(paths.length).toBeGreaterThan(20)
    expect(names.length).toBeGreaterThan(10)
    const places = ['src/worker', 'src', ''].map((place) => join(root, place))
    expect(paths.filter((path) => !places.some((place) => existsSync(join(place, path))))).toEqual([])
    expect(names.filter((name) => !exported.has(name))).toEqual([])
  })

  it('names in the walks the file that has what stands beside it', () => {
    const walks = textOf('docs/concepts.md').replace(/\s+/g, ' ')
    const placed = [...walks.matchAll(/`(\w+)` (?:\(|in )`([\w/-]+\.ts)`/g)]
    expect(placed.length).toBeGreaterThan(40)
    const isThere = (file: string, name: string) =>
      [`src/worker/${file}`, `src/${file}`].some(
        (path) => sources.includes(path) && exportsOf(textOf(path)).includes(name),
      )
    expect(placed.filter(([, name = '', file = '']) => !isThere(file, name)).map(([text]) => text)).toEqual([])
  })

  it.each(payoutStates)('says what a payout is that is %s, in its guide and its schema', (state) => {
    expect(textOf('docs/guides/payouts.md')).toMatch(new RegExp(`^\\| \`${state}\` +\\| \\w`, 'm'))
    expect(textOf('src/worker/schemas/payout.ts')).toContain(`\`${state}\`: `)
  })

  it('names every folder of the worker in src/README.md', () => {
    const folders = new Set(sources.flatMap((file) => /^src\/worker\/([^/]+)\//.exec(file)?.[1] ?? []))
    expect(folders.size).toBeGreaterThan(15)
    const words = new Set(quoted(textOf('src/README.md')))
    expect([...folders].filter((folder) => !words.has(`${folder}/`))).toEqual([])
  })

  it('names every table, view and index of the migrations in docs/database.md', () => {
    const sql = files.flatMap((file) => (/^migrations\/\w+\.sql$/.test(file) ? [textOf(file)] : [])).join('\n')
    const names = [...sql.matchAll(/^CREATE (?:TABLE|VIEW|INDEX|UNIQUE INDEX) `?(\w+)/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(80)
    const words = new Set(quoted(textOf('docs/database.md')))
    expect(names.filter((name) => !words.has(name))).toEqual([])
  })

  it('names in docs/database.md only tables, columns and rules that the migrations have', () => {
    const sql = files
      .filter((file) => /^migrations\/\w+\.sql$/.test(file))
      .map(textOf)
      .join('\n')
    const names = quoted(textOf('docs/database.md')).filter((word) => /^[a-z]+(_[a-z]+)+$/.test(word))
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(sql))).toEqual([])
  })

  it('has every section of PROTOCOL.md that a comment or test cites, and every cited section is a heading', () => {
    const sections = [...textOf('docs/PROTOCOL.md').matchAll(/^## (.+)$/gm)].flatMap((match) => match[1] ?? [])
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
    const [, ...sections] = textOf('docs/PROTOCOL.md').split(/^## /m)
    // These two sections name their source once, not for each fact.
    const facts = sections
      .filter((text) => !/^(Collecting|Scanner rules)/.test(text))
      .flatMap((text) => text.split('\n'))
    const listed = facts.filter((line) => line.startsWith('- '))
    expect(listed.length).toBeGreaterThan(80)
    expect(listed.filter((line) => !/ _\([SNDICU][^)]*\)_$/.test(line))).toEqual([])
  })

  it('has every alarm of the table on the page for operators, in its words', () => {
    const section = /<!-- alarms -->([\s\S]*?)<!-- \/alarms -->/.exec(textOf('docs/operate.md'))?.[1] ?? ''
    const oneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ')
    const listed = section.split(/^### /m).slice(1).map(oneLine)
    const expected = Object.entries<AlarmRule>(alarmTable).map(
      ([kind, { raised, ends = 'An hour after it was last seen.', remedy }]) =>
        `${kind} ${raised} **Ends:** ${ends} **What to do:** ${remedy}`,
    )
    expect(listed).toEqual(expected)
  })

  it('begins the page for operators with each urgency and its alarms', () => {
    const page = textOf('docs/operate.md')
    const table = /<!-- urgencies -->([\s\S]*?)<!-- \/urgencies -->/.exec(page)?.[1] ?? ''
    const rows = [...table.matchAll(/^\| `([a-z-]+)` *\|[^|]*\|(.*)\|$/gm)].map(([, urgency, alarms = '']) => {
      return [urgency, [...alarms.matchAll(/\[([a-z-]+)\]\(#\1\)/g)].map(([, kind]) => kind)]
    })
    const kindsOf = (urgency: string) =>
      Object.entries<AlarmRule>(alarmTable).flatMap(([kind, rule]) => (rule.urgency === urgency ? [kind] : []))
    expect(rows).toEqual(urgencies.map((urgency) => [urgency, kindsOf(urgency)]))
    expect(page.indexOf('<!-- urgencies -->')).toBeLessThan(page.indexOf('## Is all well?'))
  })

  it('has every setting that the configuration reads, and no other', () => {
    const settings = [...settingsRead()].filter((name) => !/^(DB|ASSETS|SCANNER|ENDPOINT|BLOCKS|RATE_\w+)$/.test(name))
    const listed = [...textOf('docs/guides/settings.md').matchAll(/^\| `([A-Z_]+)`/gm)].flatMap(
      (match) => match[1] ?? [],
    )
    expect(listed.length).toBeGreaterThan(20)
    expect(new Set(settings)).toEqual(new Set(listed))
  })

  it('names only commands of package.json that exist', () => {
    // package.json has this member
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    const named = pages.flatMap((file) =>
      [...textOf(file).matchAll(/npm run ([a-z][a-z:]*)/g)].map(({ 1: name = '' }) => ({ file, name })),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ name }) => !(name in scripts))).toEqual([])
  })

  it('has each decision note that a comment or another note cites', () => {
    const numbers = pages.flatMap((file) => /^docs\/decisions\/0*(\d+)-/.exec(file)?.[1] ?? [])
    const cited = [...sources, ...pages].flatMap((file) =>
      [...textOf(file).matchAll(/\b[Nn]otes? (\d+)\b/g)].map(({ 1: number = '' }) => ({ file, number })),
    )
    expect(cited.length).toBeGreaterThan(3)
    expect(cited.filter(({ number }) => !numbers.includes(number))).toEqual([])
  })

  it('has a workflow that runs what CI runs, and may change nothing', () => {
    const workflow = textOf('.github/workflows/check.yml')
    expect([...workflow.matchAll(/^ +- run: (.*)$/gm)].map(([, command]) => command)).toEqual(['.ci/run'])
    expect(workflow).toContain('\npermissions:\n  contents: read\n')
    expect(workflow).not.toMatch(/secrets\.|write/)
    expect(textOf('.ci/run')).toMatch(/^npm ci && npm test$/m)
  })

  it('has the version of the package as the newest one of the changelog', () => {
    // package.json has this member
    const { version } = JSON.parse(textOf('package.json')) as { readonly version: string }
    const changes = textOf('CHANGELOG.md')
    expect(/^## \[(\d\S*)\]/m.exec(changes)?.[1]).toBe(version)
  })

  it('cites no sources by private numbers', () => {
    const numbers = /§|fact sheet|\((?:rules? )?R\d+|\bR\d+\b[,)]| \(\d{1,2}\.\d(, row \d+)?\)/
    const found = files.filter(
      (file) =>
        /^(src|test|migrations)\/.*\.(ts|sql|md)$/.test(file) &&
        numbers.test(textOf(file)) &&
        !file.endsWith('pages.test.ts'),
    )
    expect(found).toEqual([])
  })
})

/** A text with the line breaks of its comments removed: a citation can be wrapped. */
function unwrapped(text: string): string {
  return text.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ')
}

/** What a page links to or shows: a file of the repository, and a section of it. */
function linksOf(file: string): { readonly file: string; readonly path: string; readonly section?: string }[] {
  const text = textOf(file)
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  const pictures = [...text.matchAll(/<img src="(?!https?:)([^"]+)"/g)]
  return [...links, ...pictures].map(({ 1: link = '', 2: section }) => {
    const path = link === '' ? file : join(dirname(file), link)
    return section === undefined ? { file, path } : { file, path, section }
  })
}

function hasTarget(path: string, section?: string): boolean {
  if (!existsSync(join(root, path))) return false
  return section === undefined || anchorsOf(textOf(path)).includes(section)
}

/**
 * Whether a file is a picture that one of the pages shows. Such a picture counts as reached, in
 * whichever folder the page is.
 */
function isShownIn(pages: readonly string[], file: string): boolean {
  return file.startsWith('docs/images/') && pages.some((page) => linksOf(page).some(({ path }) => path === file))
}

/** The names that the configuration reads. */
function settingsRead(): ReadonlySet<string> {
  const read = new Set<string>()
  const bindings = { get: (_: object, name: string) => void read.add(name), has: () => false }
  parseCells(new Proxy({}, bindings))
  return read
}

/**
 * Whether a page is one of the guides that name libraries, scripts and settings of other projects.
 */
function isAboutOthers(file: string): boolean {
  return /^docs\/guides\/(clients|signers|providers)\.md$/.test(file)
}

/**
 * Whether a page is about this service as it is. The other pages name things that are elsewhere or
 * gone: facts about nodes, and decision notes.
 */
function isAboutThisService(file: string): boolean {
  return /^(README\.md$|docs\/|\.github\/)/.test(file) && !/^docs\/(PROTOCOL\.md|decisions\/)/.test(file)
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
