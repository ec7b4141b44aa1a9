import type { Address } from '../../src/chain/address.ts'
import type { BlockHeight, TransactionRef } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { type AlarmStore, createAlarms } from '../../src/platform/alarms.ts'
import type { LogFields, Logger } from '../../src/platform/logger.ts'
import { createTronClient } from '../../src/tron/client.ts'
import { createNodeHealthStore, type NodeHealthStore } from '../../src/tron/nodes/health.ts'
import type { Fetch } from '../../src/tron/transport/http.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { connect, createScriptedNode, type Fault, type ScriptedNode } from '../support/scripted-node.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { createVirtualTime } from './virtual-time.ts'

/** Texts that must never be in a log line. */
export const secrets = { path: 'secret-path', key: 'key-0123456789' } as const

/** One line of the log. */
export interface Line {
  readonly level: string
  readonly name: string
  readonly fields: LogFields
}

/** Limits of one invocation. */
export interface InvocationOptions {
  readonly quorum?: number
  readonly deadlineMs?: number
  readonly requestsMax?: number
  readonly tokens?: readonly Address[]
}

/** A client of scripted nodes, in virtual time. */
export interface Harness {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly lines: Line[]
  readonly health: NodeHealthStore
  /** The node at an index. */
  node(i: number): ScriptedNode
  /** Sets one fault for all further requests to a node, or none. */
  fail(i: number, fault: Fault | null): void
  /** A client for a new invocation of the same isolate. */
  pool(options?: InvocationOptions): Chain
  /** Waits for a result, and lets time pass where nothing else can continue. */
  settle<T>(result: Promise<T>): Promise<T>
  now(): number
  advance(ms: number): void
  alarms(): readonly Line[]
  /** JSON-RPC requests by node. */
  counts(): readonly number[]
}

/** An address of the service, and another one. */
export const us = addressOf(1)
export const them = addressOf(2)

/** A TRX transfer. */
export const trx = (amount: bigint, to: Address = us): TransactionSpec => ({ kind: 'trx', from: them, to, amount })
/** A USDT transfer. */
export const token = (amount: bigint, to: Address = us): TransactionSpec => ({
  kind: 'token',
  contract: usdtAddress,
  from: them,
  to,
  amount,
})

/** A chain of 5 final blocks, each with TRX, token, token and TRX transfers, and 18 blocks that are not final. */
export function busyChain(options: { chainId?: string; salt?: string } = {}): BuiltChain {
  const chain = createChain(options)
  for (let i = 1n; i <= 5n; i += 1n) chain.add([trx(i), token(i * 100n), token(i * 1000n, them), trx(i, them)])
  for (let i = 0; i < 18; i += 1) chain.add([token(1n, them)])
  return chain
}

/** A number as a block height. */
export const at = (height: number) => height as BlockHeight // a test's own number

/** The transaction at an index of a block. */
export function transactionRef(chain: BuiltChain, height: number, i: number): TransactionRef {
  const block = chain.at(height)
  const transaction = block?.transactions[i]
  if (block === undefined || transaction === undefined) throw new Error(`no transaction ${i} at ${height}`)
  return { txid: transaction.txid, block }
}

export function createHarness(
  options: { nodes?: number; chain?: BuiltChain; api?: boolean; chainId?: string } = {},
): Harness {
  const chain = options.chain ?? busyChain()
  const nodes = Array.from({ length: options.nodes ?? 2 }, () => createScriptedNode(chain))
  const endpoints = nodes.map((node, i) => ({
    rpc: `https://node-${i + 1}.test/${secrets.path}/jsonrpc`,
    api: options.api === false ? null : `https://node-${i + 1}.test/${secrets.path}`,
    key: secrets.key,
    node,
  }))
  const { clock, advance, watch, settle } = createVirtualTime()
  const fetch: Fetch = watch(connect(endpoints))
  const lines: Line[] = []
  const health = createNodeHealthStore()
  const logger = recordTo(lines)
  const alarms = createAlarms({ store: noDatabase, clock, logger })
  const nodeAt = (i: number): ScriptedNode => {
    const node = nodes[i]
    if (node === undefined) throw new Error(`no node ${i}`)
    return node
  }
  return {
    chain,
    nodes,
    lines,
    health,
    node: nodeAt,
    fail(i, fault) {
      nodeAt(i).script = () => fault
    },
    pool: ({
      quorum = Math.min(2, nodes.length),
      deadlineMs = 10_000,
      requestsMax = 100,
      tokens = [usdtAddress],
    } = {}) =>
      createTronClient({
        nodes: endpoints,
        quorum,
        chainId: options.chainId ?? chain.chainId,
        tokens: new Set(tokens),
        health,
        clock,
        fetch,
        logger,
        alarms,
        deadline: (clock.now() + deadlineMs) as UnixMs, // milliseconds since 1970
        requestsMax,
      }),
    settle,
    now: clock.now,
    advance,
    alarms: () => lines.filter(({ level }) => level === 'alarm'),
    counts: () => nodes.map(({ requests }) => requests.filter(({ service }) => service === 'rpc').length),
  }
}

/** A harness whose nodes have been probed and have nothing in the log. */
export async function createProbed(nodes: number, chain?: BuiltChain): Promise<Harness> {
  const h = createHarness(chain === undefined ? { nodes } : { nodes, chain })
  await h.settle(h.pool({ quorum: nodes }).finalizedHead())
  h.lines.length = 0
  return h
}

/** Trips to a real database would take virtual time. Without one an isolate knows only its own alarms. */
const away = () => Promise.reject(new Error('there is no database'))
const noDatabase: AlarmStore = { has: away, add: away, remove: away, removeWell: away }

function recordTo(lines: Line[]): Logger {
  const record = (level: string) => (name: string, fields: LogFields) => {
    lines.push({ level, name, fields })
  }
  return { info: record('info'), warn: record('warn'), error: record('error'), alarm: record('alarm') }
}
