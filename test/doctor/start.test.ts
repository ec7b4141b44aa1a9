import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Devnet } from '../devnet/chain.ts'
import { testXpub } from '../support/variables.ts'
import { failures } from './harness.ts'
import { goodSecret, keySecret, startChain, urlSecret, valuesFor } from './support.ts'

const script = fileURLToPath(new URL('../../src/doctor/start.ts', import.meta.url).href)

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
  write('.dev.vars', `TRON_XPUB="${testXpub}"\nNODE_KEY="${keySecret}"\nDEV_UID="1"\n`)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await devnet.stop()
})

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

/** Runs the command in the folder, just after a new block: the command uses the real time. */
async function run(args: readonly string[], environment: Record<string, string> = {}) {
  await devnet.mine(1)
  return new Promise<{ code: number; out: string; all: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, ...environment }
    execFile(process.execPath, [script, ...args], { cwd: folder, env }, (error, out, errors) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, all: `${out}${errors}` })
    })
  })
}

describe('npm run doctor', () => {
  it('passes the configuration of this machine, which includes .dev.vars', async () => {
    const { code, out } = await run([])
    expect(out).toContain('read from wrangler.toml, .dev.vars\n')
    expect(out).not.toContain('FAIL')
    expect(out).toMatch(/\n0 of \d+ checks failed, 3 warnings\.\n$/)
    expect(code).toBe(0)
  })

  it('does not use .dev.vars of this machine for a deployment', async () => {
    const { code, out } = await run(['--env', 'nile'])
    expect(out).toContain('read from wrangler.toml [env.nile]\n')
    expect(out).toContain('(it is not set)')
    expect(out).toContain('the platform does not return secrets; set them in .dev.vars.nile or the environment\n')
    expect(code).toBe(1)
  })

  it('reads the secrets of a deployment from the environment, and prints their names', async () => {
    const environment = { TRON_XPUB: testXpub, NODE_KEY: keySecret, AUTH_JWT_SECRET: goodSecret }
    const { code, all } = await run(['--env=nile'], environment)
    expect(all).toContain(
      'read from wrangler.toml [env.nile], environment variables (TRON_XPUB, AUTH_JWT_SECRET, NODE_KEY)\n',
    )
    expect(code).toBe(0)
    for (const secret of [testXpub, keySecret, goodSecret, urlSecret]) expect(all).not.toContain(secret)
  })

  it('reads them from the file of the deployment', async () => {
    write('.dev.vars.production', `TRON_XPUB="${testXpub}"\nNODE_KEY="${keySecret}"\nAUTH_JWT_SECRET="${goodSecret}"\n`)
    const { code, out } = await run(['--production'])
    expect(out).toContain('read from wrangler.toml, .dev.vars.production\n')
    expect(failures(out.split('\n'))).toEqual([expect.stringMatching(/^FAIL {2}database: /)])
    expect(code).toBe(1)
  })

  it('prints one line about an environment that wrangler.toml does not have', async () => {
    const { code, out } = await run(['--env', 'elsewhere'])
    expect(out).toMatch(/^FAIL {2}configuration: No environment found in configuration with name "elsewhere"\.\n/)
    expect(code).toBe(1)
  })

  it('refuses an unknown option', async () => {
    expect((await run(['--fix'])).code).toBe(2)
  })
})
