/**
 * The whole service as `npm start` runs it, with its own database, over an in-memory chain that
 * makes blocks on command.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Devnet, startDevnet, temporary } from '../devnet/chain.ts'
import { endGroup } from '../support/child-processes.ts'
import { createDatabaseFile, fileOfD1 } from '../support/database-file.ts'
import { listen } from '../support/loopback.ts'
import { root } from '../support/project.ts'
import { spawnWrangler } from '../support/wrangler.ts'

export interface LocalService {
  readonly url: string
  readonly devnet: Devnet
  stop(): Promise<void>
}

/**
 * Starts the chain, the database, and the Worker with its static files. `variables` add to those of
 * `npm start`.
 */
export async function startLocalService(variables: Readonly<Record<string, string>> = {}): Promise<LocalService> {
  const state = mkdtempSync(join(tmpdir(), 'pages-state-'))
  createDatabaseFile(fileOfD1(join(state, 'v3/d1'), 'tron-wallet')) // the local id of the database in wrangler.toml
  const devnet = await startDevnet(temporary)
  const node = { rpc: devnet.rpcUrl, api: devnet.apiUrl, perSecond: 1_000, perDay: 10_000_000 }
  const all = {
    TRON_NODES: JSON.stringify([node]),
    WEBHOOKS: JSON.stringify([{ url: 'http://127.0.0.1:1', secretVar: 'WEBHOOK_SECRET' }]),
    ...variables,
  }
  const given = Object.entries(all).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const stopOthers = async () => {
    await devnet.stop()
    rmSync(state, { recursive: true, force: true })
  }
  const options = ['--persist-to', state, '--env-file', `${root}test/devnet/dev.vars`, ...given]
  const { url, stop: stopWorker } = await startWorker(options).catch(async (thrown) => {
    await stopOthers()
    throw thrown
  })
  const stop = async () => {
    await stopWorker()
    await stopOthers()
  }
  await devnet.mine(5) // so that there is a final block at which the scan can start
  await fetch(`${url}/cdn-cgi/handler/scheduled`) // runs the cron, which wakes the scanner
  while (!(await isOpen(url))) await new Promise((resolve) => setTimeout(resolve, 50))
  return { url, devnet, stop }
}

/**
 * How often starting wrangler is tried: another process can take the free port before wrangler
 * listens there.
 */
const triesMax = 5

async function startWorker(options: readonly string[], tries = triesMax): Promise<Pick<LocalService, 'url' | 'stop'>> {
  const port = await freePort()
  const where = ['--ip', '127.0.0.1', '--port', `${port}`, '--show-interactive-dev-session=false']
  const child = spawnWrangler(['dev', ...where, ...options])
  let output = ''
  let hasEnded = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void ended.then(() => {
    hasEnded = true
  })
  const stop = async () => {
    if (child.pid !== undefined) endGroup(child.pid, 'SIGTERM')
    await ended
  }
  while (!output.includes('Ready on')) {
    if (hasEnded) {
      if (tries > 1 && output.includes('Address already in use')) return startWorker(options, tries - 1)
      throw new Error(`wrangler dev did not start:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

/** Whether the first scan has ended, so that deposits in all currencies can be credited. */
async function isOpen(url: string): Promise<boolean> {
  // safe: the service's own reply
  const { data } = (await (await fetch(`${url}/currencies`)).json()) as { data: { list: { open: boolean }[] } }
  return data.list.every(({ open }) => open)
}

async function freePort(): Promise<number> {
  const { url, close } = await listen(createServer())
  await close()
  return Number(new URL(url).port)
}
