import { quantity, strip0x } from '../support/hex.ts'
import { devnetChainId, finalityBlocks } from './anvil.ts'
import type { Evm } from './evm.ts'
import { type EvmTransaction, runsCode, type TronTransaction, toTron } from './transaction.ts'

/** A log of the EVM chain. */
export interface EvmLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly logIndex: string
}

interface EvmBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly size: string
  readonly transactionsRoot: string
  readonly transactions: readonly EvmTransaction[]
}

interface EvmReceipt {
  readonly status: string
  readonly gasUsed: string
  readonly contractAddress: string | null
  readonly logs: readonly EvmLog[]
}

/** The result of a transaction, as in the HTTP API. */
export type ContractRet = 'SUCCESS' | 'REVERT' | 'OUT_OF_TIME' | 'OUT_OF_ENERGY'

/** A transaction in its block, with its receipt. */
export interface MinedTransaction {
  readonly tron: TronTransaction
  readonly index: number
  readonly ret: ContractRet
  readonly energy: bigint
  readonly contractAddress: string | null
  readonly logs: readonly EvmLog[]
}

/** A block of the chain with its Tron hashes (64 hex digits), its transactions and their receipts. */
export interface BlockWithReceipts {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly size: string
  readonly transactionsRoot: string
  readonly transactions: readonly MinedTransaction[]
}

/**
 * The call that the Tron server reports as out of time although the EVM ran it: `phantomTransfer` of the test token.
 */
export interface PhantomCall {
  /** 40 hex digits. */
  readonly contract: string
  /** 8 hex digits. */
  readonly selector: string
}

/** The newest final height for the newest height `latest`. `lag` is the number of blocks between the two. */
export function finalizedHeight(latest: number, lag = finalityBlocks): number {
  return Math.max(0, latest - lag)
}

/** The block at `height`, or null above the head. */
export async function loadBlock(evm: Evm, height: number, phantom: PhantomCall): Promise<BlockWithReceipts | null> {
  const at = quantity(height)
  const [block, receipts] = (await evm.batch([
    ['eth_getBlockByNumber', [at, true]],
    ['eth_getBlockReceipts', [at]],
  ])) as [EvmBlock | null, readonly EvmReceipt[] | null]
  if (block === null || receipts === null) return null
  return {
    height,
    hash: tronHash(height, block.hash),
    parentHash: height === 0 ? '0'.repeat(64) : tronHash(height - 1, block.parentHash),
    timestamp: block.timestamp,
    size: block.size,
    transactionsRoot: block.transactionsRoot,
    transactions: block.transactions.map((transaction, index) => toMined(transaction, index, receipts[index], phantom)),
  }
}

/** The Tron hash of the block at `height`, or null above the head. */
export async function loadBlockHash(evm: Evm, height: number): Promise<string | null> {
  const block = await evm.call<{ readonly hash: string } | null>('eth_getBlockByNumber', quantity(height), false)
  return block === null ? null : tronHash(height, block.hash)
}

/** A Tron block hash: the height, then the EVM hash's other 24 bytes. Block 0 ends with the chain id instead. */
function tronHash(height: number, evmHash: string): string {
  const hash = height.toString(16).padStart(16, '0') + strip0x(evmHash).slice(16)
  return height === 0 ? hash.slice(0, 56) + devnetChainId.toString(16).padStart(8, '0') : hash
}

function toMined(
  evm: EvmTransaction,
  index: number,
  receipt: EvmReceipt | undefined,
  phantom: PhantomCall,
): MinedTransaction {
  if (receipt === undefined) throw new Error(`no receipt of ${evm.hash}`)
  const tron = toTron(evm)
  const { target, code } = tron.parameters
  const isPhantom = target === phantom.contract && code.startsWith(phantom.selector)
  const ret = isPhantom ? 'OUT_OF_TIME' : receipt.status === '0x1' ? 'SUCCESS' : failureOf(tron)
  const gas = tron.embedded === null ? BigInt(receipt.gasUsed) : BigInt(tron.embedded.settlement.energyTotal)
  const energy = runsCode(tron.type) ? gas : 0n
  return { tron, index, ret, energy, contractAddress: receipt.contractAddress, logs: receipt.logs }
}

function failureOf({ embedded }: TronTransaction): ContractRet {
  return embedded?.settlement.result === 'OUT_OF_ENERGY' ? 'OUT_OF_ENERGY' : 'REVERT'
}
