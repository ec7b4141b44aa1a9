import type { Address } from '../../src/worker/chain/address.ts'
import type { BlockHeight, BlockRef, Header } from '../../src/worker/chain/block.ts'
import type { BlockReading, Chain, RequestQuota } from '../../src/worker/chain/chain.ts'
import type { Result } from '../../src/worker/common/result.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import type { LogFields, Logger } from '../../src/worker/platform/logger.ts'
import type { NodeEndpoint } from '../../src/worker/tron/node.ts'
import { createTron, type Tron } from '../../src/worker/tron/tron.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { createMemoryHost, type MemoryHost } from '../support/memory-host.ts'
import { connect, createScriptedNode, type Fault, type ScriptedNode } from '../support/scripted-node.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { watchRequests } from './watched-requests.ts'

/** Secret texts in the nodes' URLs and headers. No log line may contain them. */
export const secrets = { path: 'secret-path', key: 'key-0123456789' } as const

/** A line of the log. A raised alarm has the level `report`, an ended alarm the level `end`. */
export interface Line {
  readonly level: string
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface HarnessOptions {
  readonly nodes?: number
  /** The names of the nodes in their order; by default the nodes have none. */
  readonly names?: readonly string[]
  /** How many nodes must agree: by default all of them, but at most 2. */
  readonly quorum?: number
  readonly chain?: BuiltChain
  readonly chainId?: string
  readonly tokens?: readonly Address[]
  readonly perSecond?: number
  readonly perDay?: number
  readonly scanEverySeconds?: number
  readonly host?: MemoryHost
}

/** Access to scripted nodes, in virtual time. */
export interface Harness {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly lines: Line[]
  readonly host: MemoryHost
  readonly tron: Tron // that of the newest instance: `evict` replaces it
  node(i: number): ScriptedNode
  /** Makes a node answer all further requests with this fault; null makes it well again. */
  fail(i: number, fault: Fault | null): void
  /** The chain as one piece of work uses it, by default a tick with 20 s until its deadline. */
  open(quota?: RequestQuota, deadlineMs?: number): Chain
  /** Waits for a result. Virtual time passes only when no other work can go on without it. */
  settle<T>(result: Promise<T>): Promise<T>
  now(): number
  advance(ms: number): void
  /** Moves the clock back, as when a machine's clock is corrected. */
  stepBack(ms: number): void
  /** Waits for this much virtual time. Real time does not count. */
  sleep(ms: number): Promise<void>
  /** How many timers of the virtual clock are running. */
  timers(): number
  /**
   * Drops the Durable Object's memory, as the platform may at any time. The object's storage stays.
   */
  evict(): void
  /** The log lines of the alarms that were raised so far. */
  reports(): readonly Line[]
  /** The number of requests that each node has received. */
  counts(): readonly number[]
}

/** `us` is an address that the service has issued, `them` a stranger's. */
export const us = addressOf(1)
export const them = addressOf(2)

/** The quota of requests that a user causes. */
export const caller = (uid: number): RequestQuota => ({ kind: 'caller', uid })

/** A transfer of `amount` sun from `them`. */
export const trx = (amount: bigint, to: Address = us): TransactionSpec => ({ kind: 'trx', from: them, to, amount })
/** A USDT transfer of `amount` millionths from `them`. */
export const token = (amount: bigint, to: Address = us): TransactionSpec => ({
  kind: 'token',
  contract: usdtAddress,
  from: them,
  to,
  amount,
})

/**
 * A chain of 5 final blocks and 18 newer ones. Each final block has four transfers: TRX and a token
 * to `us`, a token and TRX to `them`.
 */
export const busyChain = (): BuiltChain => hashed.fork(hashed.tip().height)

/**
 * The chain of which `busyChain` makes a copy for each test, because hashing new blocks would take
 * longer than most tests.
 */
const hashed = buildBusyChain()

function buildBusyChain(): BuiltChain {
  const chain = createChain()
  for (let i = 1n; i <= 5n; i += 1n) chain.add([trx(i), token(i * 100n), token(i * 1000n, them), trx(i, them)])
  for (let i = 0; i < 18; i += 1) chain.add([token(1n, them)])
  return chain
}

export const at = (height: number) => height as BlockHeight // safe: tests use whole numbers

/** Height and hash of the block at this height. Throws if there is none. */
export function refOf(chain: BuiltChain, height: number): BlockRef {
  const block = chain.at(height)
  if (block === undefined) throw new Error(`no block ${height}`)
  return { height: block.height, hash: block.hash }
}

/** The header of the newest final block, with the present time as its time. */
export function headOf({ chain, now }: Harness): Header {
  const { height, hash } = refOf(chain, chain.tip().height - 18)
  // safe: the virtual clock's time
  return { height, hash, parentHash: refOf(chain, height - 1).hash, timestamp: now() as UnixMs }
}

/** The txid of a block's transaction, by its index. Throws if there is none. */
export function txidAt(chain: BuiltChain, height: number, i: number) {
  const transaction = chain.at(height)?.transactions[i]
  if (transaction === undefined) throw new Error(`no transaction ${i} at ${height}`)
  return transaction.txid
}

function urlsOf(i: number) {
  const api = `https://node-${i + 1}.test/${secrets.path}`
  return { rpc: `${api}/jsonrpc`, api }
}

function endpointOf(i: number, name: string | null, limits: Pick<NodeEndpoint, 'perSecond' | 'perDay'>): NodeEndpoint {
  const { rpc, api } = urlsOf(i)
  const keyHeader = { name: 'TRON-PRO-API-KEY', value: secrets.key }
  const services = { rpc: { url: rpc, keyHeader }, api: { url: api, keyHeader } }
  return { id: `id-${i + 1}`, name, host: `node-${i + 1}.test`, ...services, ...limits }
}

/** Sets up scripted nodes and an instance of `Tron` that uses them. It has sent no request yet. */
export function createHarness(options: HarnessOptions = {}): Harness {
  const { perSecond = 1_000, perDay = 100_000, tokens = [usdtAddress], scanEverySeconds = 20 } = options
  const chain = options.chain ?? busyChain()
  const nodes = Array.from({ length: options.nodes ?? 2 }, () => createScriptedNode(chain))
  const urls = nodes.map((node, i) => ({ ...urlsOf(i), node }))
  const endpoints = nodes.map((_, i) => endpointOf(i, options.names?.[i] ?? null, { perSecond, perDay }))
  const { watch, settled } = watchRequests()
  let drawn = 0
  const random = () => {
    drawn = (drawn + 0.37) % 1
    return drawn
  }
  // the newest block's time: if the head were old, more nodes would be asked
  const clock = createVirtualClock(chain.tip().timeMs, { random, settled })
  const lines: Line[] = []
  const host = options.host ?? createMemoryHost()
  const create = () =>
    createTron({
      nodes: endpoints,
      quorum: options.quorum ?? Math.min(2, nodes.length),
      chainId: options.chainId ?? chain.chainId,
      tokens: new Set(tokens),
      payoutAddresses: new Set(),
      clock,
      logger: recordTo(lines),
      fetch: watch(connect(urls)),
      host,
      scanEverySeconds,
      raiseAlarm: (kind, subject, fields) =>
        lines.push({ level: 'report', name: kind, fields: { subject, ...fields } }),
    })
  let tron = create()
  const nodeAt = (i: number): ScriptedNode => {
    const node = nodes[i]
    if (node === undefined) throw new Error(`no node ${i}`)
    return node
  }
  return {
    chain,
    nodes,
    lines,
    host,
    get tron() {
      return tron
    },
    evict() {
      tron = create()
    },
    node: nodeAt,
    fail(i, fault) {
      nodeAt(i).script = () => fault
    },
    // safe: milliseconds since 1970
    open: (quota = { kind: 'tick' }, deadlineMs = 20_000) => tron.open(quota, (clock.now() + deadlineMs) as UnixMs),
    settle: (result) => settle(clock, result),
    now: clock.now,
    advance: clock.jump,
    stepBack: clock.stepBack,
    sleep: (ms) => clock.sleep(ms),
    timers: clock.pending,
    reports: () => lines.filter(({ level }) => level === 'report'),
    counts: () => nodes.map(({ requests }) => requests.length),
  }
}

async function settle<T>(clock: VirtualClock, result: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  result.then(end, end)
  while (!isOver) await clock.runUntil(() => isOver)
  return result
}

/**
 * A harness whose nodes have passed the check before their first use (the probe). The counts of
 * requests and the log begin empty after it.
 */
export async function createProbed(options: HarnessOptions = {}): Promise<Harness> {
  const h = createHarness(options)
  const { value } = unwrapped(await h.settle(h.open().finalizedHead(null)))
  if (value.header.height === 0) throw new Error('no blocks')
  h.lines.length = 0
  for (const node of h.nodes) node.requests.length = 0
  return h
}

/** Throws if the result is an error. */
function unwrapped<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false }) {
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result
}

/** Reads the first `count` blocks of the chain. */
export const readBlocks = (h: Harness, count = 5) =>
  h.settle(h.open().finalBlocks(at(h.chain.firstHeight), at(h.chain.firstHeight + count - 1)))

/**
 * One item for each block: the number of transfers to or from `us`; a text such as `2 and calls` if
 * receipts are still to be read; `no` if nodes do not agree on the block.
 */
export function wordsOf(result: Result<readonly BlockReading[], unknown>) {
  if (!result.ok) return result.error
  return result.value.map((block) => {
    if (block.kind !== 'read') return 'no'
    const { length } = block.transfers.filter(({ from, to }) => from === us || to === us)
    return block.callsToRead === null ? length : `${length} and calls`
  })
}

function recordTo(lines: Line[]): Logger {
  const record = (level: string) => (name: string, fields: LogFields) => {
    lines.push({ level, name, fields })
  }
  return { info: record('info'), warn: record('warn'), error: record('error'), alarm: record('alarm') }
}

/** The log fields of the nodes' troubles of this kind, as a tick would observe them now. */
export async function troublesOf(h: Harness, kind: 'node-behind' | 'node-failing'): Promise<readonly LogFields[]> {
  const { faults } = await h.tron.nodeTroubles()
  return faults.filter((fault) => fault.kind === kind).map(({ fields }) => fields)
}
