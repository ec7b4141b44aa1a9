import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCollect } from '../../../src/commands/collect/command.ts'
import {
  type CallOptions,
  type CommandEnd,
  type CommandOptions,
  callCommand,
  runCommand,
} from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'
import { databaseId, installWrangler } from '../local-database.ts'
import { bindingsFor, type CollectChain, gasAddress } from './harness.ts'

const script = 'src/commands/collect/start.ts'

/** An operator's folder with the configuration of a deployment on a local chain. */
export interface TestDeployment {
  readonly folder: string
  readonly path: (name: string) => string
  /** Runs the command in a process. When it waits for a block, a block is made. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandEnd>
  /** Calls the command's function in this process. */
  call(args: readonly string[], options?: CallOptions): Promise<CommandEnd>
  /**
   * Puts a program in the place of wrangler that prints `output`. `calls` returns the arguments of
   * each of its calls.
   */
  replaceWrangler(output: string): { readonly environment: Record<string, string>; readonly calls: () => string[][] }
  remove(): void
}

interface DeploymentChain {
  readonly devnet: Pick<CollectChain['devnet'], 'rpcUrl' | 'apiUrl'>
}

/**
 * Creates the folder. wrangler.toml has a top level and the environment nile, and there are secrets
 * for both.
 */
export function createDeployment({ devnet }: DeploymentChain): TestDeployment {
  const folder = mkdtempSync(join(tmpdir(), 'collect-'))
  const path = (name: string) => join(folder, name)
  const toml = (list: unknown) => JSON.stringify(list).replace(/"(\w+)":/g, '$1=') // as TOML's inline tables
  const { TRON_NODES, CURRENCIES } = bindingsFor(devnet)
  const section = (prefix: string) => `[[${prefix}d1_databases]]
binding = "DB"\ndatabase_name = "x"\ndatabase_id = "${databaseId}"
migrations_dir = "${root}migrations"\n[${prefix}vars]\nTRON_CHAIN_ID = "0x6465766e"
TRON_NODES = ${toml(TRON_NODES)}\nCURRENCIES = ${toml(CURRENCIES)}\nOPERATOR_ADDRESSES = ["${gasAddress}"]\n`
  writeFileSync(
    path('wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"\n${section('')}${section('env.nile.')}`,
  )
  for (const name of ['.dev.vars', '.dev.vars.production', '.dev.vars.nile']) {
    writeFileSync(path(name), `TRON_XPUB="${testXpub}"\nAUTH_JWT_SECRET="0123456789abcdef0123456789abcdef"\n`)
  }
  return {
    folder,
    path,
    run: (args, options = {}) =>
      runCommand(script, args, { cwd: folder, blocksBy: `${devnet.apiUrl}/devnet/mine`, ...options }),
    call: (args, options = {}) => callCommand(runCollect, args, { cwd: folder, ...options }),
    replaceWrangler(output) {
      writeFileSync(path('output'), output)
      writeFileSync(path('calls'), '')
      const environment = installWrangler(folder, `printf '%s\\n' "$*" >> '${path('calls')}'\ncat '${path('output')}'`)
      const calls = () => [...readFileSync(path('calls'), 'utf8').matchAll(/.+/g)].map(([line]) => line.split(' '))
      return { environment, calls }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
