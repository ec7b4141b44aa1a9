import { type ApiTransaction, type Blocks, type BlocksOptions, blockHash, createBlocks } from './blocks.ts'
import type { Call, JsonParts, NodeAnswers } from './node-answers.ts'

const chainId = '0x2b6653dc'
const word = (value: number) => `"0x${value.toString(16).padStart(64, '0')}"`

/** Answers with blocks like mainnet's, as fast as possible: their JSON is prepared. Its newest block is final. */
export function createBusyNode(options: BlocksOptions): NodeAnswers {
  const blocks = createBlocks(options)
  let finalized = 0
  return {
    finalize(height) {
      finalized = height
      blocks.prepare(finalized)
    },
    member: (call) => ['"result":', ...resultOf(blocks, finalized, call)],
    api({ value = '', num }) {
      if (num === undefined) {
        const transaction = blocks.transaction(value)
        return transaction === null ? '{}' : JSON.stringify(toWire(transaction))
      }
      if (num > finalized) return '{}'
      return JSON.stringify({
        blockID: blockHash(num),
        block_header: {},
        transactions: blocks.transactions(num).map(toWire),
      })
    },
  }
}

const toWire = ({ txid, rawData }: ApiTransaction) => {
  return { txID: txid, ret: [{ contractRet: 'SUCCESS' }], raw_data_hex: rawData }
}

/** The JSON of a call's result, in parts. */
function resultOf(blocks: Blocks, finalized: number, { method, params }: Call): JsonParts {
  switch (method) {
    case 'eth_chainId':
      return [`"${chainId}"`]
    case 'web3_clientVersion':
      return ['"TRON/v4.8.1/Linux/Java1.8"']
    case 'eth_getBlockByNumber': {
      const [tag, isFull] = params
      if (tag === '0x0') return [blocks.genesis]
      const height = tag === 'finalized' || tag === 'latest' ? finalized : Number(tag)
      if (height > finalized) return ['null']
      return [isFull === true ? blocks.at(height).full : blocks.at(height).brief]
    }
    case 'eth_getLogs':
      return logsOf(blocks, params[0] as LogFilter) // the service sends valid filters
    case 'eth_getTransactionReceipt':
      return [blocks.receipt(String(params[0]).slice(2), finalized) ?? 'null']
    case 'eth_getBalance':
      return ['"0x0"']
    case 'eth_call': {
      const { data } = params[0] as { data?: unknown } // the service sends valid calls
      return [word(data === '0x313ce567' ? 6 : 0)] // decimals(), else a balance
    }
    default:
      return ['null']
  }
}

interface LogFilter {
  readonly blockHash?: string
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly address?: readonly string[]
}

function logsOf(blocks: Blocks, { blockHash, fromBlock, toBlock, address = [] }: LogFilter): JsonParts {
  const first = blockHash === undefined ? Number(fromBlock) : Number(`0x${blockHash.slice(2, 18)}`)
  const last = blockHash === undefined ? Number(toBlock) : first
  const parts: (string | Buffer)[] = []
  for (let height = first; height <= last; height += 1) {
    const logs = filteredLogs(blocks, height, address)
    if (logs.length > 0) parts.push(parts.length === 0 ? '' : ',', logs)
  }
  return ['[', ...parts, ']']
}

/** The logs of these contracts in a block, or all of them where none is named: JSON without its brackets. */
function filteredLogs(blocks: Blocks, height: number, addresses: readonly string[]): Buffer {
  const { logs, contracts } = blocks.at(height)
  const isWanted = (contract: string) => addresses.length === 0 || addresses.includes(contract)
  const inner = logs.subarray(1, -1)
  if ([...contracts].every(isWanted)) return inner
  const all = JSON.parse(logs.toString('latin1')) as readonly { readonly address: string }[] // a template's JSON
  const wanted = all.filter(({ address }) => isWanted(address))
  return Buffer.from(JSON.stringify(wanted).slice(1, -1), 'latin1')
}
