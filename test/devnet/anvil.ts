import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { trackChild } from './child-processes.ts'
import { Trouble } from './project.ts'

/** `devn` in ASCII: no public network's id, so that a wallet or a node can't be taken for a real one. */
export const devnetChainId = 0x6465766e
/** Blocks from a new one to its finality: two, as anvil counts with `--slots-in-an-epoch 1`. */
export const finalityBlocks = 2

const readyWithinMs = 20_000
const stopWithinMs = 20_000
const shim = fileURLToPath(new URL('../../node_modules/@foundry-rs/anvil/bin.mjs', import.meta.url).href)

/** An error answer of anvil: Ethereum's code, text and, for a revert, the returned bytes. */
export class EvmError extends Error {
  readonly code: number
  readonly data: string | null

  constructor(code: number, message: string, data: string | null) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** One JSON-RPC call. */
export type EvmCall = readonly [method: string, params: readonly unknown[]]

/** The EVM chain behind the Tron face. */
export interface Evm {
  /** One call's result; an error answer throws `EvmError`. */
  call<T>(method: string, ...params: readonly unknown[]): Promise<T>
  /** Many calls in one HTTP request, results in the order asked. */
  batch<T>(calls: readonly EvmCall[]): Promise<T[]>
}

/** How to run anvil. */
export interface AnvilOptions {
  /** 0 takes a free one. */
  readonly port: number
  /** Where the chain is kept, or null for one that is gone when it stops. */
  readonly statePath: string | null
  /** Seconds between two blocks, or null to make blocks on command only. */
  readonly blockSeconds: number | null
}

/** A running anvil. */
export interface Anvil {
  readonly evm: Evm
  /** Resolves when the process has ended, asked to or not; `lastWords` is what it said to be wrong, or empty. */
  readonly ended: Promise<{ readonly lastWords: string }>
  /** Ends the process; the chain is on disk when this resolves. */
  stop(): Promise<void>
}

interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Starts anvil with free gas, so that one unit of its coin is one sun and a payment moves exactly its amount. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  if (!existsSync(shim)) throw new Trouble('anvil is not installed: run "npm ci" and start again.')
  const args = ['--port', `${options.port}`, '--chain-id', `${devnetChainId}`, '--slots-in-an-epoch', '1']
  args.push('--block-base-fee-per-gas', '0', '--gas-price', '0', '--disable-min-priority-fee')
  args.push('--prune-history', '10') // old states: nobody asks for them, and they would fill memory and disk
  args.push('--balance', '1', '--order', 'fifo', '--gas-limit', '3000000000') // 1 ether is 10^18 sun: fits an int64
  args.push(...(options.blockSeconds === null ? ['--no-mining'] : ['--block-time', `${options.blockSeconds}`]))
  // The interval bounds what a killed process loses; a stopped one loses nothing.
  if (options.statePath !== null) args.push('--state', options.statePath, '--state-interval', '30')

  // Its own process group: Ctrl-C reaches this process alone, which then stops its children in order.
  const child = spawn(process.execPath, [shim, ...args], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  trackChild(child)
  let output = ''
  const ended = new Promise<{ lastWords: string }>((resolve) => {
    child.once('error', (error) => resolve({ lastWords: error.message }))
    child.once('close', () => resolve({ lastWords: lastWords(output) }))
  })
  const listening = new Promise<string>((resolve) => {
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000)
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
  const stop = async () => {
    child.kill('SIGTERM')
    const killed = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
    await ended
    clearTimeout(killed)
  }

  const outcome = await Promise.race([listening, ended, after(readyWithinMs)])
  if (typeof outcome === 'string') return { evm: connectEvm(outcome), ended, stop }
  await stop()
  throw new Error(`anvil did not start: ${outcome?.lastWords || 'it gave no reason'}`)
}

function connectEvm(url: string): Evm {
  let lastId = 0
  const post = async (body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return response.json()
  }
  const request = ([method, params]: EvmCall) => ({ jsonrpc: '2.0', id: ++lastId, method, params })
  return {
    async call<T>(method: string, ...params: readonly unknown[]) {
      return unwrap((await post(request([method, params]))) as Reply) as T // anvil's answers are trusted: it is ours
    },
    async batch<T>(calls: readonly EvmCall[]) {
      if (calls.length === 0) return []
      const replies = (await post(calls.map(request))) as Reply[] // as above
      return replies.sort((a, b) => a.id - b.id).map((reply) => unwrap(reply) as T)
    },
  }
}

function unwrap(reply: Reply): unknown {
  if (reply.error === undefined) return reply.result
  const { code, message, data } = reply.error
  throw new EvmError(code, message, typeof data === 'string' ? data : null)
}

/** The line that says what is wrong, or nothing where none does. */
function lastWords(output: string): string {
  return (output.split('\n').find((line) => /error|not supported|cannot/i.test(line)) ?? '').trim()
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null).unref())
}
