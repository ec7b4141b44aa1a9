import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { childEnvironment } from '../../src/commands/child-environment.ts'
import { trackChild } from '../support/child-processes.ts'
import { root, UserError } from '../support/project.ts'
import { untilPrinted } from '../support/until-printed.ts'
import { connectEvm, type Evm } from './evm.ts'

/**
 * `devn` in ASCII. No public network has this id, so no wallet or node takes the local chain for a
 * real one.
 */
export const devnetChainId = 0x6465766e
/** Seconds between the times of two blocks, as on Tron. */
export const slotSeconds = 3

const readyTimeoutMs = 60_000
const stopTimeoutMs = 20_000
/**
 * Anvil's binary. The script in anvil's package is not used, because it would start one more
 * process of Node.
 */
const program = `${root}node_modules/@foundry-rs/anvil-${process.platform}-${process.arch.replace('x64', 'amd64')}/bin/anvil`

export interface AnvilOptions {
  /** 0 chooses a free port. */
  readonly port: number
  /** The file that stores the chain, or null to keep it in memory only. */
  readonly statePath: string | null
  /** Whether it will make blocks by a timer, and not on command only. */
  readonly isTimed: boolean
  /**
   * How far behind the clock the time of the next block is: blocks on command come faster than the
   * clock.
   */
  readonly behindSeconds: number
}

/** A running process of anvil, the EVM chain behind the Tron server. */
export interface Anvil {
  readonly evm: Evm
  /**
   * Resolves when the process has ended for any reason. `errorOutput` is its error message, or
   * empty.
   */
  readonly ended: Promise<{ readonly errorOutput: string }>
  readonly pid: number
  /** Ends the process. Blocks that are not in the file of `statePath` are lost. */
  stop(): Promise<void>
}

/**
 * Starts anvil with free gas: one unit of its coin is one sun, and a payment moves exactly its
 * amount.
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  if (!existsSync(program)) throw new UserError('anvil is not installed: run "npm ci" and start again.')
  // anvil gets a process group of its own, so that Ctrl-C reaches only this process, which then
  // stops its children in order.
  const child = spawn(program, argumentsOf(options), {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: childEnvironment({ NO_COLOR: '1' }),
  })
  trackChild(child)
  const what = 'the port on which it listens'
  const { found, ended: printed } = untilPrinted(child, /Listening on 127\.0\.0\.1:(\d+)/, what, readyTimeoutMs)
  const ended = printed.then((output) => ({ errorOutput: errorOutputOf(output) }))
  const stop = async () => {
    child.kill('SIGTERM')
    const killTimer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await ended
    clearTimeout(killTimer)
  }
  const start = await found
  if ('text' in start) {
    const evm = connectEvm(`http://127.0.0.1:${start.text}`, !options.isTimed)
    await evm.call('anvil_autoImpersonateAccount', true) // the Tron server checks the signatures of what is broadcast
    await startTime(evm, options)
    return { evm, ended, pid: child.pid ?? 0, stop }
  }
  await stop()
  throw new Error(`anvil did not start: ${start.why}`)
}

/**
 * Sets the chain's time, in which blocks are 3 s apart whenever they are made. A restarted chain
 * goes on 3 s after its newest block, or at the time `behindSeconds` ago if that is later.
 */
async function startTime(evm: Evm, { behindSeconds }: AnvilOptions): Promise<void> {
  const { timestamp } = await evm.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
  const next = Math.max(Number(timestamp) + slotSeconds, timeBehind(behindSeconds))
  await evm.call('evm_setNextBlockTimestamp', next)
  await evm.call('anvil_setBlockTimestampInterval', slotSeconds)
}

/** The time `seconds` ago in seconds since 1970, rounded down to a multiple of a slot. */
export function timeBehind(seconds: number): number {
  const time = Math.floor(Date.now() / 1_000) - seconds
  return time - (time % slotSeconds)
}

function argumentsOf({ port, statePath, behindSeconds }: AnvilOptions): string[] {
  const args = ['--port', `${port}`, '--chain-id', `${devnetChainId}`]
  args.push('--block-base-fee-per-gas', '0', '--gas-price', '0', '--disable-min-priority-fee')
  args.push('--prune-history', '10') // old states are never read, and would fill memory and disk
  // an account begins with 1 ether, which is 10^18 sun and fits an int64
  args.push('--balance', '1', '--order', 'fifo', '--gas-limit', '3000000000')
  args.push('--no-mining', '--timestamp', `${timeBehind(behindSeconds + slotSeconds)}`)
  if (statePath !== null && existsSync(statePath)) args.push('--load-state', statePath) // `keep.ts` stores the file
  return args
}

/** The first output line that looks like an error message, or an empty text. */
function errorOutputOf(output: string): string {
  return (output.split('\n').find((line) => /error|not supported|cannot/i.test(line)) ?? '').trim()
}
