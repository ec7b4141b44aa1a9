/** The JSON objects of a Tron node's JSON-RPC, made from the EVM chain's blocks, with the members that are read (PROTOCOL.md). */

import { quantity } from '../support/hex.ts'
import type { BlockWithReceipts, EvmLog, MinedTransaction } from './blocks.ts'
import type { TronTransaction } from './transaction.ts'

/** A block object with txids. */
export function toBlockObject(block: BlockWithReceipts): Record<string, unknown> {
  return {
    number: quantity(block.height),
    hash: `0x${block.hash}`,
    parentHash: `0x${block.parentHash}`,
    transactionsRoot: block.transactionsRoot,
    timestamp: block.timestamp,
    transactions: block.transactions.map(({ tron }) => `0x${tron.txid}`),
  }
}

/** A transaction object: neither the contract's type nor the result is in it. Before it is mined it has no block. */
export function toTransactionObject(
  { txid, type, parameters: { owner, target, code, amount } }: TronTransaction,
  block: BlockWithReceipts | null,
): Record<string, unknown> {
  return {
    blockHash: block === null ? '0x' : `0x${block.hash}`,
    blockNumber: block === null ? '0x' : quantity(block.height),
    hash: `0x${txid}`,
    from: `0x${owner}`,
    to: target === null ? null : `0x${target}`,
    value: quantity(amount),
    input: type === 'TriggerSmartContract' ? `0x${code}` : '0x',
  }
}

/** A receipt object. */
export function toReceiptObject(mined: MinedTransaction, block: BlockWithReceipts): Record<string, unknown> {
  return {
    ...placeOf(mined, block),
    from: `0x${mined.tron.parameters.owner}`,
    status: mined.ret === 'SUCCESS' ? '0x1' : '0x0',
    gasUsed: quantity(mined.energy),
    logs: toLogObjects(mined, block),
  }
}

/** The log objects of a transaction, numbered through the whole block. */
export function toLogObjects(mined: MinedTransaction, block: BlockWithReceipts): (EvmLog & Record<string, unknown>)[] {
  return mined.logs.map(({ address, topics, data, logIndex }) => {
    return {
      address,
      topics,
      data,
      logIndex,
      ...placeOf(mined, block),
      removed: false,
      blockTimestamp: block.timestamp,
    }
  })
}

const placeOf = ({ tron, index }: MinedTransaction, { hash, height }: BlockWithReceipts) => ({
  blockHash: `0x${hash}`,
  blockNumber: quantity(height),
  transactionHash: `0x${tron.txid}`,
  transactionIndex: quantity(index),
})
