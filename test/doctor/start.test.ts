import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { variableNames } from '../../src/doctor/read-configuration.ts'
import type { Devnet } from '../devnet/chain.ts'
import { goodSecret, keySecret, publicXpub, startChain, urlSecret, valuesFor } from './support.ts'

const script = fileURLToPath(new URL('../../src/doctor/start.ts', import.meta.url).href)
const configPath = fileURLToPath(new URL('../../src/config/config.ts', import.meta.url).href)

let devnet: Devnet
let folder: string

beforeAll(async () => {
  devnet = await startChain()
  folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  const { TRON_NODES, CURRENCIES } = valuesFor(devnet)
  const toml = (list: unknown) => JSON.stringify(list).replace(/"(\w+)":/g, '$1=') // inline tables
  const vars = `TRON_CHAIN_ID = "0x6465766e"\nTRON_NODES = ${toml(TRON_NODES)}\nCURRENCIES = ${toml(CURRENCIES)}\n`
  const database = (id: string) => `binding = "DB"\ndatabase_name = "x"\ndatabase_id = "${id}"\n`
  write(
    'wrangler.toml',
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[[d1_databases]]\n${database('00000000-0000-0000-0000-000000000000')}[vars]\n${vars}
[env.nile]\n[[env.nile.d1_databases]]\n${database('0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05')}[env.nile.vars]\n${vars}`,
  )
  write('.dev.vars', `TRON_XPUB="${publicXpub}"\nNODE_KEY="${keySecret}"\nDEV_UID="1"\n`)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await devnet.stop()
})

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

/** Runs the command in the folder, and the chain's next block first: this machine's clock is the real one here. */
async function run(args: readonly string[], environment: Record<string, string> = {}) {
  await devnet.mine(1)
  return new Promise<{ code: number; out: string; all: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, ...environment }
    execFile(process.execPath, [script, ...args], { cwd: folder, env }, (error, out, trouble) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, all: `${out}${trouble}` })
    })
  })
}

describe('npm run doctor', () => {
  it('is green on this machine’s configuration, .dev.vars included', async () => {
    const { code, out } = await run([])
    expect(out).toContain('ok    read: wrangler.toml, .dev.vars\n')
    expect(out).not.toContain('FAIL')
    expect(out).toMatch(/\nGreen: \d+ checks passed, 3 warnings\.\n$/)
    expect(code).toBe(0)
  })

  it('does not lend a deployment this machine’s .dev.vars', async () => {
    const { code, out } = await run(['--env', 'nile'])
    expect(out).toContain('ok    read: wrangler.toml [env.nile]\n')
    expect(out).toContain('(it is not set)')
    expect(out).toContain('put them into .dev.vars.nile or the environment')
    expect(code).toBe(1)
  })

  it('takes a deployment’s secrets from the environment, and names which', async () => {
    const environment = { TRON_XPUB: publicXpub, NODE_KEY: keySecret, AUTH_JWT_SECRET: goodSecret }
    const { code, all } = await run(['--env=nile'], environment)
    expect(all).toContain(
      "ok    read: wrangler.toml [env.nile], this process's environment (TRON_XPUB, AUTH_JWT_SECRET, NODE_KEY)\n",
    )
    expect(all).toMatch(/\nGreen: /)
    expect(code).toBe(0)
    for (const secret of [publicXpub, keySecret, goodSecret, urlSecret]) expect(all).not.toContain(secret)
  })

  it('takes them from the deployment’s own file', async () => {
    write(
      '.dev.vars.production',
      `TRON_XPUB="${publicXpub}"\nNODE_KEY="${keySecret}"\nAUTH_JWT_SECRET="${goodSecret}"\n`,
    )
    const { code, out } = await run(['--production'])
    expect(out).toContain('ok    read: wrangler.toml, .dev.vars.production\n')
    expect(out.split('\n').filter((line) => line.startsWith('FAIL'))).toEqual([
      'FAIL  database: its database_id is a placeholder; `npx wrangler d1 create` gives the real one',
    ])
    expect(code).toBe(1)
  })

  it('fails in one line at an environment that wrangler.toml does not have', async () => {
    const { code, out } = await run(['--env', 'elsewhere'])
    expect(out).toMatch(/^FAIL {2}configuration: No environment found in configuration with name "elsewhere"\.\n/)
    expect(code).toBe(1)
  })

  it('refuses an option that it does not have', async () => {
    expect((await run(['--fix'])).code).toBe(2)
  })

  it('lets the environment set every variable that the configuration reads', () => {
    const bindings = ['DB', 'RATE_LISTS', 'RATE_STRICT', 'TRON_PRO_API_KEY']
    const read = [...readFileSync(configPath, 'utf8').matchAll(/'([A-Z]+(?:_[A-Z]+)*)'/g)].flatMap(
      (match) => match[1] ?? [],
    )
    const variables = new Set(read.filter((name) => name.length > 2 && name !== 'TRX' && !bindings.includes(name)))
    expect([...variables].filter((name) => !variableNames.includes(name))).toEqual([])
    expect(variableNames.filter((name) => !variables.has(name))).toEqual([])
  })
})
