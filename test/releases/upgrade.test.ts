import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readReleased } from '../../migrations/released.ts'
import { root } from '../support/project.ts'
import { checkUpgrade, rollOut } from './check-upgrade.ts'
import { readChanges, releasedVersions } from './fixture.ts'
import { bundleCurrent, type KeptBundle } from './kept-bundle.ts'

const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')

let current: KeptBundle
beforeAll(async () => {
  current = await bundleCurrent()
})

it('has a fixture of each version that the changelog dates: `npm run release` makes it', () => {
  const dated = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-/gm)].map(([, version]) => version)
  expect(releasedVersions()).toEqual(expect.arrayContaining(dated))
  expect(readReleased().size > 0).toBe(releasedVersions().length > 0)
})

describe.each(releasedVersions())('an upgrade of %s', (version) => {
  it('answers as before, but for what the changelog names, and the version before goes on beside it', async () => {
    expect(await checkUpgrade({ version, script: current.script })).toEqual([])
  })

  it('is rolled out and taken back while both versions serve requests, in workerd', async () => {
    expect(await rollOut(version, current)).toEqual([])
  })

  it('names only changes that the changelog has', () => {
    expect(readChanges(version).filter((change) => !changelog.includes(change.changelog))).toEqual([])
  })
})

describe.each(releasedVersions().slice(-1))('after %s, a migration that', (version) => {
  /** Migrations that break the promise, each with what the check says first. */
  const bad: readonly (readonly [what: string, sql: string, says: RegExp])[] = [
    [
      'renames a column',
      'ALTER TABLE payout RENAME COLUMN mark TO remark',
      /GET \/tron\/payouts \(7\) answers otherwise: data\.list\[0\]\.mark is missing, not ""$/m,
    ],
    [
      'adds a column that must be given',
      // by a new table, because SQLite adds no such column to one with rows
      `PRAGMA legacy_alter_table = ON;
       CREATE TABLE new_decision (txid TEXT, position INTEGER, decision TEXT, why TEXT, decided_by TEXT,
         created_at INTEGER, channel TEXT NOT NULL, PRIMARY KEY (txid, position, decision)) WITHOUT ROWID;
       INSERT INTO new_decision SELECT *, 'desk' FROM decision;
       DROP TABLE decision;
       ALTER TABLE new_decision RENAME TO decision`,
      /^\d.*, review: POST \/ledger\/deposits\/decide answers 500 /m,
    ],
    [
      'refuses what the version before writes',
      `CREATE TRIGGER order_has_a_remark BEFORE INSERT ON payment_order WHEN NEW.mark = ''
       BEGIN SELECT RAISE(ABORT, 'order: it needs a remark'); END`,
      /^\d.*, takeOrder: POST \/ledger\/orders answers 500 /m,
    ],
    [
      'changes the meaning of a word',
      `DROP TRIGGER transfer_takes_its_steps;
       UPDATE stored_transfer SET reason = 'dust' WHERE reason = 'below-minimum'`,
      /GET \/tron\/deposits \(9\) answers otherwise: data\.list\[0\]\.reason is "dust", not "below-minimum"$/m,
    ],
  ]

  it.each(bad)('%s is named', async (_, further, says) => {
    const faults = await checkUpgrade({ version, script: current.script, further, isShort: true })
    expect(faults.join('\n')).toMatch(says)
  })
})
