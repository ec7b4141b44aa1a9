import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type BuiltBlock, type BuiltTransaction, buildBlock } from './block-json.ts'
import { encodeRawTransaction } from './raw-transaction.ts'
import type { TransactionSpec } from './transaction-spec.ts'

/**
 * A Tron-like chain in memory, with blocks in a node's JSON: hashes contain their heights, parents are linked, and each
 * txid is the SHA-256 of real `raw_data` bytes. The same specs build the same chain. It runs in Node and in workerd.
 */
export interface BuiltChain {
  readonly chainId: string
  /** Of the first built block. */
  readonly firstHeight: number
  tip(): BuiltBlock
  at(height: number): BuiltBlock | undefined
  byHash(hash: string): BuiltBlock | undefined
  transaction(txid: string): BuiltTransaction | undefined
  /** Appends a block. */
  add(specs?: readonly TransactionSpec[]): BuiltBlock
  /** Appends `count` empty blocks. */
  addEmpty(count: number): void
  /** Another chain with the same blocks up to and including `height`; blocks added to it have other hashes. */
  fork(height: number): BuiltChain
}

const mainnetId = '0x2b6653dc'
const mainnetGenesis = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'
const genesisTimestamp = 1_529_891_469

/** A chain of block 0 and the blocks that are added, from `firstHeight` on. There are no blocks between the two. */
export function createChain(options: { chainId?: string; firstHeight?: number; salt?: string } = {}): BuiltChain {
  const { chainId = mainnetId, firstHeight = 70_000_000, salt = '' } = options
  const hash =
    chainId === mainnetId
      ? mainnetGenesis
      : `${'0'.repeat(16)}${digest(chainId).slice(0, 40)}${chainId.slice(2).padStart(8, '0')}`
  const parentHash = '0'.repeat(64)
  const genesis = buildBlock({ height: 0, hash, parentHash, timestamp: genesisTimestamp, transactions: [] })
  return chainOf({ chainId, firstHeight, salt, genesis, blocks: [] })
}

interface ChainState {
  readonly chainId: string
  readonly firstHeight: number
  /** Differs between forks, so that their blocks have different hashes. */
  readonly salt: string
  readonly genesis: BuiltBlock
  readonly blocks: BuiltBlock[]
}

function chainOf(state: ChainState): BuiltChain {
  const { chainId, firstHeight, salt, genesis, blocks } = state
  const byHash = new Map<string, BuiltBlock>()
  const byTxid = new Map<string, BuiltTransaction>()
  const index = (block: BuiltBlock) => {
    byHash.set(block.hash, block)
    for (const transaction of block.transactions) byTxid.set(transaction.txid, transaction)
  }
  for (const block of [genesis, ...blocks]) index(block)
  const add = (specs: readonly TransactionSpec[] = []) => {
    const block = nextBlock(state, specs)
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
    transaction: (txid) => byTxid.get(txid),
    add,
    addEmpty(count) {
      for (let i = 0; i < count; i += 1) add()
    },
    fork: (height) => chainOf({ ...state, salt: `${salt}'`, blocks: blocks.slice(0, height - firstHeight + 1) }),
  }
}

function nextBlock({ firstHeight, salt, blocks }: ChainState, specs: readonly TransactionSpec[]): BuiltBlock {
  const height = firstHeight + blocks.length
  const parentHash = blocks.at(-1)?.hash ?? hashOf(height - 1, digest(`${salt} before the first block`))
  const timestamp = 1_700_000_000 + (height - firstHeight) * 3
  const transactions = specs.map((spec, i) => ({ spec, rawData: encodeRawTransaction(spec, timestamp * 1000 + i) }))
  const txids = transactions.map(({ rawData }) => bytesToHex(sha256(rawData)))
  const hash = hashOf(height, digest([salt, parentHash, ...txids].join()))
  return buildBlock({ height, hash, parentHash, timestamp, transactions })
}

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
/** A block hash starts with its height (PROTOCOL.md, Blocks). */
const hashOf = (height: number, rest: string) => height.toString(16).padStart(16, '0') + rest.slice(16)
