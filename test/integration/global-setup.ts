/**
 * One local chain for all integration tests: in memory, with blocks on command, so that no test
 * waits for a timer. The tests run in workerd and reach it only over HTTP:
 *
 *   const { rpcUrl, apiUrl, token } = inject('devnet') // from 'vitest'
 *   const body = JSON.stringify({ to, amount: '25', currency: 'USDT' })
 *   await fetch(`${apiUrl}/devnet/pay`, { method: 'POST', body })
 *   const final = JSON.stringify({ blocks: 3 })
 *   await fetch(`${apiUrl}/devnet/mine`, { method: 'POST', body: final })
 *
 * `Devnet` in test/devnet/chain.ts describes all controls. The tests share the chain: each test
 * uses addresses of its own, reads only its own transactions, and starts its scan at the current
 * height. A receiver of events runs beside the chain: POST to `<path>/received` returns the events
 * that came to a path.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { TestProject } from 'vitest/node'
import { startDevnet, temporary } from '../devnet/chain.ts'
import { tokenBase58 } from '../devnet/control.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly devnet: {
      readonly rpcUrl: string
      readonly apiUrl: string
      /** The address of the test token in Base58Check, for `CURRENCIES`. */
      readonly token: string
      /** The base URL of the receiver of events. */
      readonly receiverUrl: string
      /** The secret by which the receiver verifies events. */
      readonly webhookSecret: string
    }
  }
}

const webhookSecret = 'whsec_Zm9yIHRlc3RzIG9ubHksIHRoaXMgaXMgbm90IGEgc2VjcmV0'
const receivedPath = '/received'
const monthSeconds = 30 * 86_400

/** Starts the chain and the receiver before the first test; the returned function stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const devnet = await startDevnet({ ...temporary, behindSeconds: monthSeconds })
  const receiver = await startReceiver()
  const { rpcUrl, apiUrl } = devnet
  project.provide('devnet', { rpcUrl, apiUrl, token: tokenBase58, receiverUrl: receiver.url, webhookSecret })
  return async () => {
    receiver.stop()
    await devnet.stop()
  }
}

async function startReceiver(): Promise<{ readonly url: string; stop(): void }> {
  const received = new Map<string, unknown[]>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    if (path.endsWith(receivedPath)) {
      return void response.end(JSON.stringify(received.get(path.slice(0, -receivedPath.length)) ?? []))
    }
    try {
      const event = new Webhook(webhookSecret).verify(body, request.headers as Record<string, string>)
      received.set(path, [...(received.get(path) ?? []), event])
      response.writeHead(204).end()
    } catch {
      response.writeHead(400).end() // the service has not signed the request
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: the server listens on TCP
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}
