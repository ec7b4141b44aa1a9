import { writeFileSync } from 'node:fs'
import { runPayout } from '../../../src/commands/payout/command.ts'
import {
  type CallOptions,
  type CommandEnd,
  type CommandOptions,
  callCommand,
  runCommand,
} from '../../support/command.ts'
import { type CommandTime, createCommandTime } from '../../support/command-time.ts'
import { backendSecret } from '../../support/variables.ts'
import { createDeployment } from '../collect/deployment.ts'
import { testMnemonic } from '../collect/harness.ts'
import { payoutAddress } from './harness.ts'
import { type OwnNode, startOwnNode } from './own-node.ts'
import { type ScriptedService, startPayoutService } from './scripted-service.ts'

/** An operator's folder with the configuration of a scripted service. */
export interface PayoutDeployment {
  readonly service: ScriptedService
  readonly script: ScriptedService['script']
  readonly node: OwnNode
  /**
   * The clock of the service, the node and the commands that `call` runs. It moves only while such
   * a command waits.
   */
  readonly time: CommandTime
  readonly path: (name: string) => string
  /** Runs the command in a process, for this service, with the test mnemonic as its input. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandEnd>
  /** Calls the command's function in this process, for this service. */
  call(args: readonly string[], options?: CallOptions): Promise<CommandEnd>
  /** Calls the command's function in this process, without naming a service. */
  callAlone(args: readonly string[], options?: CallOptions): Promise<CommandEnd>
  stop(): Promise<void>
}

/**
 * Creates the folder with limits in `limits.json`, and starts the service and a node on its chain.
 */
export async function startDeployment(): Promise<PayoutDeployment> {
  const time = createCommandTime()
  const { now } = time.clock
  const service = await startPayoutService(payoutAddress, now)
  const node = await startOwnNode(now)
  node.script.decimals = 6
  const { folder, path, remove } = createDeployment({ devnet: { rpcUrl: `${node.url}/jsonrpc`, apiUrl: node.url } })
  const limits = [
    { cuy: 1, each: '100', perDay: '1000' },
    { cuy: 2, each: '100', perDay: '1000' },
  ]
  writeFileSync(path('limits.json'), JSON.stringify(limits))
  const settings = { PAYOUTS: JSON.stringify({ address: payoutAddress }), BACKEND_JWT_SECRET: backendSecret }
  const withDefaults = <Options extends CallOptions | CommandOptions>({ environment, ...options }: Options) => ({
    cwd: folder,
    input: `${testMnemonic}\n`,
    ...options,
    environment: { ...settings, ...environment },
  })
  const withService = (args: readonly string[]) => (args[0] === 'sign' ? args : [...args, '--service', service.url])
  const callAlone = (args: readonly string[], options?: CallOptions) =>
    callCommand(runPayout, args, { time, ...withDefaults(options ?? {}) })
  return {
    service,
    script: service.script,
    node,
    time,
    path,
    run: (args, options) => runCommand('src/commands/payout/start.ts', withService(args), withDefaults(options ?? {})),
    call: (args, options) => callAlone(withService(args), options),
    callAlone,
    async stop() {
      await service.close()
      await node.close()
      remove()
    },
  }
}

const signals = 'const die = () => { process.kill(process.pid, "SIGKILL"); for (;;); }'
/**
 * The source of a module that kills the process at call number `count` of a function of `node:fs`:
 * before the call, after it, or with half of its bytes written.
 */
export const dieAt = (name: 'fsyncSync' | 'writeSync', count: number, when: 'before' | 'after' | 'half') => `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
${signals}
const real = fs.${name}
let calls = 0
fs.${name} = (file, bytes, offset) => {
  if (typeof file !== 'number' || file < 3) return real(file, bytes, offset)
  calls += 1
  if (calls !== ${count}) return real(file, bytes, offset)
  if ('${when}' === 'before') die()
  if ('${when}' === 'half') real(file, bytes.subarray(0, bytes.length / 2))
  else real(file, bytes, offset)
  die()
}
syncBuiltinESMExports()`
