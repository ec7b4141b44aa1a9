import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of this test, on a free port of this machine. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** What a server answers to a body. */
export type Answer = (body: string, path: string) => Promise<{ readonly status: number; readonly body: string }>

interface Envelope {
  readonly id: unknown
  readonly result?: unknown
}

/** One call of JSON-RPC and what is answered to it. */
export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Result or error, without the envelope. */
export type Outcome = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** The outcome that a node changes a call's into; undefined leaves it. `result` is what the real node answered. */
export type Change = (call: Call, result: unknown) => Outcome | undefined

/** Answers every request with `answer`. */
export async function serve(answer: Answer): Promise<Server> {
  const server = createServer((request, response) => {
    const exchange = async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const { status, body } = await answer(Buffer.concat(chunks).toString(), request.url ?? '/')
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    exchange().catch(() => response.destroy()) // the doctor then finds it unreachable, which no test expects
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server that listens has one
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, close }
}

/** A node before the node at `rpcUrl`: it answers the same, but for the calls that `change` gives another outcome. */
export function serveChanged(rpcUrl: string, change: Change): Promise<Server> {
  return serve(async (body) => {
    const text = await (await fetch(rpcUrl, { method: 'POST', body })).text()
    const asked = JSON.parse(body) as Call | Call[] // the doctor's own client wrote it
    const told = JSON.parse(text) as Envelope | Envelope[] // the local chain wrote it
    const changed = (call: Call | undefined, envelope: Envelope | undefined) => {
      const outcome = call && change(call, envelope?.result)
      return outcome === undefined ? envelope : { jsonrpc: '2.0', id: envelope?.id, ...outcome }
    }
    const reply = Array.isArray(asked)
      ? asked.map((call, i) => changed(call, Array.isArray(told) ? told[i] : undefined))
      : changed(asked, Array.isArray(told) ? undefined : told)
    return { status: 200, body: JSON.stringify(reply) }
  })
}
