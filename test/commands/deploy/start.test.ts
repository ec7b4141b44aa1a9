import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runDeploy, runMigrate } from '../../../src/commands/deploy/command.ts'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { callCommand, runCommand } from '../../support/command.ts'
import { databaseId } from '../local-database.ts'
import { callsIn, environmentIn, fakeWrangler, placeholder, writeEnvironments } from './fake-wrangler.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  writeEnvironments(folder)
  fake('exit 0')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fake = (command: string) => fakeWrangler(folder, command)
const calls = () => callsIn(folder)
const environment = () => environmentIn(folder)
const run = (...args: readonly string[]) => callCommand(runDeploy, args, { cwd: folder, environment: environment() })
const runScript = () =>
  runCommand('src/commands/deploy/start.ts', ['--production'], { cwd: folder, environment: environment() })
const migrate = (...args: readonly string[]) =>
  callCommand(runMigrate, args, { cwd: folder, environment: environment() })
const inProduction = `Acts on production: database x (${databaseId}), no chain (TRON_CHAIN_ID is not set).\n`

const aboveAdvice =
  'correct what the output of wrangler above says, and run this command again: it does only what is missing'

describe('npm run deploy', () => {
  it('applies the migrations, then deploys, without questions', async () => {
    const { code, out } = await runScript()
    expect([code, out.slice(0, inProduction.length)]).toEqual([0, inProduction])
    expect(calls()).toEqual([
      'CI=1 d1 migrations apply DB --remote --env=',
      `CI=1 deploy --env= --tag=${serviceVersion}`,
    ])
  })

  it('does both in the given environment', async () => {
    expect((await run('--env', 'nile')).code).toBe(0)
    expect(calls()).toEqual([
      'CI=1 d1 migrations apply DB --remote --env=nile',
      `CI=1 deploy --env=nile --tag=${serviceVersion}`,
    ])
  })

  it('does not deploy if a migration fails', async () => {
    fake('echo "no such table: flow"; exit 1')
    const { code, out, all } = await runScript()
    expect(code).toBe(1)
    expect(calls()).toEqual(['CI=1 d1 migrations apply DB --remote --env='])
    expect(out).toContain('no such table: flow')
    expect(all.slice(out.length)).toBe(`Stopped: The migrations could not be applied.\nWhat to do: ${aboveAdvice}.\n`)
  })

  it.each([
    ['the Worker is refused', 'the script is too large'],
    ['only the cron of an uploaded Worker is refused', 'Trigger configuration for "x" was only partially updated'],
  ])('fails where %s, and does not say which of the two it was', async (_, why) => {
    fake(`[ "$1" = d1 ] || { echo '${why}' >&2; exit 3; }`)
    const { code, out, all } = await run('--production')
    expect(code).toBe(1)
    expect(all.slice(out.length)).toBe(
      `${why}\nStopped: The migrations are applied, but the deployment was not completed.\nWhat to do: ${aboveAdvice}.\n`,
    )
  })

  it('explains how to log in', async () => {
    fake(
      'echo "In a non-interactive environment, it\'s necessary to set a CLOUDFLARE_API_TOKEN environment" >&2; exit 1',
    )
    expect((await run('--production')).all).toContain(
      'log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN.\n',
    )
  })

  it('names the way round where D1 cuts a trigger of a migration apart', async () => {
    fake('echo "incomplete input: SQLITE_ERROR [code: 7500]" >&2; exit 1')
    expect((await run('--production')).all).toContain('has the way round, "A migration that D1 refuses".\n')
  })

  it('fails if wrangler is killed', async () => {
    fake('kill -9 $$')
    expect((await run('--production')).code).toBe(1)
    expect(calls()).toHaveLength(1)
  })

  it('explains that wrangler is not installed', async () => {
    rmSync(join(folder, 'wrangler'))
    expect((await run('--production')).all).toContain(
      'wrangler did not start.\nWhat to do: run "npm ci" if that was not done here, then this command again.\n',
    )
  })
})

describe('before the first step, npm run deploy', () => {
  it('refuses a setting that is wrong: the new version would serve nothing', async () => {
    const path = join(folder, 'wrangler.toml')
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n[env.nile.vars]\nEVENTS_KEEP_DAYS = "no"\n`)
    const { code, all } = await run('--env', 'nile')
    expect([code, calls()]).toEqual([1, []])
    expect(all).toContain(
      'Stopped: the new version would serve nothing: EVENTS_KEEP_DAYS: a whole number from 1 to 3650.\n' +
        'What to do: correct wrangler.toml, or .dev.vars.nile; "npm run doctor -- --env nile" checks all of it.\n',
    )
  })

  it.each<[string, string[], string]>([
    [
      'a placeholder for the database',
      ['--env', 'fresh'],
      'database_id in wrangler.toml, [env.fresh], is a placeholder',
    ],
    ['an environment without a database', ['--env', 'bare'], 'has no D1 database with the binding DB'],
    ['an environment without the objects', ['--env', 'still'], 'the name SCANNER and the class Scanner'],
    ['an unknown environment', ['--env', 'elsewhere'], 'No environment found in configuration with name "elsewhere"'],
  ])('refuses %s', async (_, args, expected) => {
    const { code, all } = await run(...args)
    expect(code).toBe(1)
    expect(all).toMatch(/(^|\n)Stopped: .+\.\nWhat to do: .+\.\n$/)
    expect(all).toContain(expected)
    expect(calls()).toEqual([])
  })

  it('refuses an environment where none is defined: wrangler would take the top level for it', async () => {
    const path = join(folder, 'wrangler.toml')
    writeFileSync(path, readFileSync(path, 'utf8').split('[env.nile]')[0] ?? '')
    expect((await run('--env', 'nile')).all).toMatch(/^Stopped: wrangler.toml has no \[env.nile\]\.\nWhat to do: .+\n$/)
    expect(calls()).toEqual([])
  })

  it('refuses a folder without a wrangler.toml', async () => {
    rmSync(join(folder, 'wrangler.toml'))
    expect((await run('--production')).all).toMatch(
      /^Stopped: there is no wrangler.toml in this folder\.\nWhat to do: .+\n$/,
    )
    expect(calls()).toEqual([])
  })
})

describe('the options of npm run deploy', () => {
  it.each([
    [[], 'which deployment?'],
    [['--dry-run'], 'which deployment?'],
    [['--production', '--service', 'http://wallet.example'], '--service: the URL of the service, with https'],
    [['--production', '--force'], "Unknown option '--force'"],
    [['--env'], "Option '-e, --env <value>' argument missing"],
    [['--env='], '--env: the name of an environment in wrangler.toml'],
    [['--production', '--env', 'nile'], 'either --production or --env'],
  ])('%j are refused, and nothing is run', async (args, why) => {
    const { code, out, all } = await run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(all).toContain(why)
    expect(all).toMatch(/\nnpm run deploy -- --production \| --env <name> \[--service <url>\] \[--dry-run\]\n$/)
    expect(calls()).toEqual([])
  })
})

describe('npm run db:migrate', () => {
  it.each([
    [[], 'this machine', '--local --env='],
    [['--production'], 'production', '--remote --env='],
    [['--env', 'nile'], 'the environment nile', '--remote --env=nile'],
  ])('%j applies the migrations to the database that its first line names', async (args, place, options) => {
    const { code, out } = await migrate(...args)
    const first = `Acts on ${place}: database x (${databaseId}), no chain (TRON_CHAIN_ID is not set).`
    expect([code, out.split('\n')[0]]).toEqual([0, first])
    expect(calls()).toEqual([`CI=1 d1 migrations apply DB ${options}`])
  })

  it('names the chain of this machine, which its file of secrets can change', async () => {
    writeFileSync(join(folder, '.dev.vars'), 'TRON_CHAIN_ID=0xcd8690dc\n')
    expect((await migrate()).out).toContain(', chain 0xcd8690dc (Nile).\n')
    expect((await migrate('--production')).out).toContain(', no chain (TRON_CHAIN_ID is not set).\n')
  })

  it('refuses a placeholder before the first step, but for this machine', async () => {
    expect(await migrate('--env', 'fresh')).toMatchObject({
      code: 1,
      all: expect.stringContaining('is a placeholder.'),
    })
    expect(calls()).toEqual([])
    const path = join(folder, 'wrangler.toml')
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(databaseId, placeholder))
    expect((await migrate()).code).toBe(0)
  })
})
