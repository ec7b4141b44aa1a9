import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { childEnvironment, lastPrinted } from '../../src/commands/child-environment.ts'
import { runOperate } from '../../src/commands/operate/command.ts'
import { jsonAmong, runWrangler } from '../../src/commands/wrangler.ts'
import { callCommand, runCommand } from '../support/command.ts'
import { untilPrinted } from '../support/until-printed.ts'
import { runWrangler as runLocalWrangler } from '../support/wrangler.ts'
import { createLocalDatabase, installWrangler, type LocalDatabase } from './local-database.ts'

afterEach(() => vi.unstubAllEnvs())

describe('a program whose output is read', () => {
  it('gets the way to programs, the network and the account, and nothing that changes what it prints or where it acts', () => {
    const passed = {
      ...{
        PATH: '/bin',
        HOME: '/root',
        TMPDIR: '/tmp',
        SystemRoot: 'C:\\Windows',
        XDG_CONFIG_HOME: '/c',
        LANG: 'C',
        TZ: 'UTC',
      },
      ...{ HTTPS_PROXY: 'http://proxy.example', https_proxy: 'x', NO_PROXY: 'x', NODE_EXTRA_CA_CERTS: '/ca' },
      ...{ NODE_OPTIONS: '--max-old-space-size=100', CLOUDFLARE_API_TOKEN: 'x', CLOUDFLARE_ACCOUNT_ID: 'x' },
      ...{ CF_API_TOKEN: 'x', WRANGLER_API_ENVIRONMENT: 'production', WRANGLER_SEND_METRICS: 'false' },
    }
    const kept = {
      ...{
        WRANGLER_LOG: 'none',
        WRANGLER_LOG_SANITIZE: 'x',
        WRANGLER_HIDE_BANNER: 'x',
        NO_COLOR: '1',
        FORCE_COLOR: '3',
      },
      ...{
        NODE_DEBUG: 'http',
        NODE_V8_COVERAGE: 'x',
        NODE_ENV: 'production',
        DEBUG: '*',
        RUST_LOG: 'trace',
        CLICOLOR_FORCE: '1',
      },
      ...{ CLOUDFLARE_ENV: 'nile', CLOUDFLARE_INCLUDE_PROCESS_ENV: 'true', CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: 'x' },
      ...{ TRON_XPUB: 'x', AUTH_JWT_SECRET: 'x', npm_config_loglevel: 'silly', ANVIL_IP_ADDR: 'x', MNEMONIC: 'x' },
    }
    expect(childEnvironment({ CI: '1' }, { ...passed, ...kept, EMPTY: undefined })).toEqual({ ...passed, CI: '1' })
  })

  it('may print other lines before and behind its JSON', () => {
    const one = [{ results: [{ n: 1 }] }]
    const read = (value: unknown) => (Array.isArray(value) && value.length === 1 ? value : undefined)
    const noise = [
      '',
      'Debugger attached.\n',
      '[wrangler:info] x\n{ not: json }\n',
      '{"level":"info"}\n',
      '[1,2]\n[]\n',
    ]
    for (const before of noise) {
      for (const behind of noise) {
        for (const json of [JSON.stringify(one), JSON.stringify(one, null, 2)]) {
          expect(jsonAmong(`${before}${json}\n${behind}`, read)).toEqual(one)
        }
        expect(jsonAmong(before + behind, read)).toBeUndefined()
      }
    }
  })
})

describe('with any value of WRANGLER_LOG', () => {
  let database: LocalDatabase
  beforeAll(() => {
    database = createLocalDatabase()
  })
  afterAll(() => database.remove())

  it.each(['none', 'debug'])('%s, a command reads the database by the real wrangler', async (WRANGLER_LOG) => {
    // every Node process that loads this prints the line, also wrangler's
    const prints = 'data:text/javascript,console.log(`[loaded]`)'
    const environment = { WRANGLER_LOG, FORCE_COLOR: '3', NODE_DEBUG: 'module', NODE_OPTIONS: `--import ${prints}` }
    const args = ['gap', 'list', '--local']
    const { out } = await runCommand('src/commands/operate/start.ts', args, { cwd: database.folder, environment })
    const lines = out.split('\n').filter((line) => line !== '[loaded]')
    expect(lines).toEqual([expect.stringMatching(/^Acts on this machine: /), 'No gap is open.', ''])
  })

  it.each(['none', 'debug', 'loud'])('%s, the first line of the doctor says where it acts', async (WRANGLER_LOG) => {
    const { out } = await runCommand('src/commands/doctor/start.ts', [], {
      cwd: database.folder,
      environment: { WRANGLER_LOG },
      withoutNetwork: true,
    })
    expect(out).toMatch(/^Acts on this machine: /)
  })

  it('none, wrangler prints for tests what is waited for', async () => {
    vi.stubEnv('WRANGLER_LOG', 'none')
    vi.stubEnv('FORCE_COLOR', '3')
    expect(await runLocalWrangler(['--version'], 'no version')).toMatch(/^\d+\.\d+\.\d+$/m)
  })
})

describe('a wait for another program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waits-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('for the end of wrangler has an end, with what it printed', async () => {
    vi.stubEnv('PATH', installWrangler(folder, 'echo "? Which account"; exec sleep 600').PATH)
    const ended = await runWrangler(['d1', 'execute', 'DB', '--json'], 1_000)
    const why = 'wrangler d1 execute did not end within 1 s; the last that it printed is: ? Which account'
    expect(ended).toMatchObject({ code: null, failure: why })
  })

  it('says what wrangler printed where that is no answer', async () => {
    const { folder: cwd, remove } = createLocalDatabase({ hasTables: false })
    const environment = installWrangler(folder, 'echo "Something else"; echo "on stderr" >&2')
    const { code, all } = await callCommand(runOperate, ['gap', 'list', '--local'], { cwd, environment })
    remove()
    expect([code, all]).toEqual([
      1,
      expect.stringMatching(
        /\nStopped: wrangler cannot use the database; the last that it printed is: Something else on stderr\.\n/,
      ),
    ])
  })

  it.each([
    ['echo "Listening on 127.0.0.1:8545"; exec sleep 600', { text: '8545' }],
    [
      'echo "Warming up"; exec sleep 600',
      { why: 'it has not printed the port within 1 s; the last that it printed is: Warming up' },
    ],
    ['echo "no state" >&2', { why: 'it has ended before it printed the port; the last that it printed is: no state' }],
    ['exit 1', { why: 'it has ended before it printed the port; it has printed nothing' }],
  ])('for a line of %s is %j', async (script, expected) => {
    const child = spawn('/bin/sh', ['-c', script])
    const { found } = untilPrinted(child, /127\.0\.0\.1:(\d+)/, 'the port', 1_000)
    expect(await found).toEqual(expected)
    child.kill('SIGKILL')
  })

  it('shows the end of a long output in one line', () => {
    const shown = lastPrinted(`${'x\n'.repeat(500)}the reason\n`)
    expect(shown).toMatch(/^the last that it printed is: …[^\n]{389} the reason$/)
  })
})
