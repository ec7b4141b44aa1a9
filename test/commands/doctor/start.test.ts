import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runDoctor } from '../../../src/commands/doctor/command.ts'
import type { Devnet } from '../../devnet/chain.ts'
import { callCommand, runCommand } from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'
import { createTables, databaseId, installQuickWrangler, installWrangler, rowsIn } from '../local-database.ts'
import { objectBindings } from '../objects.ts'
import { failures, goodSecret, keySecret, startChain, urlSecret, valuesFor } from './harness.ts'

const placeholder = '00000000-0000-0000-0000-000000000000'

let devnet: Devnet
let folder: string

beforeAll(async () => {
  devnet = await startChain()
  folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  const { TRON_NODES, CURRENCIES } = valuesFor(devnet)
  const toml = (list: unknown) => JSON.stringify(list).replace(/"(\w+)":/g, '$1=') // as TOML's inline tables
  const vars = `TRON_CHAIN_ID = "0x6465766e"\nTRON_NODES = ${toml(TRON_NODES)}\nCURRENCIES = ${toml(CURRENCIES)}\n`
  const database = (id: string) =>
    `binding = "DB"\ndatabase_name = "x"\ndatabase_id = "${id}"\nmigrations_dir = "${root}migrations"\n`
  write(
    'wrangler.toml',
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[[d1_databases]]\n${database(placeholder)}${objectBindings('')}[vars]\n${vars}
[env.nile]\n[[env.nile.d1_databases]]\n${database(databaseId)}${objectBindings('env.nile.')}
[env.nile.vars]\n${vars}`,
  )
  write('.dev.vars', `TRON_XPUB="${testXpub}"\nNODE_KEY="${keySecret}"\nDEV_UID="1"\n`)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await devnet.stop()
})

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

/**
 * Options for a command in the folder, with `wrangler` as it is installed there. One warning is
 * expected: the local chain's time is behind.
 */
const inFolder = (environment: Record<string, string>) => {
  return { cwd: folder, environment: { PATH: [folder, '/usr/bin', '/bin'].join(delimiter), ...environment } }
}
const run = (args: readonly string[], environment = {}) => callCommand(runDoctor, args, inFolder(environment))
const runScript = (args: readonly string[], environment = {}) =>
  runCommand('src/commands/doctor/start.ts', args, inFolder(environment))

/** Installs a fake `wrangler` that records its arguments and prints `output`. */
function fakeWrangler(output: unknown): void {
  write('output.json', JSON.stringify(output))
  installWrangler(folder, `echo "CI=$CI $*" > "${folder}/calls"\ncat "${folder}/output.json"`)
}

const storedLines = (out: string) => out.split('\n').filter((line) => /^\w+ +(stored data|addresses)/.test(line))

describe('what npm run doctor reads of the database', () => {
  const secrets = { TRON_XPUB: testXpub, NODE_KEY: keySecret, AUTH_JWT_SECRET: goodSecret }

  it('is that of this machine, with its real tables', async () => {
    createTables(folder, placeholder)
    rowsIn(folder, `INSERT INTO stored_setting VALUES ('TRON_CHAIN_ID', '0x2b6653dc', 1)`, placeholder)
    rowsIn(folder, 'INSERT INTO stored_currency VALUES (9, NULL, 6, 6, 1)', placeholder)
    installQuickWrangler(folder)
    const { code, out } = await runScript([])
    expect([code, ...storedLines(out)]).toEqual([
      1,
      'FAIL  stored data: TRON_CHAIN_ID is "0x6465766e", stored is "0x2b6653dc": nothing would be served',
      expect.stringMatching(/^FAIL {2}addresses: none is issued yet, but the key was used before/),
    ])
  })

  it('is that of a deployment, without questions', async () => {
    fakeWrangler([
      { results: [{ name: 'TRON_CHAIN_ID', value: '0x6465766e' }], success: true, meta: {} },
      { results: [], success: true, meta: {} },
      { results: [], success: true, meta: {} },
      { results: [{ last: 12 }], success: true, meta: {} },
      { results: [{ number: 1 }], success: true, meta: {} },
    ])
    const { code, out } = await run(['--env=nile'], secrets)
    expect(readFileSync(join(folder, 'calls'), 'utf8')).toMatch(
      /^CI=1 d1 execute DB --remote --env=nile --json --command SELECT /,
    )
    expect(storedLines(out)).toEqual([
      'ok    stored data: chain, key and currencies are those of the configuration',
      'ok    addresses: issued up to index 12',
    ])
    expect(code).toBe(0)
  })

  it.each<[string, unknown, RegExp]>([
    ['a database without tables', { error: { text: 'no such table: stored_setting: SQLITE_ERROR' } }, /: none yet$/],
    [
      'no login',
      { error: { text: 'it is necessary to set a CLOUDFLARE_API_TOKEN …' } },
      /log in with "npx wrangler login"/,
    ],
    [
      'another error',
      { error: { text: 'some text' } },
      /: wrangler cannot use the database; the last that it printed is: \{"error":\{"text":"some text"\}\}; run npx wrangler d1 execute DB --remote --env=nile /,
    ],
    [
      'an unknown answer',
      { results: [] },
      /: wrangler cannot use the database; the last .* is: \{"results":\[\]\}; run npx wrangler /,
    ],
  ])('can be %s', async (_, output, expected) => {
    fakeWrangler(output)
    const [line] = storedLines((await run(['--env=nile'], secrets)).out)
    expect(line).toMatch(expected)
  })
})

describe('npm run doctor', () => {
  beforeAll(() =>
    fakeWrangler([...[1, 2, 3].map(() => ({ results: [] })), { results: [{ last: 3 }] }, { results: [{ number: 1 }] }]),
  )

  it('passes the configuration of this machine, which includes .dev.vars, and ends with one sentence', async () => {
    const { code, out } = await run([])
    expect(out).toContain('ok    migrations: the database has all, the newest is 1\n')
    expect(out).not.toContain('version: ')
    expect(out.split('\n')[0]).toBe(
      'Acts on this machine: database x (00000000-0000-0000-0000-000000000000), chain 0x6465766e.',
    )
    expect(out).toContain('read from wrangler.toml, .dev.vars\n')
    expect(out).not.toContain('FAIL')
    expect(out).toMatch(/\nThis works here: no check failed, \d warned; --production or --env <name> checks .*\n$/)
    expect(code).toBe(0)
  })

  it('does not use .dev.vars of this machine for a deployment', async () => {
    const { code, out } = await run(['--env', 'nile'])
    expect(out).toContain('read from wrangler.toml [env.nile]\n')
    expect(out).toContain('(it is not set)')
    expect(out).toContain('set them in .dev.vars.nile (copy .dev.vars.example) or the environment\n')
    expect(out).toMatch(/\nWhat to do: set TRON_XPUB: a secret in the file of secrets .*\n$/)
    expect(code).toBe(1)
  })

  it('reads the secrets of a deployment from the environment, prints their names, and ends with whether it may be deployed', async () => {
    const environment = { TRON_XPUB: testXpub, NODE_KEY: keySecret, AUTH_JWT_SECRET: goodSecret }
    const { code, all } = await runScript(['--env=nile'], environment)
    expect(all).toContain(
      'read from wrangler.toml [env.nile], environment variables (TRON_XPUB, AUTH_JWT_SECRET, NODE_KEY)\n',
    )
    expect(code).toBe(0)
    expect(all).toContain('ok    version: this folder has 1.0.0; --service <url> compares it with the deployed one\n')
    expect(all).toMatch(/\nThis may be deployed: no check failed, \d warned\.\n$/)
    for (const secret of [testXpub, keySecret, goodSecret, urlSecret]) expect(all).not.toContain(secret)
  })

  it('reads them from the file of the deployment, and ends with what must be done before it', async () => {
    write('.dev.vars.production', `TRON_XPUB="${testXpub}"\nNODE_KEY="${keySecret}"\nAUTH_JWT_SECRET="${goodSecret}"\n`)
    const { code, out } = await run(['--production'])
    expect(out).toContain('read from wrangler.toml, .dev.vars.production\n')
    expect(failures(out.split('\n'))).toEqual([expect.stringMatching(/^FAIL {2}database: /)])
    expect(out).toMatch(
      /\nThis must not be deployed; what comes first is database: database_id is a placeholder; [^\n]*\nWhat to do: put the database_id there [^\n]*\.\n$/,
    )
    expect(code).toBe(1)
  })

  it('prints one line about an environment that wrangler.toml does not have', async () => {
    const { code, out } = await run(['--env', 'elsewhere'])
    expect(out).toMatch(/^FAIL {2}configuration: No environment found in configuration with name "elsewhere"\n/)
    expect(out).toMatch(/\nWhat to do: run the command in the folder of wrangler.toml, [^\n]+\n$/)
    expect(code).toBe(1)
  })

  it('refuses an unknown option', async () => {
    expect((await run(['--fix'])).code).toBe(2)
  })
})
