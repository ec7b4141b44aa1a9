import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { platformBindings } from '../../src/commands/configuration.ts'
import { parseCells } from '../../src/worker/cells/parse-cells.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { databaseFileIn, rowsIn } from '../commands/local-database.ts'
import { runCommand } from '../support/command.ts'
import { applyMigrations } from '../support/database-file.ts'
import { root } from '../support/project.ts'
import { runWrangler } from '../support/wrangler.ts'
import { localCells, localCellsMax, payoutAddressAt, writeCellsFolder } from './cells.ts'
import { keepBuild } from './kept-build.ts'
import { payoutBase58 } from './operator.ts'

const variables = readFileSync(`${root}test/devnet/dev.vars`, 'utf8')
const payouts = { address: payoutBase58 }

/** The variables in a text of `.dev.vars`. */
const parseVariables = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(["'])(.*)\2$/gm)].map(([, name = '', , value]) => [name, value]))

describe('the folder of npm start -- --cells', () => {
  let folder = ''
  beforeAll(async () => {
    folder = `${mkdtempSync(join(tmpdir(), 'cells-'))}/`
    await writeCellsFolder(folder, 3, variables, payouts)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('has a configuration that the service takes, with its users, a key and a payout address for each cell', () => {
    const databases = { DB_2: platformBindings.DB, DB_3: platformBindings.DB }
    const values = parseVariables(readFileSync(`${folder}.dev.vars`, 'utf8'))
    const cells = parseCells({ ...values, ...platformBindings, ...databases })
    if (!cells.ok) throw new Error(cells.error.join('; '))
    expect(cells.value.map(({ users: { from, to }, suffix }) => [from, to, suffix])).toEqual([
      [1, 999_999, ''],
      [1_000_000, 1_999_999, ' DB_2'],
      [2_000_000, Number.MAX_SAFE_INTEGER, ' DB_3'],
    ])
    const addresses = cells.value.map(({ config }) => config.payouts?.address).map((one) => one && formatBase58(one))
    expect(addresses).toEqual([payoutBase58, payoutAddressAt(1), payoutAddressAt(2)])
  })

  it('has a configuration that wrangler takes, with a database for each cell', async () => {
    const { databases } = await keepBuild(folder)
    expect(databases).toEqual(['tron-wallet', 'tron-wallet-db_2', 'tron-wallet-db_3'])
    for (const id of databases) applyMigrations(databaseFileIn(folder, id))
    const listed = await runWrangler(['d1', 'migrations', 'list', 'DB_2', '--local'], 'wrangler refuses it', folder)
    expect(listed).toContain('No migrations to apply')
    expect(rowsIn(folder, 'SELECT count(*) AS n FROM stored_address', 'tron-wallet-db_2')).toEqual([{ n: 0 }])
  }, 120_000)
})

it('without PAYOUTS no cell has payouts', () => {
  expect(localCells(2, null)).toEqual([
    { db: 'DB', uids: '1-999999', xpub: 'TRON_XPUB' },
    { db: 'DB_2', uids: '1000000-', xpub: 'TRON_XPUB_2' },
  ])
})

it.each(['0', `${localCellsMax + 1}`, 'x', ''])('npm start takes no --cells %s', async (count) => {
  const { code, all } = await runCommand('test/devnet/start.ts', ['--cells', count], { withoutNetwork: true })
  expect([code, all]).toEqual([2, expect.stringContaining(`npm start takes no --cells ${count}`)])
})
