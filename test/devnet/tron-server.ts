import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen, type RunningServer } from '../support/loopback.ts'
import {
  type Control,
  ControlError,
  type PayRequest,
  type SendRequest,
  type StakeRequest,
  type SyntheticRequest,
} from './control.ts'
import { EvmError } from './evm.ts'
import { createWalletCalls, type EnergyPrice, type WalletCall } from './http-api.ts'
import { createJsonRpc } from './json-rpc.ts'
import type { DevnetNode } from './node.ts'

/** Returns the content type and the body of the response to a request's body. */
type Route = (body: string) => Promise<{ readonly type: string; readonly body: string }>

/**
 * Serves the paths of a java-tron 4.8.2 node that the service and the tools use (`/jsonrpc`,
 * `/wallet/`) and the controls, which no node has, under `/devnet/`. Each control is a POST with
 * JSON in both directions; an invalid request gets 400 with `{ error }`.
 */
export async function startTronServer(node: DevnetNode, control: Control, port: number): Promise<RunningServer> {
  let requests = 0
  const routes = createRoutes(node, control, () => requests)
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/devnet/')) requests += 1
    serve(request, response, routes).catch((error: unknown) => {
      // A fault of this server, or anvil has ended. A real node responds with 500 as well.
      const message = error instanceof Error ? error.message : 'unknown'
      reply(response, 500, 'application/json', JSON.stringify({ error: `the local chain failed: ${message}` }))
    })
  })
  return listen(server, port)
}

/** `requests` returns the number of requests so far, except those to the controls. */
function createRoutes(node: DevnetNode, control: Control, requests: () => number): ReadonlyMap<string, Route> {
  const jsonRpc = createJsonRpc(node)
  const price: EnergyPrice = { factor: 1 }
  const wallet = [...createWalletCalls(node, price)].map(([name, call]): [string, Route] => [
    `/wallet/${name}`,
    json((body) => answerCall(call, body)),
  ])
  const setPrice = async (body: string) => {
    price.factor = Number(parse(body).factor)
    return price
  }
  return new Map<string, Route>([
    ...wallet,
    ['/jsonrpc', async (body) => ({ type: 'application/json-rpc', body: await jsonRpc(body) })],
    // The casts are safe: the controls check each field.
    ['/devnet/pay', json((body) => control.pay(parse(body) as unknown as PayRequest))],
    ['/devnet/synthetic', json((body) => control.sendSynthetic(parse(body) as unknown as SyntheticRequest))],
    ['/devnet/send', json((body) => control.send(parse(body) as unknown as SendRequest))],
    ['/devnet/stake', json((body) => control.stake(parse(body) as unknown as StakeRequest))],
    ['/devnet/mine', json((body) => control.mine((parse(body) as { blocks?: number }).blocks))],
    ['/devnet/energy-price', json(setPrice)],
    ['/devnet/info', json(async () => ({ requests: requests(), ...(await node.heads()) }))],
  ])
}

function json(run: (body: string) => Promise<unknown>): Route {
  return async (body) => ({ type: 'application/json', body: JSON.stringify(await run(body)) })
}

/**
 * Answers a body that cannot be parsed with `{ Error }` and HTTP 200, because this API has no other
 * status.
 */
async function answerCall(call: WalletCall, body: string): Promise<unknown> {
  try {
    return await call(parse(body))
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    return { Error: error.message }
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ReadonlyMap<string, Route>,
): Promise<void> {
  const route = routes.get(new URL(request.url ?? '/', 'http://localhost').pathname)
  if (route === undefined) return reply(response, 404, 'text/plain', 'not found')
  if (request.method !== 'POST') return reply(response, 405, 'text/plain', 'method not allowed')
  const body = await text(request)
  try {
    const result = await route(body)
    reply(response, 200, result.type, result.body)
  } catch (error) {
    if (!(error instanceof ControlError) && !(error instanceof EvmError)) throw error
    reply(response, 400, 'application/json', JSON.stringify({ error: error.message }))
  }
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body === '' ? '{}' : body)
    // safe: an object that is not null
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // invalid JSON gets the error below
  }
  throw new ControlError('The body must be a JSON object.')
}

function reply(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body)
}
