/** What a node replies about the chain: over the HTTP API, and over JSON-RPC. */
import type { BenchBlocks, Block } from './mainnet.ts'

/** The newest block, and the newest final one. */
export interface BenchHeads {
  readonly latest: number
  readonly finalized: number
}

/** The body of the reply to a request. */
export type Answer = (path: string, body: string, heads: BenchHeads) => string

const chainId = '0x2b6653dc'
const genesis: Block = {
  height: 0,
  hash: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  parentHash: '0'.repeat(64),
  timeMs: 0,
  transactions: [],
}
/** Receipts are asked for when their block is newly final. */
const receiptBlocks = 100
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const hex = (value: number) => `0x${value.toString(16)}`

/** The replies of a healthy node with these blocks. */
export function createAnswer(blocks: BenchBlocks): Answer {
  return (path, body, heads) => {
    const request = JSON.parse(body)
    if (path === '/jsonrpc') {
      const reply = ({ id, method, params = [] }: { id: unknown; method: string; params?: unknown[] }) =>
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultOf(blocks, method, params, heads)}}`
      return Array.isArray(request) ? `[${request.map(reply).join()}]` : reply(request)
    }
    if (path === '/wallet/getaccount') return '{}'
    if (path === '/wallet/getblockbylimitnext') {
      const found: string[] = []
      for (let height = request.startNum; height < request.endNum && height <= heads.latest; height += 1) {
        found.push(apiBlock(blocks.at(height)))
      }
      return found.length === 0 || request.endNum - request.startNum > 100 ? '{}' : `{"block":[${found.join()}]}`
    }
    const height = path === '/wallet/getnowblock' ? heads.latest : Number(request.num)
    return height > heads.latest ? '{}' : apiBlock(blocks.at(height))
  }
}

/** The JSON of a call's result. */
function resultOf(blocks: BenchBlocks, method: string, params: readonly unknown[], heads: BenchHeads): string {
  switch (method) {
    case 'eth_chainId':
      return `"${chainId}"`
    case 'web3_clientVersion':
      return '"TRON/v4.8.1/Linux/Java1.8"'
    case 'eth_blockNumber':
      return `"${hex(heads.latest)}"`
    case 'eth_getBlockByNumber': {
      const [tag] = params
      const height = tag === 'latest' ? heads.latest : tag === 'finalized' ? heads.finalized : Number(tag)
      return height > heads.latest ? 'null' : header(height === 0 ? genesis : blocks.at(height))
    }
    case 'eth_getLogs': {
      const { blockHash = '' } = params[0] as { blockHash?: string } // the service sends valid filters
      return `[${logsOf(blocks.at(Number.parseInt(blockHash.slice(2, 18), 16))).join()}]`
    }
    case 'eth_getTransactionReceipt':
      return receipt(blocks, String(params[0]).slice(2), heads)
    case 'eth_getBalance':
      return `"${hex(blocks.balanceOf('TRX', String(params[0]).slice(-40), heads.latest))}"`
    case 'eth_call': {
      const { data } = params[0] as { data: string } // the service sends valid calls
      return `"${word(data === '0x313ce567' ? 6 : blocks.balanceOf('USDT', data.slice(-40), heads.latest))}"`
    }
    default:
      return 'null'
  }
}

function header({ height, hash, parentHash, timeMs, transactions }: Block): string {
  return JSON.stringify({
    number: hex(height),
    hash: `0x${hash}`,
    parentHash: `0x${parentHash}`,
    timestamp: hex(timeMs / 1000),
    transactions: transactions.map(({ txid }) => `0x${txid}`),
  })
}

function apiBlock({ height, hash, parentHash, timeMs, transactions }: Block): string {
  const raw = { number: height, txTrieRoot: hash, witness_address: `41${'5e'.repeat(20)}`, parentHash, version: 32 }
  const shown = { raw_data: { ...raw, timestamp: timeMs }, witness_signature: '0'.repeat(130) }
  const list = transactions.length === 0 ? '' : `,"transactions":[${transactions.map(({ json }) => json).join()}]`
  return `{"blockID":"${hash}","block_header":${JSON.stringify(shown)}${list}}`
}

function logsOf({ height, hash, timeMs, transactions }: Block): string[] {
  let logIndex = 0
  return transactions.flatMap(({ log }, index) => {
    if (log === null) return []
    const place = `"blockHash":"0x${hash}","blockNumber":"${hex(height)}","blockTimestamp":"${hex(timeMs / 1000)}"`
    logIndex += 1
    return `{${log},${place},"logIndex":"${hex(logIndex - 1)}","transactionIndex":"${hex(index)}","removed":false}`
  })
}

function receipt(blocks: BenchBlocks, txid: string, { finalized }: BenchHeads): string {
  for (let height = finalized; height > finalized - receiptBlocks; height -= 1) {
    const block = blocks.at(height)
    const index = block.transactions.findIndex((transaction) => transaction.txid === txid)
    if (index < 0) continue
    const place = `"blockHash":"0x${block.hash}","blockNumber":"${hex(height)}","transactionIndex":"${hex(index)}"`
    const logs = logsOf(block).filter((log) => log.includes(txid))
    return `{${place},"transactionHash":"0x${txid}","status":"0x1","gasUsed":"0x0","logs":[${logs.join()}]}`
  }
  return 'null'
}
