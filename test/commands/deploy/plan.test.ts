import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runDeploy } from '../../../src/commands/deploy/command.ts'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { callCommand } from '../../support/command.ts'
import { createCommandTime } from '../../support/command-time.ts'
import { callsIn, environmentIn, fakeWrangler, writeEnvironments } from './fake-wrangler.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-plan-'))
  writeEnvironments(folder)
  fake('exit 0')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fake = (command: string) => fakeWrangler(folder, command)
const calls = () => callsIn(folder)
const environment = () => environmentIn(folder)
const run = (...args: readonly string[]) => callCommand(runDeploy, args, { cwd: folder, environment: environment() })

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
  const network: typeof fetch = async (input, init) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]
    asked.push(`${init?.redirect} ${input}`)
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
    running(upload())
    const before = () => healthy('0.8.0', 0)
    const after = () => healthy(serviceVersion, 0)
    const { code, all, asked, seconds } = await deployTo([before, before, before, after])
    expect([code, seconds, new Set(asked)]).toEqual([0, 4, new Set([`manual ${url}/health`])])
    expect(all).toContain(`\nversion: 0.8.0 runs at wallet.example (newest migration 0), ${serviceVersion} will\n`)
    expect(all).toContain(`\nDeployed: wallet.example runs ${serviceVersion}, newest migration 0, ok.\n`)
    expect((await deployTo([after])).all).toMatch(/, ok\. The upload before had the same version, so .*\.\n/)
  })

  it('says that an older version is deployed, and that the address may be of another deployment', async () => {
    const { code, all } = await deployTo([() => healthy('10.0.0', 0)])
    expect(all).toContain(
      `version: 10.0.0 runs at wallet.example (newest migration 0), ${serviceVersion} will: an older one. wallet.example may be the address of another deployment\n`,
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
    expect([code, asked]).toEqual([0, ['manual https://x.acme.workers.dev/health']])
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

  it('names a migration that this folder lacks, and expects its number afterwards', async () => {
    const [stored, applied] = [[[], [], [], [], [{ number: 9 }]], [[{ name: '0009_later.sql' }]]].map((list) =>
      JSON.stringify(list.map((results) => ({ results }))),
    )
    const reads = `"d1 execute") case "$*" in *d1_migrations*) echo '${applied}';; *) echo '${stored}';; esac; exit 0;;
"deployments list") echo "[code: 10007]"; exit 1;;`
    fakeWrangler(folder, 'exit 0', reads)
    const { code, all } = await deployTo([() => healthy(serviceVersion, 9)])
    expect(code).toBe(0)
    expect(all).toContain(
      'migrations: database x has all 0\nmigrations: database x has 0009_later.sql, which this folder lacks: ' +
        'a newer version has migrated it. This one works with its tables\n',
    )
    expect(all).toContain(`\nDeployed: wallet.example runs ${serviceVersion}, newest migration 9, ok. `)
    expect((await deployTo([() => healthy(serviceVersion, 8)])).code).toBe(1)
  })

  it('takes an upload before the first version, with secrets alone, for none', async () => {
    running({ ...upload(), annotations: {} })
    const { all } = await run('--production', '--dry-run')
    expect(all).toContain(`version: nothing is deployed yet, ${serviceVersion} will\n`)
    expect(all).toContain('\nTo go back: nothing was deployed before.\n')
  })

  it('says what cannot be known', async () => {
    running({ resources: { bindings: 'hidden-value' } })
    const { code, all } = await run('--production', '--dry-run')
    expect(code).toBe(0)
    expect(all).toContain(`version: which one runs is not known, ${serviceVersion} will (no address is known; `)
    expect(all).toMatch(/\nsettings: what differs is not known \(wrangler versions view: an answer of another form\)\n/)
    expect(all).toMatch(/\nnot checked: .*TRON_XPUB.* \(not in \.dev\.vars\.production\)\n/)
    expect(all).toContain('\nTo go back: git checkout the tag of the version before, then npm ci && ')
    expect(all).not.toContain('hidden-value')
  })
})
