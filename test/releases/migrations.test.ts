import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { findEdited, readMigrations, readReleased } from '../../migrations/released.ts'

const hashOf = (sql: string) => createHash('sha256').update(sql).digest('hex')

it('no released migration is edited or gone', () => {
  expect(findEdited(readMigrations(), readReleased()).join('\n')).toBe('')
})

it('who edits a released migration is told what to do instead', () => {
  const released = new Map(['same', 'edited', 'gone'].map((name) => [`${name}.sql`, hashOf('SELECT 1')]))
  const migrations = new Map([
    ['same.sql', 'SELECT 1'],
    ['edited.sql', 'SELECT 2'],
    ['new.sql', 'SELECT 3'],
  ])
  const todo =
    'Databases have applied it and would never get the change: take it back (git checkout), ' +
    'and write a new migration (docs/database.md, "Adding a migration").'
  expect(findEdited(migrations, released)).toEqual([
    `migrations/edited.sql was released, and is edited. ${todo}`,
    `migrations/gone.sql was released, and is gone. ${todo}`,
  ])
})
