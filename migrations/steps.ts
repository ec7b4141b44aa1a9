/**
 * `npm run db:generate` runs this after drizzle-kit: it writes the steps and stops that the code's
 * tables allow into the migrations, between the lines `-- generated from <table>` and
 * `-- end of <table>`. A table's newest migration gets them, because one that was applied is never
 * edited.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type StepCondition, transferSteps } from '../src/worker/deposits/transitions.ts'
import { mayGoOn } from '../src/worker/ledger/stops.ts'
import { type OrderEvent, orderSteps } from '../src/worker/orders/lifecycle.ts'
import { payoutSteps, transactionSteps } from '../src/worker/payouts/lifecycle.ts'

const folder = fileURLToPath(new URL('.', import.meta.url).href)

/**
 * SQL for what must hold at a step of a transfer, besides its states; empty if nothing must, or if
 * a rule of its own checks it.
 */
const conditionSql: Readonly<Record<StepCondition, string>> = {
  read: '',
  passed: '', // 'its block is not read yet'
  'asked-again':
    "EXISTS (\n  SELECT 1 FROM rescan WHERE kind = 'request' AND finished_at IS NULL AND to_height >= OLD.height AND next_height <= OLD.height)",
  decided: "OLD.review IS 'refuse' AND NEW.review IS 'credit'",
  corrected: 'OLD.height > (SELECT finalized FROM scan)',
  'found-again': `OLD.sought = 1\n  AND (${exceptBlock('NEW')})\n    IS (${exceptBlock('OLD')})`,
}

/** SQL for what must hold at a step of an order, besides its states. */
const orderConditionSql: Readonly<Record<OrderEvent, string>> = {
  count: 'NEW.newest_entry > OLD.newest_entry',
  pass: 'NEW.newest_entry = OLD.newest_entry',
  cancel: 'OLD.credited = 0',
}

/** What stays of a transfer that is found again: everything but its block. */
function exceptBlock(row: 'NEW' | 'OLD'): string {
  const names = 'cuy uid from_address to_address raw native reason amount review seconds seen_by'.split(' ')
  return names.map((name) => `${row}.${name}`).join(', ')
}

/** The lines of each table, without indentation. */
const tables: Readonly<Record<string, readonly string[]>> = {
  transferSteps: stepsSql(transferSteps, 'state', (event) => conditionSql[event]),
  payoutSteps: stepsSql(payoutSteps, 'state', () => ''),
  orderSteps: stepsSql(orderSteps, 'state', (event) => orderConditionSql[event]),
  transactionSteps: stepsSql(transactionSteps, 'ended', () => ''),
  mayGoOn: Object.entries(mayGoOn).map(([fact, steps], index, { length }) => {
    const stopped = Object.entries(steps).flatMap(([step, mayBeTaken]) => (mayBeTaken ? [] : [`"${step}"`]))
    return `('${fact}', '[${stopped.join(', ')}]')${index === length - 1 ? '' : ','}`
  }),
}

/** The steps of a table by the states that they begin with and end in, each with its events. */
type Steps<Event> = Readonly<Record<string, Partial<Readonly<Record<string, readonly Event[]>>>>>

/**
 * A condition that holds for exactly the steps of a table. Steps from one state share a line if
 * they have the same condition.
 */
function stepsSql<Event>(
  steps: Steps<Event>,
  column: string,
  conditionOf: (event: Event) => string,
): readonly string[] {
  const lines = Object.entries(steps).flatMap(([from, targets]) => {
    const statesBy = new Map<string, string[]>()
    for (const [to, events = []] of Object.entries(targets)) {
      const conditions = new Set(events.map(conditionOf))
      const needed = conditions.has('') ? [''] : conditions // an event without a condition outweighs the others
      for (const condition of needed) statesBy.set(condition, [...(statesBy.get(condition) ?? []), to])
    }
    return [...statesBy].map(([condition, states]) =>
      [isIn(`OLD.${column}`, [from]), isIn(`NEW.${column}`, states), ...(condition === '' ? [] : [condition])].join(
        ' AND ',
      ),
    )
  })
  return lines.map((line, index) => `${index === 0 ? '' : 'OR '}(${line})`)
}

/** A transaction is `open` while its column `ended` is NULL. */
function isIn(column: string, states: readonly string[]): string {
  const words = states.filter((state) => state !== 'open' || !column.endsWith('.ended')).map((state) => `'${state}'`)
  const isWord = words.length === 1 ? `${column} IS ${words.join()}` : `${column} IN (${words.join(', ')})`
  if (words.length === states.length) return isWord
  return words.length === 0 ? `${column} IS NULL` : `(${column} IS NULL OR ${isWord})`
}

/**
 * The migrations, by name, with the tables as they are in the code. Throws if no migration has a
 * table.
 */
export function generateSteps(migrations: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const generated = new Map(migrations)
  for (const [table, lines] of Object.entries(tables)) {
    const region = new RegExp(`^( *)-- generated from ${table}\\n[^]*?^ *-- end of ${table}\\n`, 'm')
    const newest = [...generated].findLast(([, sql]) => region.test(sql))
    if (newest === undefined) throw new Error(`no migration has the lines of ${table}`)
    const [name, sql] = newest
    const write = (_: string, indent: string) =>
      [`-- generated from ${table}`, ...lines, `-- end of ${table}\n`].join('\n').replace(/^(?=.)/gm, indent)
    generated.set(name, sql.replace(region, write))
  }
  return generated
}

/** The text of each migration by its name, in the order in which they are applied. */
export function readMigrations(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return new Map(names.sort().map((name) => [name, readFileSync(folder + name, 'utf8')]))
}

if (import.meta.main) for (const [name, sql] of generateSteps(readMigrations())) writeFileSync(folder + name, sql)
