import { expect, it } from 'vitest'
import { readMigrations, readReleased } from '../migrations/released.ts'
import { generateSteps } from '../migrations/steps.ts'

const none = () => false
const all = () => true
/** The migrations of a version whose table of payouts had no steps. */
const withoutSteps = () =>
  new Map(
    [...readMigrations()].map(([name, sql]) => [
      name,
      sql.replace(/(-- generated from payoutSteps\n)[\s\S]*?( *-- end of payoutSteps)/, '$1      FALSE\n$2'),
    ]),
  )

it('a migrated database has the steps and stops of the tables in the code: after a change, run `npm run db:generate`', () => {
  const [migrations, released] = [readMigrations(), readReleased()]
  expect([...generateSteps(migrations, (name) => released.has(name))]).toEqual([...migrations])
})

it('what differs is written into a migration that is not released', () => {
  expect([...generateSteps(withoutSteps(), none)]).toEqual([...generateSteps(readMigrations(), none)])
})

it('what differs from released migrations is written into a new one, because databases have applied them', () => {
  const before = withoutSteps()
  const generated = generateSteps(before, all)
  const [added, ...more] = [...generated].slice(before.size)
  expect([...generated].slice(0, before.size)).toEqual([...before])
  const [name = '', sql = ''] = added ?? []
  const number = Math.max(...[...before.keys()].map((one) => Number.parseInt(one, 10))) + 1
  expect([name, more]).toEqual([`000${number}_steps.sql`, []])
  const statements = sql.split(';\n--> statement-breakpoint\n').map((one) => one.split('\n')[0])
  expect(statements).toEqual([
    'DROP TRIGGER IF EXISTS payout_takes_its_steps',
    expect.stringMatching(/^CREATE TRIGGER payout_takes_its_steps BEFORE UPDATE /),
    'DROP VIEW IF EXISTS newest_migration',
    `CREATE VIEW newest_migration AS SELECT ${number} AS number;`,
  ])
  // with it, nothing differs
  expect([...generateSteps(generated, all)]).toEqual([...generated])
})

it('a table that no trigger has is an error, so that no step is lost in silence', () => {
  const lost = new Map([...readMigrations(), ['0099_lost.sql', 'DROP TRIGGER transfer_takes_its_steps']])
  expect(() => generateSteps(lost, none)).toThrow('has the lines of transferSteps')
})
