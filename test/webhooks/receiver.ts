import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from '../support/loopback.ts'

/** A request as a receiver got it. */
export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers a request, or leaves it without an answer. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

/** A real HTTP server that keeps what it gets. */
export interface Receiver {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** How it answers from now on; 204 at first. */
  answer: Answer
  /** The numbers of the events that it got. */
  events(): number[]
  close(): Promise<void>
}

/** Answers with a status. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end()
  }
/** Never answers. */
export const hang: Answer = () => undefined
/** Ends the connection. */
export const reset: Answer = (response) => {
  response.destroy()
}

/** Starts a receiver on a free port of this machine; it ends with the test. */
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
    events: () => requests.map(({ body }) => (JSON.parse(body) as { id: number }).id), // our own JSON
    close,
  }
  return receiver
}
