import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runDeploy, runMigrate } from '../../../src/commands/deploy/command.ts'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { callCommand, runCommand } from '../../support/command.ts'
import { readMigrations } from '../../support/database-file.ts'
import { root } from '../../support/project.ts'
import { databaseId, rowsIn } from '../local-database.ts'
import { objectBindings } from '../objects.ts'
import { secondId } from '../two-cells.ts'
import { callsIn, environmentIn, fakeWrangler } from './fake-wrangler.ts'

const thirdId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const cells = [
  { db: 'DB', uids: '1-999999', xpub: 'TRON_XPUB' },
  { db: 'DB_2', uids: '1000000-1999999', xpub: 'SECOND_KEY' },
  { db: 'DB_3', uids: '2000000-', xpub: 'THIRD_KEY' },
]

let folder: string
const path = (name: string) => join(folder, name)

/** Writes a wrangler.toml with a database for each of these ids. */
function configure(ids: readonly (string | null)[], list: readonly object[] = cells): void {
  const databases = ids.map((id, i) => {
    const [binding, name] = i === 0 ? ['DB', 'x'] : [`DB_${i + 1}`, `x-${i + 1}`]
    const text = `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "${name}"\ndatabase_id = "${id}"\n`
    return id === null ? '' : `${text}migrations_dir = "${root}migrations"\n`
  })
  writeFileSync(
    path('wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[vars]\nCELLS = '${JSON.stringify(list)}'\n${databases.join('')}${objectBindings('')}`,
  )
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-cells-'))
  configure([databaseId, secondId, thirdId])
  fake('exit 0')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fake = (command: string) => fakeWrangler(folder, command)
const calls = () => callsIn(folder).map((call) => call.replace('CI=1 ', ''))
const environment = () => environmentIn(folder)
const deploy = () => callCommand(runDeploy, ['--production'], { cwd: folder, environment: environment() })

const deployed = `deploy --env= --tag=${serviceVersion}`
const applied = (...bindings: string[]) => bindings.map((name) => `d1 migrations apply ${name} --remote --env=`)

describe('npm run deploy with several cells', () => {
  it('applies the migrations to the database of each, and only then deploys', async () => {
    const { code, out } = await deploy()
    const first =
      `Acts on production: cell 1, database x (${databaseId}); cell 2, database x-2 (${secondId}); ` +
      `cell 3, database x-3 (${thirdId}), no chain (TRON_CHAIN_ID is not set).`
    expect([code, out.split('\n')[0]]).toEqual([0, first])
    expect(calls()).toEqual([...applied('DB', 'DB_2', 'DB_3'), deployed])
  })

  it('stops at the first database that fails, says which, and does not deploy', async () => {
    fake('[ "$4" != DB_2 ] || { echo "no such table: flow"; exit 1; }')
    const { code, out, all } = await deploy()
    expect(calls()).toEqual(applied('DB', 'DB_2'))
    expect([code, all.slice(out.length)]).toEqual([
      1,
      expect.stringMatching(/^Stopped: The migrations of cell 2 \(database x-2\) could not be applied\.\nWhat to do: /),
    ])
    fake('exit 0')
    expect((await deploy()).code).toBe(0)
    expect(calls().slice(2)).toEqual([...applied('DB', 'DB_2', 'DB_3'), deployed])
  })

  const placeholder = '00000000-0000-0000-0000-000000000000'
  it.each<[string, readonly (string | null)[], string]>([
    [
      'a database that is not there',
      [databaseId, secondId, null],
      'wrangler.toml has no D1 database with the binding DB_3 and a database_id (cell 3)',
    ],
    [
      'a placeholder',
      [databaseId, placeholder, thirdId],
      'database_id of DB_2 (cell 2) in wrangler.toml is a placeholder',
    ],
    [
      'one database for two cells',
      [databaseId, secondId, secondId],
      'two cells of wrangler.toml have the same database_id',
    ],
  ])('refuses %s before the first step', async (_, ids, why) => {
    configure(ids)
    const { code, all } = await deploy()
    expect([code, all]).toEqual([1, expect.stringContaining(`Stopped: ${why}.\n`)])
    expect(calls()).toEqual([])
  })

  it('refuses ranges that leave users out before the first step', async () => {
    configure([databaseId, secondId], cells.slice(0, 2))
    const { code, all } = await deploy()
    expect([code, all]).toEqual([1, expect.stringContaining('Stopped: CELLS: no range with user 2000000; ')])
    expect(calls()).toEqual([])
  })

  it('is as with one cell where CELLS has one entry, whose database it names', async () => {
    configure([databaseId, secondId], [{ ...cells[1], uids: '1-' }])
    const { code, out } = await deploy()
    const first = `Acts on production: database x-2 (${secondId}), no chain (TRON_CHAIN_ID is not set).`
    expect([code, out.split('\n')[0]]).toEqual([0, first])
    expect(calls()).toEqual([...applied('DB_2'), deployed])
  })
})

describe('npm run db:migrate with several cells', () => {
  it('applies them on this machine to the database of each, by the real wrangler', async () => {
    const { code, out } = await runCommand('src/commands/deploy/migrate.ts', [], {
      cwd: folder,
      environment: { WRANGLER_SEND_METRICS: 'false' },
    })
    expect([code, out.split('\n')[0]]).toEqual([0, expect.stringMatching(/^Acts on this machine: cell 1, database x /)])
    for (const id of [databaseId, secondId, thirdId]) {
      expect(rowsIn(folder, 'SELECT count(*) AS n FROM d1_migrations', id)).toEqual([{ n: readMigrations().length }])
    }
  }, 120_000)

  it('says which one fails', async () => {
    fake('[ "$4" != DB_3 ]')
    const { code, all } = await callCommand(runMigrate, [], { cwd: folder, environment: environment() })
    expect([code, all]).toEqual([1, expect.stringContaining('The migrations of cell 3 (database x-3) could not be ')])
  })
})
