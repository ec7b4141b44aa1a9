import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { runCommand } from '../../support/command.ts'
import { fileOfD1 } from '../../support/database-file.ts'
import { root } from '../../support/project.ts'
import { testSecret, testXpub } from '../../support/variables.ts'
import { keysOf, testMnemonic } from '../collect/harness.ts'
import { databaseId } from '../local-database.ts'
import { objectBindings } from '../objects.ts'
import { secondAccount, secondId } from '../two-cells.ts'
import { type StandIn, startStandIn } from './stand-in.ts'

// The real wrangler deploys to a stand-in for the platform, which runs what was uploaded: `/health`
// is that of the new version.

let folder: string
let platform: StandIn
const path = (name: string) => join(folder, name)

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-whole-'))
  cpSync(`${root}migrations`, path('migrations'), { recursive: true })
  mkdirSync(fileOfD1(path('state/d1'), databaseId).replace(/[^/]*$/, ''), { recursive: true })
  platform = await startStandIn(path('state'))
  Object.assign(platform.secrets, { TRON_XPUB: testXpub, AUTH_JWT_SECRET: testSecret })
  configure()
  writeKeys()
})
afterEach(async () => {
  await platform.close()
  rmSync(folder, { recursive: true, force: true })
})

const secondKey = keysOf(testMnemonic).extendedPublicKey(secondAccount)
const secondDatabase = `[[d1_databases]]\nbinding = "DB_2"\ndatabase_name = "x-2"\ndatabase_id = "${secondId}"\n`

/** Writes the file of the secrets, which the platform has too. */
function writeKeys(more: Readonly<Record<string, string>> = {}): void {
  const lines = Object.entries({ TRON_XPUB: testXpub, AUTH_JWT_SECRET: testSecret, ...more }).map(
    ([name, value]) => `${name}="${value}"\n`,
  )
  writeFileSync(path('.dev.vars.production'), lines.join(''))
}

const currencies = '[{"cuy":1,"symbol":"TRX","name":"TRON","decimals":6}]'

function configure(vars: Readonly<Record<string, string>> = {}, more = ''): void {
  const all = {
    TRON_CHAIN_ID: '0x6465766e',
    TRON_NODES: '[{"rpc":"http://127.0.0.1:9/jsonrpc","api":"http://127.0.0.1:9"}]',
    CURRENCIES: currencies,
    ...vars,
  }
  writeFileSync(
    path('wrangler.toml'),
    `name = "x"\nmain = "${root}src/worker/index.ts"\ncompatibility_date = "2026-11-01"\nminify = true\nkeep_names = false
[define]\n"globalThis.Deno" = "true"
[vars]\n${Object.entries(all)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join('')}
[[d1_databases]]\nbinding = "DB"\ndatabase_name = "x"\ndatabase_id = "${databaseId}"\n${more}${objectBindings('')}`,
  )
}

const deploy = (...args: readonly string[]) =>
  runCommand('src/commands/deploy/start.ts', ['--production', '--service', platform.serviceUrl, ...args], {
    cwd: folder,
    environment: platform.environment,
  })

/** The lines of the command itself: those of wrangler are left out. */
const ownLines = (all: string) =>
  all
    .split('\n')
    .filter((line) =>
      /^(Acts|migrations:|version:|settings:|secrets:|not checked:|To go back|Deployed: |Stopped|What to do|Nothing)/.test(
        line,
      ),
    )

const host = () => new URL(platform.serviceUrl).host
const secretsLine = 'secrets: their values are not compared, because the platform does not return them'
const actsLine = `Acts on production: database x (${databaseId}), chain 0x6465766e.`

describe('npm run deploy with the real wrangler', () => {
  it('deploys to an empty account, then an update with a migration, and says each time what runs', async () => {
    const first = await deploy()
    expect(ownLines(first.all)).toEqual([
      actsLine,
      'migrations: database x gets 0000_tables.sql, 0001_invariants.sql (has 0 of 2)',
      `version: nothing is deployed yet, ${serviceVersion} will`,
      'settings: all are new',
      secretsLine,
      'To go back: nothing was deployed before.',
      `Deployed: ${host()} runs ${serviceVersion}, newest migration 1, stopped (no scan has started yet).`,
      'To go back: nothing was deployed before.',
    ])
    expect([first.code, platform.deployed.map(({ tag }) => tag)]).toEqual([0, [serviceVersion]])
    expect(platform.lines.join('\n')).toContain(
      `{"level":"info","event":"running","version":"${serviceVersion}","migration":1}`,
    )

    // what runs now becomes the version before, and the folder gets a migration and other settings
    await platform.pretendVersion('0.9.0')
    writeFileSync(
      path('migrations/0002_more.sql'),
      'CREATE TABLE more (id INTEGER PRIMARY KEY);\n--> statement-breakpoint\nDROP VIEW newest_migration;\n' +
        '--> statement-breakpoint\nCREATE VIEW newest_migration AS SELECT 2 AS number;\n',
    )
    configure({ EVENTS_KEEP_DAYS: '30', CURRENCIES: currencies.replace('TRON', 'Tronix') })
    writeKeys({ SOME_HOOK: 'whsec_hidden' })
    platform.changes.length = 0
    const plan = [
      actsLine,
      'migrations: database x gets 0002_more.sql (has 2 of 3)',
      `version: 0.9.0 runs at ${host()} (newest migration 1), ${serviceVersion} will`,
      'settings: CURRENCIES will be changed; EVENTS_KEEP_DAYS will be added',
      'secrets: the platform does not have SOME_HOOK',
      secretsLine,
      'To go back: npx wrangler rollback 10000000-0000-4000-8000-000000000000 --env=. The migrations stay: the version before works with them.',
    ]
    const dryUpdate = await deploy('--dry-run')
    expect(ownLines(dryUpdate.all)).toEqual([...plan, 'Nothing was changed: --dry-run was given.'])
    expect([dryUpdate.code, platform.changes]).toEqual([0, []])

    const update = await deploy()
    expect(ownLines(update.all)).toEqual([
      ...plan,
      `Deployed: ${host()} runs ${serviceVersion}, newest migration 2, stopped (no scan has started yet).`,
      plan.at(-1),
    ])
    expect(update.code).toBe(0)
    for (const secret of [testXpub, testSecret, 'whsec_hidden', 'token-of-the-test'])
      expect(update.all).not.toContain(secret)
  }, 240_000)

  it('goes on where the upload broke, and stops before a configuration that several cells refuse', async () => {
    platform.secrets.SECOND_KEY = secondKey
    const cells = [
      { db: 'DB', uids: '1-999999', xpub: 'TRON_XPUB' },
      { db: 'DB_2', uids: '1000000-', xpub: 'SECOND_KEY' },
    ]
    configure({ CELLS: JSON.stringify(cells) }, secondDatabase)
    platform.breakUploads(true)
    const broken = await deploy()
    expect([broken.code, ...ownLines(broken.all).slice(-2)]).toEqual([
      1,
      'Stopped: The migrations are applied, but the deployment was not completed.',
      expect.stringMatching(/^What to do: .* run this command again: it does only what is missing\.$/),
    ])
    platform.breakUploads(false)
    // without the keys in the file, the platform alone has them
    rmSync(path('.dev.vars.production'))
    const again = await deploy()
    expect([again.code, ...ownLines(again.all).slice(1)]).toEqual([
      0,
      'migrations: cell 1, database x has all 2',
      'migrations: cell 2, database x-2 has all 2',
      `version: nothing is deployed yet, ${serviceVersion} will`,
      'settings: all are new',
      secretsLine,
      'not checked: CELLS.0.xpub, CELLS.1.xpub (not in .dev.vars.production): so whether the key and the ranges of users are that of the stored data is not known',
      'To go back: nothing was deployed before.',
      `Deployed: ${host()} runs ${serviceVersion}, newest migration 1, stopped (cell 1: no scan has started yet).`,
      'To go back: nothing was deployed before.',
    ])
    expect(platform.rows(secondId, 'SELECT first FROM user_range')).toEqual([{ first: 1_000_000 }])

    platform.changes.length = 0
    writeKeys({ SECOND_KEY: secondKey })
    configure({ CURRENCIES: currencies.replace('}', ',"scale":3}') }, secondDatabase)
    const { code, all } = await deploy()
    expect([code, platform.changes]).toEqual([1, []])
    expect(ownLines(all).slice(-2)).toEqual([
      'Stopped: the new version would serve nothing, because the configuration is not that of the stored data: ' +
        'CELLS is "missing", stored is "1-999999"; ' +
        'CURRENCIES.1 is "TRX, decimals 6, scale 3", stored is "TRX, decimals 6, scale 6".',
      'What to do: set back what differs, or use the database that belongs to this configuration; docs/operate.md, configuration-differs.',
    ])
  }, 180_000)
})
