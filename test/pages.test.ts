import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { type AlarmRule, alarmTable } from '../src/platform/alarm-table.ts'
import { root } from './support/project.ts'
import { exportsOf, repositoryFiles as files, sources, textOf } from './support/source-files.ts'

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

  it('has a line for each finding', () => {
    const scripts = files.filter((file) => /^findings\/[\w-]+\.sh$/.test(file))
    const index = textOf('findings/README.md')
    expect(scripts.length).toBeGreaterThan(10)
    expect(scripts.filter((file) => !index.includes(`](${file.slice('findings/'.length)})`))).toEqual([])
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

  it('has every alarm of the table on the page for operators, in its words', () => {
    const section = /<!-- alarms -->([\s\S]*?)<!-- \/alarms -->/.exec(textOf('src/guides/operation.md'))?.[1] ?? ''
    const oneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ')
    const listed = section.split(/^### /m).slice(1).map(oneLine)
    const expected = Object.entries<AlarmRule>(alarmTable).map(
      ([kind, { raised, ends = 'An hour after it was last seen.', remedy }]) =>
        `${kind} ${raised} **Ends:** ${ends} **What to do:** ${remedy}`,
    )
    expect(listed).toEqual(expected)
  })

  it('has every setting that the configuration reads, and no other', () => {
    const read = new Set<string>()
    const bindings = { get: (_: object, name: string) => void read.add(name), has: () => false }
    parseConfig(new Proxy({}, bindings))
    const settings = [...read].filter((name) => !/^(DB|ASSETS|SCANNER|ENDPOINT|RATE_\w+)$/.test(name))
    const listed = [...textOf('src/guides/settings.md').matchAll(/^\| `([A-Z_]+)`/gm)].flatMap(
      (match) => match[1] ?? [],
    )
    expect(listed.length).toBeGreaterThan(20)
    expect(new Set(settings)).toEqual(new Set(listed))
  })

  it('names only commands of package.json that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> } // it has
    const named = pages.flatMap((file) =>
      [...textOf(file).matchAll(/npm run ([a-z][a-z:]*)/g)].map(({ 1: name = '' }) => ({ file, name })),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ name }) => !(name in scripts))).toEqual([])
  })

  it('has each decision note that a comment or another note cites', () => {
    const numbers = pages.flatMap((file) => /^src\/decisions\/0*(\d+)-/.exec(file)?.[1] ?? [])
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

  it('has the version of the package as the newest one under Changes', () => {
    const { version } = JSON.parse(textOf('package.json')) as { readonly version: string } // it has one
    const changes = textOf('README.md').split('\n## Changes\n')[1] ?? ''
    expect(/^### (\S+), /m.exec(changes)?.[1]).toBe(version)
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

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(({ 1: heading = '' }) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
