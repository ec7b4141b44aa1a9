import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { BlockRef, Txid } from '../../src/worker/chain/block.ts'
import type { ChainBlock, ChainTransaction } from './block-json.ts'
import { encodeRawTransaction } from './raw-transaction.ts'
import { type LogSpec, type TransactionSpec, transferLog } from './transaction-spec.ts'

export type BuiltBlock = ChainBlock & BlockRef

/**
 * A chain in memory, built like Tron's: a block hash begins with the height, each block names its
 * parent, and a txid is the SHA-256 of real `raw_data` bytes. The same specs build the same chain.
 * `block-json.ts` makes the replies of nodes from it. It runs in Node and in workerd.
 */
export interface BuiltChain {
  readonly chainId: string
  /** The height of the first block after block 0. */
  readonly firstHeight: number
  tip(): BuiltBlock
  at(height: number): BuiltBlock | undefined
  byHash(hash: string): BuiltBlock | undefined
  /** The block that contains the transaction. */
  blockOf(txid: string): BuiltBlock | undefined
  /**
   * Appends a block with these transactions; returns it. By default it is made three seconds after
   * the one before.
   */
  add(specs?: readonly TransactionSpec[], timeMs?: number): BuiltBlock
  addEmpty(count: number): void
  /**
   * A copy of the chain up to and including `height`. Blocks that are added to the copy get other
   * hashes than those of this chain.
   */
  fork(height: number): BuiltChain
}

const mainnetId = '0x2b6653dc'
const mainnetGenesis = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'
const genesisTimestamp = 1_529_891_469

/**
 * Starts a chain with block 0. The first added block has the height `firstHeight`; there are no
 * blocks between the two.
 */
export function createChain(options: { chainId?: string; firstHeight?: number; salt?: string } = {}): BuiltChain {
  const { chainId = mainnetId, firstHeight = 70_000_000, salt = '' } = options
  const hash =
    chainId === mainnetId
      ? mainnetGenesis
      : `${'0'.repeat(16)}${digest(chainId).slice(0, 40)}${chainId.slice(2).padStart(8, '0')}`
  const parentHash = '0'.repeat(64)
  const genesis = toBlock({ height: 0, hash, parentHash, timeMs: genesisTimestamp * 1000, transactions: [] })
  return chainOf({ chainId, firstHeight, salt, genesis, blocks: [] })
}

/** A chain with these blocks, from `firstHeight` on, as another one has them. */
export function restoreChain(firstHeight: number, blocks: readonly ChainBlock[]): BuiltChain {
  const { chainId, at } = createChain({ firstHeight })
  const genesis = at(0)
  if (genesis === undefined) throw new Error('each chain has a block 0')
  return chainOf({ chainId, firstHeight, salt: '', genesis, blocks: blocks.map(toBlock) })
}

interface ChainState {
  readonly chainId: string
  readonly firstHeight: number
  /** Part of every hash: it differs between forks. */
  readonly salt: string
  readonly genesis: BuiltBlock
  readonly blocks: BuiltBlock[]
}

function chainOf(state: ChainState): BuiltChain {
  const { chainId, firstHeight, salt, genesis, blocks } = state
  const byHash = new Map<string, BuiltBlock>()
  const byTxid = new Map<string, BuiltBlock>()
  const index = (block: BuiltBlock) => {
    byHash.set(block.hash, block)
    for (const { txid } of block.transactions) byTxid.set(txid, block)
  }
  for (const block of [genesis, ...blocks]) index(block)
  const add = (specs: readonly TransactionSpec[] = [], timeMs?: number) => {
    const block = nextBlock(state, specs, timeMs)
    blocks.push(block)
    index(block)
    return block
  }
  return {
    chainId,
    firstHeight,
    tip: () => blocks.at(-1) ?? genesis,
    at: (height) => (height === 0 ? genesis : blocks[height - firstHeight]),
    byHash: (hash) => byHash.get(hash),
    blockOf: (txid) => byTxid.get(txid),
    add,
    addEmpty(count) {
      for (let i = 0; i < count; i += 1) add()
    },
    fork: (height) => chainOf({ ...state, salt: `${salt}'`, blocks: blocks.slice(0, height - firstHeight + 1) }),
  }
}

function nextBlock(
  { firstHeight, salt, blocks }: ChainState,
  specs: readonly TransactionSpec[],
  givenMs?: number,
): BuiltBlock {
  const height = firstHeight + blocks.length
  const parentHash = blocks.at(-1)?.hash ?? hashOf(height - 1, digest(`${salt} before the first block`))
  const timeMs = givenMs ?? (blocks.at(-1)?.timeMs ?? 1_700_000_000_000 - 3_000) + 3_000
  const transactions = specs.map((spec, i) => toTransaction(spec, encodeRawTransaction(spec, timeMs + i)))
  const txids = transactions.map(({ txid }) => txid)
  const hash = hashOf(height, digest([salt, parentHash, ...txids].join()))
  return toBlock({ height, hash, parentHash, timeMs, transactions })
}

const toBlock = (block: ChainBlock) => block as BuiltBlock // safe: its hash and height were made for this chain

/**
 * A transaction as a block contains it. A failed one can have logs (PROTOCOL.md, Failed
 * transactions with logs).
 */
export function toTransaction(spec: TransactionSpec, rawData: Uint8Array): ChainTransaction {
  const txid = bytesToHex(sha256(rawData)) as Txid // safe: 64 hex digits
  const hasFailed = 'failed' in spec && spec.failed === true
  const logs = logsOf(spec, hasFailed)
  const result = hasFailed ? (logs.length > 0 ? 'OUT_OF_TIME' : 'REVERT') : 'SUCCESS'
  const called = spec.kind === 'call' ? spec.contract : null
  const internals = spec.kind === 'call' ? (spec.internals ?? []) : []
  const own = called === null ? [] : internals.map((one) => ({ from: called, ...one }))
  return { txid, rawHex: bytesToHex(rawData), result, logs, ...(own.length === 0 ? {} : { internals: own }) }
}

function logsOf(spec: TransactionSpec, hasFailed: boolean): readonly LogSpec[] {
  if (spec.kind === 'call' || spec.kind === 'signed') return hasFailed ? [] : (spec.logs ?? [])
  const hasLog = spec.kind === 'token' && (!hasFailed || spec.keepsLogs === true)
  return hasLog ? [transferLog(spec.contract, spec.from, spec.to, spec.amount)] : []
}

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
/** The given hash with the height in its first 16 digits (PROTOCOL.md, Blocks). */
const hashOf = (height: number, rest: string) => height.toString(16).padStart(16, '0') + rest.slice(16)
