/**
 * A Tron node on the loopback interface. `node-process.ts` runs it as a process of its own and sets the finalized
 * height. It listens at two ports: two nodes with the same blocks.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBusyNode } from './busy-node.ts'
import type { ApiQuery, Call } from './node-answers.ts'
import { type FromNode, type NodeCounts, type NodeOptions, nodesMax, type ToNode } from './node-process.ts'
import { createScenarioNode } from './scenario-node.ts'

const zeroCounts: NodeCounts = { requests: 0, receiptRequests: 0, apiRequests: 0, calls: 0, bytes: 0 }
let counts = zeroCounts

const options = JSON.parse(process.argv[2] ?? '{}') as NodeOptions // from node-process.ts
const node = 'scenario' in options ? createScenarioNode(options) : createBusyNode(options)
const ports = await Promise.all(Array.from({ length: nodesMax }, listen))
send({ kind: 'listening', ports })

process.on('message', (message: ToNode) => {
  if (message.kind === 'finalize') node.finalize(message.height)
  send({ kind: 'counts', counts })
  if (message.kind === 'take-counts') counts = zeroCounts
})
process.on('disconnect', () => process.exit(0))

function send(message: FromNode): void {
  process.send?.(message)
}

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // a listening TCP server has one
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
  const isApi = request.url?.startsWith('/wallet/') === true
  const calls = isApi ? [] : ((Array.isArray(body) ? body : [body]) as Call[]) // the service sends valid requests
  const parts: (string | Buffer)[] = isApi ? [node.api(body as ApiQuery)] : []
  for (const [i, call] of calls.entries()) {
    parts.push(`${i === 0 ? '' : ','}{"jsonrpc":"2.0","id":${call.id},`, ...node.member(call), '}')
  }
  if (Array.isArray(body)) parts.unshift('[') && parts.push(']')
  const bytes = parts.reduce((sum, { length }) => sum + length, 0) // all of it is ASCII
  const asksForReceipts = calls.some(({ method }) => method === 'eth_getTransactionReceipt')
  counts = {
    requests: counts.requests + 1,
    receiptRequests: counts.receiptRequests + (asksForReceipts ? 1 : 0),
    apiRequests: counts.apiRequests + (isApi ? 1 : 0),
    calls: counts.calls + calls.length,
    bytes: counts.bytes + bytes,
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes })
  response.cork()
  for (const part of parts) response.write(part, 'latin1')
  response.end()
}
