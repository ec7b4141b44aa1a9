/** The JSON objects of a Tron node's JSON-RPC, made from the EVM chain's blocks. */

import { type ContractSpec, contractSpecs } from '../support/contracts.ts'
import { quantity, strip0x } from '../support/hex.ts'
import type { BlockWithReceipts, EvmLog, MinedTransaction } from './blocks.ts'
import { feeLimit, runsCode, type TronTransaction } from './transaction.ts'

/** Energy price in sun, the same as on Nile. */
export const energyPrice = '0x64'

const zero32 = `0x${'0'.repeat(64)}`
/** Tron's blocks and receipts always have an empty bloom. */
const zeroBloom = `0x${'0'.repeat(512)}`
const miner = `0x${'5e'.repeat(20)}`

/** A block object, with transaction objects if `full`, else with txids (PROTOCOL.md, Blocks). */
export function toBlockObject(block: BlockWithReceipts, full: boolean): Record<string, unknown> {
  const energy = block.transactions.reduce((sum, transaction) => sum + transaction.energy, 0n)
  const calls = block.transactions.filter(({ tron }) => runsCode(tron.type)).length
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
    transactions: block.transactions.map((transaction) =>
      full ? toTransactionObject(transaction.tron, block, transaction) : `0x${transaction.tron.txid}`,
    ),
    uncles: [],
    baseFeePerGas: '0x0',
    mixHash: zero32,
  }
}

/**
 * A transaction object. Its 15 fields contain neither the contract's type nor the result (PROTOCOL.md, Transactions).
 * `block` and `mined` are null for a transaction that is in no block.
 */
export function toTransactionObject(
  tron: TronTransaction,
  block: BlockWithReceipts | null,
  mined: MinedTransaction | null,
): Record<string, unknown> {
  const spec: ContractSpec = contractSpecs[tron.type]
  const { owner, code, amount } = tron.parameters
  return {
    blockHash: block === null ? '0x' : `0x${block.hash}`,
    blockNumber: block === null ? '0x' : quantity(block.height),
    from: `0x${owner}`,
    gas: quantity(mined?.energy ?? 0n),
    gasPrice: block === null ? '0x' : energyPrice,
    hash: `0x${tron.txid}`,
    input: tron.type === 'TriggerSmartContract' ? `0x${code}` : '0x',
    nonce: '0x0',
    to: visibleTarget(tron),
    transactionIndex: mined === null ? '0x' : quantity(mined.index),
    type: '0x0',
    value: quantity(spec.shownValue === 'amount' ? amount : spec.shownValue),
    v: '0x1b',
    r: `0x${strip0x(tron.evm.r).padStart(64, '0')}`,
    s: `0x${strip0x(tron.evm.s).padStart(64, '0')}`,
  }
}

/** A receipt object. It has no `value` (PROTOCOL.md, Receipts). */
export function toReceiptObject(mined: MinedTransaction, block: BlockWithReceipts): Record<string, unknown> {
  const { tron, index } = mined
  const used = block.transactions.slice(0, index + 1).reduce((sum, { energy }) => sum + energy, 0n)
  return {
    blockHash: `0x${block.hash}`,
    blockNumber: quantity(block.height),
    transactionHash: `0x${tron.txid}`,
    transactionIndex: quantity(index),
    from: `0x${tron.parameters.owner}`,
    to: visibleTarget(tron),
    status: mined.ret === 'SUCCESS' ? '0x1' : '0x0',
    type: '0x0',
    contractAddress: mined.contractAddress,
    gasUsed: quantity(mined.energy),
    cumulativeGasUsed: quantity(used),
    effectiveGasPrice: energyPrice,
    logsBloom: zeroBloom,
    logs: toLogObjects(mined, block),
  }
}

/** The log objects of a transaction, numbered through the whole block (PROTOCOL.md, Logs). */
export function toLogObjects(mined: MinedTransaction, block: BlockWithReceipts): (EvmLog & Record<string, unknown>)[] {
  return mined.logs.map((log) => ({
    address: log.address,
    topics: log.topics,
    data: log.data,
    logIndex: log.logIndex,
    transactionIndex: quantity(mined.index),
    transactionHash: `0x${mined.tron.txid}`,
    blockHash: `0x${block.hash}`,
    blockNumber: quantity(block.height),
    removed: false,
    blockTimestamp: block.timestamp,
  }))
}

function visibleTarget({ type, parameters: { target } }: TronTransaction): string | null {
  return contractSpecs[type].showsTarget && target !== null ? `0x${target}` : null
}
