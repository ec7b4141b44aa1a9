import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EvmError } from './anvil.ts'
import { type Control, type InjectRequest, type PayRequest, Refusal, type SendRequest, tokenBase58 } from './control.ts'
import { createMethods } from './methods.ts'
import type { TronNode } from './node.ts'
import { answerRpc } from './rpc.ts'
import { getTransactionById } from './wallet.ts'

/** A running Tron face. */
export interface Face {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  close(): Promise<void>
}

const bodyBytesMax = 4 * 1024 * 1024

/** What a path answers: content type and body, after the request's body. */
type Route = (body: string) => Promise<{ readonly type: string; readonly body: string }>

/**
 * Serves what a java-tron 4.8.2 node serves (`/jsonrpc`, `/wallet/gettransactionbyid`) and, under `/devnet/`, what no node
 * serves: the controls. Every control is a POST with a JSON body and answers JSON; a refusal is 400 with `{ error }`.
 */
export async function startFace(node: TronNode, control: Control, port: number): Promise<Face> {
  const routes = createRoutes(node, control)
  const server = createServer((request, response) => {
    serve(request, response, routes).catch((error: unknown) => {
      // A fault of this server, or anvil is gone. A real node's client sees a 500 as well.
      const message = error instanceof Error ? error.message : 'unknown'
      reply(response, 500, 'application/json', JSON.stringify({ error: `the local chain failed: ${message}` }))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: taken } = server.address() as AddressInfo // a TCP server that listens has one
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function createRoutes(node: TronNode, control: Control): ReadonlyMap<string, Route> {
  const methods = createMethods(node)
  const json =
    (run: (body: string) => Promise<unknown>): Route =>
    async (body) => ({ type: 'application/json', body: JSON.stringify(await run(body)) })
  return new Map<string, Route>([
    ['/jsonrpc', async (body) => ({ type: 'application/json-rpc', body: await answerRpc(body, methods) })],
    ['/wallet/gettransactionbyid', json((body) => getTransactionById(node, body))],
    // The casts below are checked field by field inside the controls.
    ['/devnet/pay', json((body) => control.pay(parse(body) as unknown as PayRequest))],
    ['/devnet/inject', json((body) => control.inject(parse(body) as unknown as InjectRequest))],
    ['/devnet/send', json((body) => control.send(parse(body) as SendRequest))],
    ['/devnet/mine', json((body) => control.mine((parse(body) as { blocks?: number }).blocks))],
    ['/devnet/info', json(async () => ({ token: tokenBase58, ...(await node.tips()) }))],
  ])
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ReadonlyMap<string, Route>,
): Promise<void> {
  const route = routes.get(new URL(request.url ?? '/', 'http://face').pathname)
  if (route === undefined) return reply(response, 404, 'text/plain', 'not found')
  if (request.method !== 'POST') return reply(response, 405, 'text/plain', 'method not allowed')
  const body = await readBody(request)
  if (body === null) return reply(response, 413, 'text/plain', 'request body too large')
  try {
    const answer = await route(body)
    reply(response, 200, answer.type, answer.body)
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof EvmError)) throw error
    reply(response, 400, 'application/json', JSON.stringify({ error: error.message }))
  }
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body === '' ? '{}' : body)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown> // an object, by this line
  } catch {
    // said below
  }
  throw new Refusal('The body must be a JSON object.')
}

function reply(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body)
}
