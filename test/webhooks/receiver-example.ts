import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

/**
 * What Node.js 22 and later tell a reviver about a number: its own text. TypeScript does not know
 * it yet.
 */
type Read = (name: string, value: unknown, number: { readonly source?: string }) => unknown

const amounts = ['amt', 'balance', 'fee', 'at_least', 'seen', 'credited']

/**
 * The event in a body, each amount as its text: a number of JavaScript loses digits from the
 * sixteenth on.
 */
function parseEvent(body: string): unknown {
  const read: Read = (name, value, { source }) => (amounts.includes(name) ? (source ?? value) : value)
  return JSON.parse(body, read as Parameters<typeof JSON.parse>[1])
}

/**
 * Handles each event once. Keep the ids where your own data is, so that both are stored together.
 */
export function receive(secret: string, handle: (event: unknown) => Promise<void>, done = new Set<string>()) {
  return createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    try {
      new Webhook(secret).verify(body, request.headers as Record<string, string>)
      const id = String(request.headers['webhook-id'])
      if (!done.has(id)) await handle(parseEvent(body))
      done.add(id)
      response.writeHead(204).end()
    } catch {
      response.writeHead(400).end() // not from the service, or not handled: the event comes again
    }
  })
}
