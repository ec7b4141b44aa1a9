/**
 * `node test/outside/webhooks/run.ts [name …]`: starts the service, records the request with which
 * it delivers an event to an endpoint whose secret rotates (two secrets, the new one first), and
 * has each named script (all of them without names) verify these bytes with the receivers of one
 * language. It installs pinned packages in a temporary folder, and is no part of the tests. What
 * each script prints is compared with `<name>.expected`, from which the table in
 * docs/guides/clients.md is made. `--keep <file>` only writes the recorded request to a file.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { localBackendToken } from '../../devnet/local.ts'
import { startLocalService } from '../../pages/local-service.ts'
import { listen } from '../../support/loopback.ts'
import { tryScripts } from '../try-scripts.ts'

const here = fileURLToPath(new URL('.', import.meta.url).href)
const backendSecret = 'a secret of backends, for these runs'
const secretOf = (letter: string) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`
/** The new secret, the old one, and one that the endpoint does not have. */
const [fresh, old, other] = [secretOf('n'), secretOf('o'), secretOf('x')]

/** Returns the request with which the service delivers the event of a payment. */
async function recordDelivery(): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: string }> {
  const endpoint = createServer()
  const { url, close } = await listen(endpoint)
  const received = once(endpoint, 'request')
  const service = await startLocalService({
    BACKEND_JWT_SECRET: backendSecret,
    WEBHOOKS: JSON.stringify([{ url, secretVar: 'WEBHOOK_SECRET', types: ['entry.posted'] }]),
    WEBHOOK_SECRET: `${fresh} ${old}`,
  })
  try {
    const token = await localBackendToken(backendSecret)
    const entries = [{ uid: 3_000_000_000, cuy: 1, type: 9, osn: 'gift', amt: '9007199254.740991', mark: 'für 你' }]
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await fetch(`${service.url}/ledger/entries`, { method: 'POST', headers, body: JSON.stringify({ entries }) })
    const [request, response] = await received
    const body = await text(request)
    response.writeHead(204).end()
    return { headers: request.headers, body }
  } finally {
    await service.stop()
    await close()
  }
}

const keepsAt = process.argv.indexOf('--keep')
const names = keepsAt === -1 ? process.argv.slice(2) : []
const folder = mkdtempSync(join(tmpdir(), 'webhooks-'))
const delivery = keepsAt === -1 ? join(folder, 'delivery.json') : String(process.argv[keepsAt + 1])
try {
  const recorded = await recordDelivery()
  const named = Object.entries(recorded.headers).filter(([name]) => name.startsWith('webhook-'))
  const written = { headers: Object.fromEntries(named), body: recorded.body, secrets: { fresh, old, other } }
  writeFileSync(delivery, JSON.stringify(written))
  if (keepsAt === -1) await tryScripts(here, names, { DELIVERY: delivery })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
