import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** Handles each event once. Keep the ids where your own data is, so that both are stored together. */
export function receive(secret: string, handle: (event: unknown) => Promise<void>, done = new Set<string>()) {
  return createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    try {
      const event = new Webhook(secret).verify(body, request.headers as Record<string, string>)
      const id = String(request.headers['webhook-id'])
      if (!done.has(id)) await handle(event)
      done.add(id)
      response.writeHead(204).end()
    } catch {
      response.writeHead(400).end() // not from the service, or not handled: it comes again
    }
  })
}
