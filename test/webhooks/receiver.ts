import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from '../support/loopback.ts'

export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers a received request, or keeps it waiting. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

/** A real HTTP server that records the requests it receives. */
export interface Receiver {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** How the receiver answers requests from now on; at first with status 204. */
  answer: Answer
  /** The numbers of the received events, in order. */
  events(): number[]
  close(): Promise<void>
}

/** Answers each request with this status. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end()
  }
/** Leaves the request without an answer. */
export const hang: Answer = () => undefined
/** Closes the connection without an answer. */
export const reset: Answer = (response) => {
  response.destroy()
}

/** Starts a receiver on a free port; it stops when the test ends. */
export async function startReceiver(answer: Answer = status(204)): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const read = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    // safe: webhooks have each header once
    const received = {
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    }
    requests.push(received)
    receiver.answer(response, received)
  }
  const server = createServer((request, response) => void read(request, response))
  const { url, close } = await listen(server)
  onTestFinished(close)
  const receiver: Receiver = {
    url: `${url}/hooks/secret-path`,
    requests,
    answer,
    events: () => requests.map(({ body }) => (JSON.parse(body) as { id: number }).id), // safe: the service's own JSON
    close,
  }
  return receiver
}
