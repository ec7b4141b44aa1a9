/** What a node replies about the chain: over the HTTP API, and over JSON-RPC. */
import {
  apiTransactionOf,
  type ChainBlock,
  type ChainTransaction,
  type RenderedBlock,
  renderBlock,
  type Wire,
} from '../support/block-json.ts'
import { createChain } from '../support/chain-builder.ts'
import { answerCall, type IncomingCall, type NodeView } from '../support/node-methods.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import type { BenchBlocks } from './mainnet.ts'

/** Heights of the newest block and of the newest final one. */
export interface BenchHeads {
  readonly latest: number
  readonly finalized: number
}

/** Answers a request to `/jsonrpc` or to a path of the HTTP API. Returns the body of the reply. */
export type Answer = (path: string, body: string, heads: BenchHeads) => string

const { chainId, tip: genesis } = createChain()
/**
 * How many final blocks are searched for a transaction. More are not needed, because the service
 * asks for a receipt soon after the transaction's block is final.
 */
const receiptBlocks = 100

/**
 * Takes a signed transaction, in hex. Returns the node's code for its result, such as `SUCCESS`.
 */
export type Broadcast = (transaction: string) => string

/** The replies of a healthy node that has these blocks. */
export function createAnswer(blocks: BenchBlocks, broadcast: Broadcast = () => 'SUCCESS'): Answer {
  return (path, body, heads) => {
    const request = JSON.parse(body)
    const view = viewOf(blocks, heads, broadcast)
    if (path !== '/jsonrpc') {
      const response = answerCall(view, { id: 0, method: path, params: [request] })
      // an object of the HTTP API
      const result = 'result' in response ? (response.result as { readonly block?: readonly Wire[] }) : {}
      const { block } = result
      return block === undefined
        ? JSON.stringify(result)
        : `{"block":[${block.map((api) => blockText(blocks, api)).join()}]}`
    }
    const reply = (call: IncomingCall) => ({
      jsonrpc: '2.0',
      id: call.id,
      ...answerCall(view, call),
    })
    return JSON.stringify(Array.isArray(request) ? request.map(reply) : reply(request))
  }
}

const rendered = new WeakMap<ChainBlock, RenderedBlock>()
const texts = new WeakMap<ChainTransaction, string>()

/** Stands for a transaction in the JSON of a block. */
const mark = 'a transaction'

/**
 * The JSON of a block. Each transaction is serialized once, because most transactions repeat in
 * other blocks.
 */
function blockText(blocks: BenchBlocks, api: Wire): string {
  const transactions = blocks.byHash(String(api.blockID)).transactions.values()
  return JSON.stringify(api).replaceAll(JSON.stringify(mark), () => {
    const { value } = transactions.next()
    return value === undefined ? '' : transactionText(value)
  })
}

function transactionText(transaction: ChainTransaction): string {
  const known = texts.get(transaction) ?? JSON.stringify(apiTransactionOf(transaction))
  texts.set(transaction, known)
  return known
}

function rendering(block: ChainBlock): RenderedBlock {
  const known = rendered.get(block) ?? renderBlock(block, { hasLogTimes: true, writeTransaction: () => mark })
  rendered.set(block, known)
  return known
}

function viewOf(blocks: BenchBlocks, { latest, finalized }: BenchHeads, broadcast: Broadcast): NodeView {
  const blockAt = (height: number) => rendering(height === 0 ? genesis() : blocks.at(height))
  return {
    chainId,
    head: latest,
    finalized,
    blockAt,
    blockByHash: (hash) => rendering(blocks.byHash(hash)),
    blockOf(txid) {
      for (let height = finalized; height > finalized - receiptBlocks; height -= 1) {
        const has = blocks.at(height).transactions.some((transaction) => transaction.txid === txid)
        if (has) return blockAt(height)
      }
      return undefined
    },
    hasHistory: true,
    keepsInternals: false,
    logsMax: 10_000,
    balanceOf: (address, contract) => blocks.balanceOf(contract === null ? 'TRX' : 'USDT', address, latest),
    decimalsOf: (contract) => (contract === usdtAddress ? 6 : undefined),
    accountOf: () => ({}),
    isUnmined: () => false,
    broadcast(transaction) {
      const code = broadcast(transaction)
      return { result: code === 'SUCCESS', code }
    },
  }
}
