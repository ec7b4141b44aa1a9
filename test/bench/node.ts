/**
 * Two Tron nodes on the loopback interface, one at each port, which always agree. `node-process.ts`
 * runs this file in its own process.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBlocks, finalityBlocks, firstHeight } from './mainnet.ts'
import type { FromNode, NodeOptions, ToNode } from './node-process.ts'
import { type BenchHeads, createAnswer } from './replies.ts'
import { seededAddress } from './seeds.ts'

const { startMs, transactions, deposits } = JSON.parse(process.argv[2] ?? '{}') as NodeOptions // from node-process.ts
const blocks = createBlocks({
  startMs,
  transactionsAt: (height) => transactions[height % transactions.length] ?? 0,
  depositsAt(height) {
    if (deposits === null || height < deposits.from) return []
    return Array.from({ length: deposits.each }, (_, i) => {
      const to = seededAddress(((height - deposits.from) * deposits.each + i) % deposits.addresses)
      return { asset: i % 2 === 0 ? 'TRX' : 'USDT', to, amount: 25_000_000n }
    })
  },
})
const answer = createAnswer(blocks)
let heads: BenchHeads = { latest: 0, finalized: 0 }

// makes the transactions before anything is measured: later blocks repeat them
for (let i = 0; i < 2 * transactions.length; i += 1) blocks.at(firstHeight + i)
const ports = await Promise.all([listen(), listen()])
send({ ports })
process.on('message', (finalized: ToNode) => {
  heads = { latest: finalized + finalityBlocks, finalized }
  send({ ports })
})
process.on('disconnect', () => process.exit(0))

function send(message: FromNode): void {
  process.send?.(message)
}

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // a TCP server that listens has a port
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(answer(request.url ?? '', body || '{}', heads), 'latin1')
}
