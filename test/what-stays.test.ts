import { globSync, readFileSync } from 'node:fs'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import { linedTables, writeRemoved } from '../src/worker/archive/rows.ts'
import { eventTypes } from '../src/worker/common/event-types.ts'
import { allReasons } from '../src/worker/common/reasons.ts'
import { createDocument } from '../src/worker/http/openapi/document.ts'
import { alarmTable } from '../src/worker/platform/alarm-table.ts'
import { root } from './support/project.ts'
import { textOf } from './support/source-files.ts'

// `docs/integrate.md` promises what no version within 1.x changes. `what-stays.txt` has each of
// these facts as a line. A line that is gone is a broken promise; a new one is added by `-u`.

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[]
  readonly responses: Readonly<Record<string, unknown>>
}

const document = JSON.parse(JSON.stringify(createDocument('1.0.0'))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const routes = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], responses }]) => {
      const route = `${method.toUpperCase()} ${path}`
      return [
        ...Object.keys(responses).map((status) => `route ${route} answers ${status}`),
        ...parameters.map(({ name, required = false }) => `route ${route} takes ${name}${required ? ', always' : ''}`),
      ]
    }),
  )

/** The type of a member: the name of its schema, or a plain type. */
const typeOf = ({ $ref, type, format, enum: words, oneOf, items }: Schema): string => {
  if ($ref !== undefined) return $ref.replace(/.*\//, '')
  if (oneOf !== undefined) return oneOf.map(typeOf).join(' or ')
  if (items !== undefined) return `list of ${typeOf(items)}`
  return [[type].flat().join(' or '), format, words?.join(' or ')].filter((one) => one !== undefined).join(' ')
}

/** The members of a schema, and of the objects in it that have no name. */
function members(name: string, { properties = {}, required = [], items, oneOf = [] }: Schema): string[] {
  const own = Object.entries(properties).flatMap(([member, schema]) => [
    `member ${name}.${member}: ${typeOf(schema)}${required.includes(member) ? ', always' : ''}`,
    ...members(`${name}.${member}`, schema),
  ])
  const parts = [...(items === undefined ? [] : [items]), ...oneOf].filter(({ $ref }) => $ref === undefined)
  return [...own, ...parts.flatMap((part) => members(name, part))]
}

const rpc = () =>
  [...textOf('src/worker/rpc/ledger-methods.ts').matchAll(/^ {2}(\w+)\(/gm)].map(([, method]) => `rpc ${method}`)

/** The settings of the table on their page, which another test compares with the code. */
const settings = () =>
  [...textOf('docs/guides/settings.md').matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => `setting ${name}`)

/** The options in the usage of each command: the text that it prints when it is called wrongly. */
const options = () =>
  ['audit', 'collect', 'deploy', 'doctor', 'keys', 'operate', 'payout'].flatMap((command) => {
    const files = globSync(`src/commands/${command}/*.ts`, { cwd: root }).map((file) => textOf(file))
    const usages = files.flatMap((text) => text.match(/(?<=usage(?: =|:) ?)(?:`[^`]*`|'[^']*')/g) ?? [])
    return usages
      .flatMap((usage) => usage.match(/(?<= |\[)--[a-z][a-z-]*/g) ?? [])
      .map((option) => `option ${command} ${option}`)
  })

/**
 * The columns of each kind of line in an archive that is a row. Note 91 says which members have
 * another name than their column.
 */
const archived = () =>
  Object.entries(linedTables).flatMap(([kind, { select }]) => {
    let text = new SQLiteSyncDialect().sqlToQuery(select).sql
    for (let before = ''; before !== text; ) {
      before = text
      text = text.replace(/\([^()]*\)/g, '') // expressions: their name comes after them
    }
    const columns = text.split(', ').map((column) => /\w+(?="?$)/.exec(column)?.[0])
    return columns.filter((name) => name !== 'order_cuy').map((name) => `archive ${kind} ${name}`)
  })

const present = () => [
  ...new Set(
    [
      ...routes(),
      ...Object.entries(document.components.schemas).flatMap(([name, schema]) => members(name, schema)),
      ...allReasons().map((reason) => `reason ${reason}`),
      ...eventTypes.map((type) => `event ${type}`),
      ...Object.keys(alarmTable).map((kind) => `alarm ${kind}`),
      ...rpc(),
      ...settings(),
      ...options(),
      ...archived(),
      ...Object.keys(JSON.parse(writeRemoved('[1,"",0,0]'))).map((name) => `archive removed ${name}`),
    ].sort((a, b) => (a < b ? -1 : 1)),
  ),
]
const path = `${root}test/what-stays.txt`

it('nothing that was promised is gone or is another thing', () => {
  const kept = readFileSync(path, 'utf8').trim().split('\n')
  const now = new Set(present())
  expect(kept.length).toBeGreaterThan(500)
  // Within 1.x this fails for a member, a reason, an event, a setting or an option that is removed
  // or renamed. Bring it back, beside the new one.
  expect(kept.filter((line) => !now.has(line))).toEqual([])
})

it('whatever is new is promised from now on', async () => {
  await expect(`${present().join('\n')}\n`).toMatchFileSnapshot(path)
})
