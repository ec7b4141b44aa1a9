import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { type RenderedBlock, renderBlock } from '../support/block-json.ts'
import { quantity, strip0x } from '../support/hex.ts'
import { devnetChainId } from './anvil.ts'
import type { Evm, EvmCall } from './evm.ts'
import { tokenSelector } from './token/compile.ts'
import { type EvmTransaction, outOfEnergyCall, runsCode, type TronTransaction, toTron } from './transaction.ts'

export interface EvmLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface EvmBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly transactionsRoot: string
  readonly transactions: readonly EvmTransaction[]
}

interface EvmReceipt {
  readonly status: string
  readonly gasUsed: string
  readonly logs: readonly EvmLog[]
}

/** A transaction in its block, with its receipt. */
export interface MinedTransaction {
  readonly tron: TronTransaction
  /** The transaction's hash in the EVM chain. */
  readonly evmHash: string
  readonly index: number
  /** The result, as in the HTTP API. */
  readonly ret: 'SUCCESS' | 'REVERT' | 'OUT_OF_TIME' | 'OUT_OF_ENERGY'
  readonly energy: bigint
  readonly logs: readonly EvmLog[]
}

/**
 * A block of the chain with its Tron hashes (64 hex digits), its transactions and their receipts.
 */
export interface BlockWithReceipts {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly transactionsRoot: string
  readonly transactions: readonly MinedTransaction[]
}

/** A call with this selector is shown as out of time although the EVM ran it. */
const phantomSelector = tokenSelector('phantomTransfer(address,uint256)')

/** The blocks from `from` to `to`, without those above the head. */
export async function loadBlocks(evm: Evm, from: number, to: number): Promise<BlockWithReceipts[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => quantity(from + i))
  const calls = heights.flatMap((at): EvmCall[] => [
    ['eth_getBlockByNumber', [at, true]],
    ['eth_getBlockReceipts', [at]],
  ])
  const replies = await evm.batch(calls)
  return heights.flatMap((_, i) => {
    const block = replies[2 * i] as EvmBlock | null
    const receipts = replies[2 * i + 1] as readonly EvmReceipt[] | null
    return block === null || receipts === null ? [] : [toBlock(block, receipts)]
  })
}

/** The only block producer. It has no key. */
const witness = `41${'5e'.repeat(20)}`

/** The block as a node of release 4.8.2 shows it. */
export function renderMined(block: BlockWithReceipts): RenderedBlock {
  const { height, hash, parentHash, timestamp, transactionsRoot } = block
  const transactions = block.transactions.map(({ tron, ret, logs }) => ({
    txid: tron.txid as Txid, // 64 hex digits
    rawHex: tron.rawHex,
    result: ret,
    // 40 hex digits
    logs: logs.map(({ address, topics, data }) => ({ contract: strip0x(address) as Address, topics, data })),
    more: { signature: [tron.signature], raw_data: tron.json },
  }))
  const more = { txTrieRoot: strip0x(transactionsRoot), witness_address: witness, version: 32 }
  const timeMs = Number(timestamp) * 1_000
  return renderBlock({ height, hash, parentHash, timeMs, transactions, more }, { hasLogTimes: true })
}

/** The Tron hash of the block at `height`, or null above the head. */
export async function loadBlockHash(evm: Evm, height: number): Promise<string | null> {
  const block = await evm.call<{ readonly hash: string } | null>('eth_getBlockByNumber', quantity(height), false)
  return block === null ? null : tronHash(height, block.hash)
}

function toBlock(block: EvmBlock, receipts: readonly EvmReceipt[]): BlockWithReceipts {
  const height = Number(block.number)
  return {
    height,
    hash: tronHash(height, block.hash),
    parentHash: height === 0 ? '0'.repeat(64) : tronHash(height - 1, block.parentHash),
    timestamp: block.timestamp,
    transactionsRoot: block.transactionsRoot,
    transactions: block.transactions.map((transaction, index) => toMined(transaction, index, receipts[index])),
  }
}

/**
 * A Tron block hash: the height, then the EVM hash's other 24 bytes. Block 0 ends with the chain id
 * instead.
 */
function tronHash(height: number, evmHash: string): string {
  const hash = height.toString(16).padStart(16, '0') + strip0x(evmHash).slice(16)
  return height === 0 ? hash.slice(0, 56) + devnetChainId.toString(16).padStart(8, '0') : hash
}

function toMined(evm: EvmTransaction, index: number, receipt: EvmReceipt | undefined): MinedTransaction {
  if (receipt === undefined) throw new Error(`no receipt of ${evm.hash}`)
  const tron = toTron(evm)
  const isPhantom = tron.code.startsWith(phantomSelector)
  const failure = evm.input.startsWith(outOfEnergyCall) ? 'OUT_OF_ENERGY' : 'REVERT'
  const ret = isPhantom ? 'OUT_OF_TIME' : receipt.status === '0x1' ? 'SUCCESS' : failure
  const gas = BigInt(tron.settlement?.energyTotal ?? receipt.gasUsed)
  const energy = runsCode(tron.type) ? gas : 0n
  return { tron, evmHash: evm.hash, index, ret, energy, logs: receipt.logs }
}
