/** The whole service as `npm start` runs it, over a chain in memory with blocks on command, and a database of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Devnet, startDevnet, temporary } from '../devnet/chain.ts'
import { endGroup } from '../support/child-processes.ts'
import { listen } from '../support/loopback.ts'
import { root } from '../support/project.ts'
import { runWrangler, spawnWrangler } from '../support/wrangler.ts'

/** A running service. */
export interface LocalService {
  readonly url: string
  readonly devnet: Devnet
  stop(): Promise<void>
}

/** Starts chain, database and Worker with its static files. `variables` are added to those of `npm start`. */
export async function startLocalService(variables: Readonly<Record<string, string>> = {}): Promise<LocalService> {
  const state = mkdtempSync(join(tmpdir(), 'pages-state-'))
  const stored = ['--persist-to', state]
  const migrate = ['d1', 'migrations', 'apply', 'DB', '--local', ...stored]
  const [devnet, port] = await Promise.all([startDevnet(temporary), freePort(), runWrangler(migrate, 'No database')])
  const node = { rpc: devnet.rpcUrl, api: devnet.apiUrl, perSecond: 1_000, perDay: 10_000_000 }
  const all = {
    TRON_NODES: JSON.stringify([node]),
    WEBHOOKS: JSON.stringify([{ url: 'http://127.0.0.1:1', secretVar: 'WEBHOOK_SECRET' }]),
    ...variables,
  }
  const given = Object.entries(all).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const files = ['--env-file', `${root}test/devnet/dev.vars`]
  const where = ['--ip', '127.0.0.1', '--port', `${port}`, '--show-interactive-dev-session=false']
  const child = spawnWrangler(['dev', ...where, ...stored, ...files, ...given])
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
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    if (child.pid !== undefined) endGroup(child.pid, 'SIGTERM')
    await ended
    await devnet.stop()
    rmSync(state, { recursive: true, force: true })
  }
  while (!output.includes('Ready on')) {
    if (hasEnded) {
      await stop()
      throw new Error(`wrangler dev did not start:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await devnet.mine(5) // the scan starts at a final block
  await fetch(`${url}/cdn-cgi/handler/scheduled`) // starts the scanner, which goes on by itself
  while (!(await isOpen(url))) await new Promise((resolve) => setTimeout(resolve, 50))
  return { url, devnet, stop }
}

/** Whether the first scan has ended: then deposits in all currencies can be credited. */
async function isOpen(url: string): Promise<boolean> {
  const { data } = (await (await fetch(`${url}/currencies`)).json()) as { data: { list: { open: boolean }[] } } // its answer
  return data.list.every(({ open }) => open)
}

async function freePort(): Promise<number> {
  const { url, close } = await listen(createServer())
  await close()
  return Number(new URL(url).port)
}
