/**
 * A Tron node on the loopback interface. `node-process.ts` runs it as a process of its own and sets the finalized
 * height. It serves blocks like mainnet's as fast as possible, so that the measured time is the service's.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Blocks, type BlocksOptions, createBlocks } from './blocks.ts'
import type { FromNode, NodeCounts, ToNode } from './node-process.ts'

const chainId = '0x2b6653dc'
const word = (value: number) => `"0x${value.toString(16).padStart(64, '0')}"`

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

let finalized = 0
const zeroCounts: NodeCounts = { requests: 0, receiptRequests: 0, calls: 0, bytes: 0 }
let counts = zeroCounts

const options = JSON.parse(process.argv[2] ?? '{}') as BlocksOptions // from node-process.ts
const blocks = createBlocks(options)
const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    response.writeHead(500).end(String(error))
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  send({ kind: 'listening', port })
})

process.on('message', (message: ToNode) => {
  if (message.kind === 'finalize') {
    finalized = message.height
    blocks.prepare(finalized)
  }
  send({ kind: 'counts', counts })
  if (message.kind === 'take-counts') counts = zeroCounts
})
process.on('disconnect', () => process.exit(0))

function send(message: FromNode): void {
  process.send?.(message)
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
  const calls = (Array.isArray(body) ? body : [body]) as Call[] // the service sends valid requests
  const parts: (string | Buffer)[] = []
  for (const [i, call] of calls.entries()) {
    parts.push(`${i === 0 ? '' : ','}{"jsonrpc":"2.0","id":${call.id},"result":`, ...resultOf(blocks, call), '}')
  }
  if (Array.isArray(body)) parts.unshift('[') && parts.push(']')
  const bytes = parts.reduce((sum, { length }) => sum + length, 0) // all of it is ASCII
  const asksForReceipts = calls.some(({ method }) => method === 'eth_getTransactionReceipt')
  counts = {
    requests: counts.requests + 1,
    receiptRequests: counts.receiptRequests + (asksForReceipts ? 1 : 0),
    calls: counts.calls + calls.length,
    bytes: counts.bytes + bytes,
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes })
  response.cork()
  for (const part of parts) response.write(part, 'latin1')
  response.end()
}

/** The JSON of a call's result, in parts. */
function resultOf(all: Blocks, { method, params }: Call): readonly (string | Buffer)[] {
  switch (method) {
    case 'eth_chainId':
      return [`"${chainId}"`]
    case 'web3_clientVersion':
      return ['"TRON/v4.8.1/Linux/Java1.8"']
    case 'eth_getBlockByNumber': {
      const [tag, isFull] = params
      if (tag === '0x0') return [all.genesis]
      const height = tag === 'finalized' ? finalized : Number(tag)
      return [isFull === true ? all.at(height).full : all.at(height).brief]
    }
    case 'eth_getLogs':
      return logsOf(all, params[0])
    case 'eth_getTransactionReceipt':
      return [all.receipt(String(params[0]).slice(2), finalized) ?? 'null']
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

function logsOf(all: Blocks, filter: unknown): readonly (string | Buffer)[] {
  const { blockHash, fromBlock, toBlock } = filter as { blockHash?: string; fromBlock?: string; toBlock?: string }
  if (blockHash !== undefined) return [all.at(Number(`0x${blockHash.slice(2, 18)}`)).logs]
  const parts: (string | Buffer)[] = []
  for (let height = Number(fromBlock); height <= Number(toBlock); height += 1) {
    const { logs } = all.at(height)
    parts.push(parts.length === 0 ? '' : ',', logs.subarray(1, -1))
  }
  return ['[', ...parts, ']']
}
