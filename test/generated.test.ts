import { expect, it } from 'vitest'
import { generateSteps, readMigrations } from '../migrations/steps.ts'

it('the migrations have the steps and stops of the tables in the code: after a change, run `npm run db:generate`', () => {
  const migrations = readMigrations()
  expect([...generateSteps(migrations)]).toEqual([...migrations])
})

it('only the newest migration that has a table is written, because one that was applied is never edited', () => {
  const region = (lines: string) => `-- generated from payoutSteps\n${lines}-- end of payoutSteps\n`
  const migrations = readMigrations()
  const generated = generateSteps(new Map([...migrations, ['0002_later.sql', region('')], ['0003_other.sql', '']]))
  expect([...generated].slice(0, migrations.size)).toEqual([...migrations])
  expect(generated.get('0002_later.sql')).toMatch(
    /^-- generated from payoutSteps\n\(OLD\.state IS .+\n-- end of payoutSteps\n$/s,
  )
  expect(generated.get('0003_other.sql')).toBe('')
})

it('a table that no migration has is an error, so that no step is lost in silence', () => {
  expect(() => generateSteps(new Map())).toThrow('no migration has the lines of transferSteps')
})
