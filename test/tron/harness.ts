import type { Address } from '../../src/addresses/address.ts'
import type { BlockHeight, BlockRef, Txid } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { UnixMs } from '../../src/common/time.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { LogFields, Logger } from '../../src/platform/logger.ts'
import { createNodeMemory, createTronClient, type Fetch, type NodeMemory } from '../../src/tron/client.ts'
import { addressOf, type BuiltChain, createChain, type TransactionSpec, usdt } from '../support/chain-builder.ts'
import { connect, createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'

/** Texts that must never reach a log line. */
export const secrets = { path: 'secret-path', key: 'key-0123456789' } as const

export interface Line {
  readonly level: string
  readonly name: string
  readonly fields: LogFields
}

/** A pool over scripted nodes with time of its own. */
export interface Harness {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly lines: Line[]
  readonly memory: NodeMemory
  /** A new invocation over the same memory. */
  pool(options?: { quorum?: number; deadlineMs?: number; requestsMax?: number; fetch?: Fetch }): Chain
  /** Waits for an answer, letting time pass only where nothing else can happen. */
  settle<T>(answer: Promise<T>): Promise<T>
  now(): number
  advance(ms: number): void
  alarms(): readonly Line[]
  /** How many JSON-RPC requests each node got. */
  counts(): readonly number[]
}

export const us = addressOf(1)
export const them = addressOf(2)

export const trx = (amount: bigint, to: Address = us): TransactionSpec => ({ kind: 'trx', from: them, to, amount })
export const token = (amount: bigint, to: Address = us): TransactionSpec => ({
  kind: 'token',
  contract: usdt,
  from: them,
  to,
  amount,
})

/** A chain of 5 blocks of TRX, token, token and TRX transfers, then enough others to make them final. */
export function busyChain(options: { chainId?: string; salt?: string } = {}): BuiltChain {
  const chain = createChain(options)
  for (let i = 1n; i <= 5n; i += 1n) chain.add([trx(i), token(i * 100n), token(i * 1000n, them), trx(i, them)])
  for (let i = 0; i < 18; i += 1) chain.add([token(1n, them)])
  return chain
}

/** `height` as a block height. */
export const at = (height: number) => height as BlockHeight // a test's own number
/** The `i`-th transaction of the block at `height`, as receipts are asked for. */
export function asked(chain: BuiltChain, height: number, i: number): { txid: Txid; block: BlockRef } {
  const block = chain.at(height)
  const transaction = block?.transactions[i]
  if (block === undefined || transaction === undefined) throw new Error(`no transaction ${i} at ${height}`)
  return { txid: transaction.txid, block }
}

export function createHarness(
  options: { nodes?: number; chain?: BuiltChain; api?: boolean; chainId?: string; tokens?: readonly Address[] } = {},
): Harness {
  const chain = options.chain ?? busyChain()
  const nodes = Array.from({ length: options.nodes ?? 2 }, () => createScriptedNode(chain))
  const endpoints = nodes.map((node, i) => ({
    rpc: `https://node-${i + 1}.test/${secrets.path}/jsonrpc`,
    api: options.api === false ? null : `https://node-${i + 1}.test/${secrets.path}`,
    key: secrets.key,
    node,
  }))
  const time = createVirtualTime()
  const lines: Line[] = []
  const memory = createNodeMemory()
  return {
    chain,
    nodes,
    lines,
    memory,
    pool({ quorum = Math.min(2, nodes.length), deadlineMs = 10_000, requestsMax = 100, fetch } = {}) {
      return createTronClient({
        nodes: endpoints,
        quorum,
        chainId: options.chainId ?? chain.chainId,
        tokens: new Set(options.tokens ?? [usdt]),
        health: memory,
        clock: time.clock,
        fetch: time.watch(fetch ?? connect(endpoints)),
        log: recordTo(lines),
        deadline: (time.clock.now() + deadlineMs) as UnixMs, // milliseconds since 1970
        requestsMax,
      })
    },
    settle: time.settle,
    now: () => time.clock.now(),
    advance: time.advance,
    alarms: () => lines.filter(({ level }) => level === 'alarm'),
    counts: () => nodes.map(({ requests }) => requests.filter(({ service }) => service === 'rpc').length),
  }
}

function recordTo(lines: Line[]): Logger {
  const record = (level: string) => (name: string, fields: LogFields) => {
    lines.push({ level, name, fields })
  }
  return { info: record('info'), warn: record('warn'), error: record('error'), alarm: record('alarm') }
}

/** Time that passes only in `settle`, when every request under way waits for it and nothing else can go on. */
function createVirtualTime() {
  let now = 1_800_000_000_000
  let moving = 0 // requests that will end without time passing
  let chance = 0
  const sleepers: { at: number; wake: () => void }[] = []
  const clock: Clock = {
    now: () => now as UnixMs, // milliseconds since 1970
    sleep: (ms) => new Promise((wake) => sleepers.push({ at: now + ms, wake })),
    random: () => {
      chance = (chance + 0.37) % 1
      return chance
    },
  }
  const advance = (ms: number) => {
    now += ms
    wakeAll()
  }
  const wakeAll = () => {
    sleepers.sort((a, b) => a.at - b.at)
    while (sleepers[0] !== undefined && sleepers[0].at <= now) sleepers.shift()?.wake()
  }
  return {
    clock,
    advance,
    /** `fetch` whose requests are known to be under way until their body is read. One that hangs is not. */
    watch(fetch: Fetch): Fetch {
      return async (url, init) => {
        moving += 1
        const answer = fetch(url, init)
        const isQuick = await Promise.race([
          answer.then(
            () => true,
            () => true,
          ),
          new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 0)),
        ])
        if (!isQuick) {
          moving -= 1
          return answer
        }
        const response = await answer.catch((error: unknown) => {
          moving -= 1
          throw error
        })
        if (response.body === null) {
          moving -= 1
          return response
        }
        const reader = response.body.getReader()
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            const { done, value } = await reader.read()
            if (!done) return controller.enqueue(value)
            moving -= 1
            controller.close()
          },
          async cancel() {
            moving -= 1
            await reader.cancel()
          },
        })
        return new Response(body, { status: response.status, headers: response.headers })
      }
    },
    async settle<T>(answer: Promise<T>): Promise<T> {
      let isDone = false
      const end = () => {
        isDone = true
      }
      answer.then(end, end)
      let idle = 0
      while (!isDone) {
        await new Promise((resolve) => setTimeout(resolve, 0))
        idle = moving > 0 ? 0 : idle + 1
        if (isDone || idle < 3) continue
        idle = 0
        sleepers.sort((a, b) => a.at - b.at)
        const [next] = sleepers
        if (next === undefined) continue
        now = Math.max(now, next.at)
        wakeAll()
      }
      return answer
    },
  }
}
