import { devnetChainId, type Evm, finalityBlocks } from './anvil.ts'
import { type ContractSpec, contractSpecs } from './contracts.ts'
import { quantity, strip, zero32, zeroBloom } from './hex.ts'
import { type EvmTransaction, feeLimit, runsCode, type TronTransaction, toTron } from './transaction.ts'

/** Energy price in sun, as Nile shows it. */
export const energyPrice = '0x64'
const miner = `0x${'5e'.repeat(20)}`

interface EvmBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly size: string
  readonly transactionsRoot: string
  readonly transactions: readonly EvmTransaction[]
}
interface EvmLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly logIndex: string
}
interface EvmReceipt {
  readonly status: string
  readonly gasUsed: string
  readonly contractAddress: string | null
  readonly logs: readonly EvmLog[]
}

/** What became of a transaction, in the HTTP API's words. */
export type ContractRet = 'SUCCESS' | 'REVERT' | 'OUT_OF_TIME'

/** A transaction in its block. */
export interface Placed {
  readonly tron: TronTransaction
  readonly index: number
  readonly ret: ContractRet
  readonly energy: bigint
  readonly contractAddress: string | null
  readonly logs: readonly EvmLog[]
}

/** A block of the chain with its Tron hashes (64 hex digits) and transactions. */
export interface LoadedBlock {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly size: string
  readonly transactionsRoot: string
  readonly placed: readonly Placed[]
}

/** Which call is shown as out of time though the EVM ran it: `phantomTransfer` of the test token. */
export interface PhantomCall {
  /** 40 hex digits. */
  readonly contract: string
  /** 8 hex digits. */
  readonly selector: string
}

/** A Tron block hash: the height, then the EVM hash's other 24 bytes. Block 0 ends with the chain id instead. */
function tronHash(height: number, evmHash: string): string {
  const hash = height.toString(16).padStart(16, '0') + strip(evmHash).slice(16)
  return height === 0 ? hash.slice(0, 56) + devnetChainId.toString(16).padStart(8, '0') : hash
}

/** The height that is final while `latest` is the newest. */
export function finalizedBelow(latest: number): number {
  return Math.max(0, latest - finalityBlocks)
}

/** The block at `height`, or null above the head. */
export async function loadBlock(evm: Evm, height: number, phantom: PhantomCall): Promise<LoadedBlock | null> {
  const at = quantity(height)
  const [block, receipts] = (await evm.batch([
    ['eth_getBlockByNumber', [at, true]],
    ['eth_getBlockReceipts', [at]],
  ])) as [EvmBlock | null, readonly EvmReceipt[] | null]
  if (block === null || receipts === null) return null
  return {
    height,
    hash: tronHash(height, block.hash),
    parentHash: height === 0 ? strip(zero32) : tronHash(height - 1, block.parentHash),
    timestamp: block.timestamp,
    size: block.size,
    transactionsRoot: block.transactionsRoot,
    placed: block.transactions.map((transaction, index) => place(transaction, index, receipts[index], phantom)),
  }
}

/** A block object; `full` with transaction objects instead of txids. */
export function showBlock(block: LoadedBlock, full: boolean): Record<string, unknown> {
  const energy = block.placed.reduce((sum, placed) => sum + placed.energy, 0n)
  const calls = block.placed.filter(({ tron }) => runsCode(tron.type)).length
  return {
    number: quantity(block.height),
    hash: `0x${block.hash}`,
    parentHash: `0x${block.parentHash}`,
    nonce: '0x0000000000000000',
    sha3Uncles: zero32,
    logsBloom: zeroBloom,
    transactionsRoot: block.transactionsRoot,
    stateRoot: '0x',
    receiptsRoot: zero32,
    miner,
    difficulty: '0x0',
    totalDifficulty: '0x0',
    extraData: '0x',
    size: block.size,
    gasLimit: quantity(BigInt(calls) * feeLimit),
    gasUsed: quantity(energy),
    timestamp: block.timestamp,
    transactions: block.placed.map((placed) =>
      full ? showTransaction(placed.tron, block, placed) : `0x${placed.tron.txid}`,
    ),
    uncles: [],
    baseFeePerGas: '0x0',
    mixHash: zero32,
  }
}

/** A transaction object: 15 fields, among them neither the contract's type nor whether it succeeded. */
export function showTransaction(
  tron: TronTransaction,
  block: LoadedBlock | null,
  placed: Placed | null,
): Record<string, unknown> {
  const spec: ContractSpec = contractSpecs[tron.type]
  const { target } = tron.facts
  return {
    blockHash: block === null ? '0x' : `0x${block.hash}`,
    blockNumber: block === null ? '0x' : quantity(block.height),
    from: `0x${tron.facts.owner}`,
    gas: quantity(placed?.energy ?? 0n),
    gasPrice: block === null ? '0x' : energyPrice,
    hash: `0x${tron.txid}`,
    input: tron.type === 'TriggerSmartContract' ? `0x${tron.facts.code}` : '0x',
    nonce: '0x0',
    to: spec.showsTarget && target !== null ? `0x${target}` : null,
    transactionIndex: placed === null ? '0x' : quantity(placed.index),
    type: '0x0',
    value: quantity(spec.shownValue === 'amount' ? tron.facts.amount : spec.shownValue),
    v: '0x1b',
    r: `0x${strip(tron.evm.r).padStart(64, '0')}`,
    s: `0x${strip(tron.evm.s).padStart(64, '0')}`,
  }
}

/** A receipt object. It has no `value`. */
export function showReceipt(placed: Placed, block: LoadedBlock): Record<string, unknown> {
  const { tron, index } = placed
  const spec: ContractSpec = contractSpecs[tron.type]
  const used = block.placed.slice(0, index + 1).reduce((sum, { energy }) => sum + energy, 0n)
  return {
    blockHash: `0x${block.hash}`,
    blockNumber: quantity(block.height),
    transactionHash: `0x${tron.txid}`,
    transactionIndex: quantity(index),
    from: `0x${tron.facts.owner}`,
    to: spec.showsTarget && tron.facts.target !== null ? `0x${tron.facts.target}` : null,
    status: placed.ret === 'SUCCESS' ? '0x1' : '0x0',
    type: '0x0',
    contractAddress: placed.contractAddress,
    gasUsed: quantity(placed.energy),
    cumulativeGasUsed: quantity(used),
    effectiveGasPrice: energyPrice,
    logsBloom: zeroBloom,
    logs: showLogs(placed, block),
  }
}

/** A transaction's logs, numbered through the whole block. */
export function showLogs(placed: Placed, block: LoadedBlock): (EvmLog & Record<string, unknown>)[] {
  return placed.logs.map((log) => ({
    address: log.address,
    topics: log.topics,
    data: log.data,
    logIndex: log.logIndex,
    transactionIndex: quantity(placed.index),
    transactionHash: `0x${placed.tron.txid}`,
    blockHash: `0x${block.hash}`,
    blockNumber: quantity(block.height),
    removed: false,
    blockTimestamp: block.timestamp,
  }))
}

function place(evm: EvmTransaction, index: number, receipt: EvmReceipt | undefined, phantom: PhantomCall): Placed {
  if (receipt === undefined) throw new Error(`no receipt of ${evm.hash}`)
  const tron = toTron(evm)
  const isPhantom = tron.facts.target === phantom.contract && tron.facts.code.startsWith(phantom.selector)
  const ret = isPhantom ? 'OUT_OF_TIME' : receipt.status === '0x1' ? 'SUCCESS' : 'REVERT'
  const energy = runsCode(tron.type) ? BigInt(receipt.gasUsed) : 0n
  return { tron, index, ret, energy, contractAddress: receipt.contractAddress, logs: receipt.logs }
}
