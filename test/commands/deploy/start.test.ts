import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runDeploy, runMigrate } from '../../../src/commands/deploy/command.ts'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { callCommand, runCommand } from '../../support/command.ts'
import { createCommandTime } from '../../support/command-time.ts'
import { databaseId } from '../local-database.ts'
import { objectBindings } from '../objects.ts'
import { callsIn, environmentIn, fakeWrangler } from './fake-wrangler.ts'

const placeholder = '00000000-0000-0000-0000-000000000000'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  const database = (path: string, id: string) =>
    `[[${path}d1_databases]]\nbinding = "DB"\ndatabase_name = "x"\ndatabase_id = "${id}"\n`
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"\n${database('', databaseId)}${objectBindings('')}
[env.nile]\n${database('env.nile.', databaseId)}${objectBindings('env.nile.')}[env.fresh]\n${database('env.fresh.', placeholder)}
[env.bare]\nname = "x-bare"\n[env.still]\n${database('env.still.', databaseId)}`,
  )
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

const url = 'https://wallet.example'
const healthy = (version: string, migration: number) =>
  Response.json({ code: 200, msg: 'success', data: { status: 'ok', scanned: 1, version, migration } })

/**
 * Deploys while the service answers like this, one answer for each request; the last one stays.
 * `hangs` is a service that never answers.
 */
async function deployTo(
  answers: readonly (() => Response)[],
  { hangs = false, args = ['--service', `${url}/`] }: { hangs?: boolean; args?: readonly string[] } = {},
) {
  const time = createCommandTime()
  const asked: string[] = []
  const network: typeof fetch = async (input) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]
    asked.push(String(input))
    if (answer === undefined) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
    return answer()
  }
  const begin = time.clock.now()
  const fetched = time.around(network, () => hangs)
  const command: typeof runDeploy = (args, output, parts) => runDeploy(args, output, { ...parts, fetch: fetched })
  const options = { cwd: folder, environment: environment(), time }
  const { code, all } = await callCommand(command, ['--production', ...args], options)
  return { code, all, asked, seconds: (time.clock.now() - begin) / 1000 }
}

describe('after the deployment, npm run deploy', () => {
  it('asks until the new version answers, and says whether the one before had the same number', async () => {
    const before = () => healthy('0.9.0', 0)
    const after = () => healthy(serviceVersion, 0)
    const { code, all, asked, seconds } = await deployTo([before, before, before, after])
    expect([code, seconds, new Set(asked)]).toEqual([0, 4, new Set([`${url}/health`])])
    expect(all).toContain(`\nversion: 0.9.0 runs at wallet.example (newest migration 0), ${serviceVersion} will\n`)
    expect(all).toContain(`\nDeployed: wallet.example runs ${serviceVersion}, newest migration 0, ok.\n`)
    expect((await deployTo([after])).all).toMatch(/, ok\. The upload before had the same version, so .*\.\n/)
  })

  it('says that an older version is deployed', async () => {
    const { code, all } = await deployTo([() => healthy('10.0.0', 0)])
    expect(all).toContain(
      `version: 10.0.0 runs at wallet.example (newest migration 0), ${serviceVersion} will: an older one\n`,
    )
    expect([code, all.slice(all.indexOf('Stopped: '))]).toEqual([
      1,
      `Stopped: The deployment is completed, but 60 s later it does not show version ${serviceVersion}, newest migration 0: ` +
        'wallet.example runs 10.0.0, newest migration 0, ok.\nWhat to do: look at its log (npx wrangler tail), and ask ' +
        'GET /health again. To go back: nothing was deployed before.\n',
    ])
  })

  it.each<[string, readonly (() => Response)[], boolean, string, number]>([
    ['nobody answers', [], false, 'cannot be reached: ECONNREFUSED', 60],
    ['it hangs', [], true, 'has not answered within 10 s', 80],
    [
      'it redirects',
      [() => Response.redirect('https://login.example')],
      false,
      'redirects, as a page does where people must sign in',
      60,
    ],
    [
      'it is another service',
      [() => new Response('<title>Parked</title>')],
      false,
      'does not answer as this service (status 200)',
      60,
    ],
    [
      'it is another one with JSON',
      [() => Response.json({ version: '1', data: [] })],
      false,
      'does not answer as this service (status 200)',
      60,
    ],
    [
      'it answers without an end',
      [() => new Response('x'.repeat(100_000))],
      false,
      'does not answer as this service (status 200)',
      60,
    ],
    [
      'a setting is wrong at the platform',
      [() => Response.json({ code: 503, msg: 'set TRON_XPUB\u001b[2J' }, { status: 503 })],
      false,
      'answers 503: set TRON_XPUB[2J',
      60,
    ],
  ])('stops within named limits where %s', async (_, answers, hangs, why, seconds) => {
    const end = await deployTo(answers, { hangs })
    expect(end.code).toBe(1)
    expect(end.all).toContain(
      ` 60 s later it does not show version ${serviceVersion}, newest migration 0: wallet.example ${why}.\n`,
    )
    expect(end.seconds).toBeGreaterThanOrEqual(seconds)
    expect(end.seconds).toBeLessThan(seconds + 12)
  })

  it('does not ask where no address is known, and asks at the one that wrangler prints', async () => {
    expect((await run('--production')).all).toContain(
      `Deployed, and not asked: no address is known. GET /health must show version ${serviceVersion}, newest migration 0.\n`,
    )
    fake('[ "$1" = d1 ] || echo "  https://x.acme.workers.dev"')
    const { code, asked } = await deployTo([() => healthy(serviceVersion, 0)], { args: [] })
    expect([code, asked]).toEqual([0, ['https://x.acme.workers.dev/health']])
  })

  it('shows names of variables alone', async () => {
    fake(
      '[ "$1" = d1 ] || { printf "env.A (\\"hidden"; sleep 0.1; echo "-value\\")   Environment Variable"; echo done; }',
    )
    const { all } = await run('--production')
    expect(all).toContain('env.A   Environment Variable\ndone\n')
    expect(all).not.toMatch(/hidden|value\\"/)
  })
})

const upload = (more: object = {}) => ({
  id: 'a-1',
  annotations: { 'workers/tag': '0.8.0' },
  resources: {
    bindings: [
      { type: 'plain_text', name: 'OLD', text: 'a' },
      { type: 'd1', name: 'DB', id: 'another' },
      { type: 'json', name: 'CURRENCIES', json: [{ cuy: 1, decimals: 6, symbol: 'TRX', name: 'TRON' }] },
    ],
    script_runtime: {},
    ...more,
  },
})
const deployments = [
  {
    created_on: '2026-01-02T00:00:00Z',
    versions: [
      { version_id: 'a-0', percentage: 10 },
      { version_id: 'a-1', percentage: 90 },
    ],
  },
  { created_on: '2026-01-01T00:00:00Z', versions: [{ version_id: 'a-9', percentage: 100 }] },
]
/** Lets the stand-in show this upload as the running one. */
function running(shown: object): void {
  writeFileSync(join(folder, 'upload.json'), JSON.stringify(shown))
  writeFileSync(join(folder, 'deployments.json'), JSON.stringify(deployments))
  fakeWrangler(
    folder,
    'exit 0',
    `"d1 execute") echo '{"error":{"text":"no such table: x"}}'; exit 1;;
"deployments list") cat deployments.json; exit 0;;
"versions view") [ "$3" = a-1 ] && cat upload.json; exit 0;;`,
  )
}

describe('what npm run deploy says before the first step', () => {
  it('names what differs from the upload with most requests, and the command that goes back to it', async () => {
    running(upload())
    const toml = readFileSync(join(folder, 'wrangler.toml'), 'utf8')
    const list = `[{ name = "TRON", symbol = "TRX", decimals = 6, cuy = 1 }]`
    writeFileSync(join(folder, 'wrangler.toml'), `${toml}\n[env.nile.vars]\nCURRENCIES = ${list}\nNEW = "b"\n`)
    const { code, all } = await run('--env', 'nile', '--dry-run')
    expect(code).toBe(0)
    expect(all).toContain(
      `version: 0.8.0 runs by the tag of its upload, ${serviceVersion} will (no address is known; --service <url> names it)\n` +
        'settings: DB will be changed; NEW will be added; OLD will be removed\n',
    )
    expect(all).toContain('\nTo go back: npx wrangler rollback a-1 --env=nile. The migrations stay: ')
    expect(calls()).toEqual(['CI=1 deploy --dry-run --env=nile'])
  })

  it('does not name a rollback that the platform refuses: of other classes of Durable Objects', async () => {
    running(upload({ script_runtime: { migration_tag: 'v0' } }))
    expect((await run('--production', '--dry-run')).all).toContain(
      '\nTo go back: git checkout v0.8.0, then npm ci && npm run deploy -- --production, with this wrangler.toml. Wrangler rolls back no upload',
    )
  })

  it('says what cannot be known', async () => {
    running({})
    const { code, all } = await run('--production', '--dry-run')
    expect(code).toBe(0)
    expect(all).toContain(`version: which one runs is not known, ${serviceVersion} will (no address is known; `)
    expect(all).toMatch(
      /\nsettings: what differs is not known \(wrangler versions view: the last that it printed is: \{\}\)\n/,
    )
    expect(all).toMatch(/\nnot checked: .*TRON_XPUB.* \(not in \.dev\.vars\.production\)\n/)
    expect(all).toContain('\nTo go back: git checkout the tag of the version before, then npm ci && ')
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
