import { createServer } from 'node:http'
import type { Devnet } from '../../devnet/chain.ts'
import { listen, type RunningServer } from '../../support/loopback.ts'

/** The response to a request with this body and path. */
export type Responder = (body: string, path: string) => Promise<{ readonly status: number; readonly body: string }>

interface JsonRpcReply {
  readonly id: unknown
  readonly result?: unknown
}

/** A JSON-RPC call. */
export interface JsonRpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The result or the error of a call. */
export type CallResult = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** The altered result of a call, or undefined to keep `result`, that of the local chain. */
export type Alteration = (call: JsonRpcCall, result: unknown) => CallResult | undefined

/** Starts a server that answers every request with `respond`. */
export async function serve(respond: Responder): Promise<RunningServer> {
  const server = createServer((request, response) => {
    const answer = async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const { status, body } = await respond(Buffer.concat(chunks).toString(), request.url ?? '')
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    answer().catch(() => response.destroy()) // the doctor then reports it as unreachable, which no test expects
  })
  return listen(server)
}

/** Starts a proxy of a node, with both of its services, that alters the results of some JSON-RPC calls. */
export function serveAltered({ rpcUrl, apiUrl }: Devnet, alter: Alteration): Promise<RunningServer> {
  return serve(async (body, path) => {
    if (path.startsWith('/wallet/'))
      return { status: 200, body: await (await fetch(`${apiUrl}${path}`, { method: 'POST', body })).text() }
    const text = await (await fetch(rpcUrl, { method: 'POST', body })).text()
    const calls = JSON.parse(body) as JsonRpcCall | JsonRpcCall[] // safe: written by the client of the service
    const replies = JSON.parse(text) as JsonRpcReply | JsonRpcReply[] // safe: written by the local chain
    const altered = (call: JsonRpcCall | undefined, reply: JsonRpcReply | undefined) => {
      const outcome = call && alter(call, reply?.result)
      return outcome === undefined ? reply : { jsonrpc: '2.0', id: reply?.id, ...outcome }
    }
    const reply = Array.isArray(calls)
      ? calls.map((call, i) => altered(call, Array.isArray(replies) ? replies[i] : undefined))
      : altered(calls, Array.isArray(replies) ? undefined : replies)
    return { status: 200, body: JSON.stringify(reply) }
  })
}
