import type { Address } from '../chain/address.ts'
import type { BlockHash, Txid } from '../chain/block.ts'
import { formatQuantity } from '../chain/quantity.ts'
import type { RpcCall } from './transport/json-rpc.ts'

const call = (method: string, ...params: readonly unknown[]): RpcCall => ({ method, params })

/** The chain id. */
export const chainIdCall = call('eth_chainId')

/** The software and version of the node. */
export const versionCall = call('web3_clientVersion')

/** The block at a height or tag, with full transactions or with txids. */
export const blockCall = (block: number | 'finalized' | 'latest', full: boolean) =>
  call('eth_getBlockByNumber', typeof block === 'number' ? formatQuantity(block) : block, full)

/** All logs of a block. A filter would depend on an index that nodes can lack (PROTOCOL.md, Log queries). */
export const logsCall = (hash: BlockHash) => call('eth_getLogs', { blockHash: `0x${hash}` })

/** The logs of these contracts in a block. An empty list would match all contracts. */
export const contractLogsCall = (hash: BlockHash, contracts: readonly Address[]) =>
  call('eth_getLogs', { blockHash: `0x${hash}`, address: contracts.map((contract) => `0x${contract}`) })

/** The logs of these contracts in the blocks `from`..`to`, both included. */
export const rangeContractLogsCall = (from: number, to: number, contracts: readonly Address[]) =>
  call('eth_getLogs', {
    fromBlock: formatQuantity(from),
    toBlock: formatQuantity(to),
    address: contracts.map((contract) => `0x${contract}`),
  })

/** A transaction, mined or not. */
export const transactionCall = (txid: Txid) => call('eth_getTransactionByHash', `0x${txid}`)

/** The receipt of a transaction. */
export const receiptCall = (txid: Txid) => call('eth_getTransactionReceipt', `0x${txid}`)

/** The TRX balance of an address, in sun. Nodes have balances of the latest state only (PROTOCOL.md, Balances). */
export const balanceCall = (address: Address) => call('eth_getBalance', `0x${address}`, 'latest')

/** The token balance of an address, in the token's smallest units. */
export const tokenBalanceCall = (contract: Address, address: Address) =>
  contractCall(contract, `0x70a08231${address.padStart(64, '0')}`)

/** `decimals()` of a token contract. */
export const decimalsCall = (contract: Address) => contractCall(contract, '0x313ce567')

/** A read of a contract. Nodes before 4.8.2 refuse all fields but `to` and `data` (PROTOCOL.md, Contract calls). */
export const contractCall = (to: Address, data: string) => call('eth_call', { to: `0x${to}`, data }, 'latest')
