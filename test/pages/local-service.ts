/**
 * The whole service as `npm start` runs it, with its own database, over an in-memory chain that
 * makes blocks on command.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Devnet, type DevnetOptions, startDevnet, temporary } from '../devnet/chain.ts'
import { keepBuild } from '../devnet/kept-build.ts'
import { startWorker } from '../devnet/worker.ts'
import { createDatabaseFile, fileOfD1 } from '../support/database-file.ts'
import { root } from '../support/project.ts'

export interface LocalService {
  readonly url: string
  readonly devnet: Devnet
  /** Runs the cron, which wakes the scanner. */
  cron(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the chain, the database, and the Worker with its static files. `variables` add to those of
 * `npm start`, `pace` replaces options of the chain.
 */
export async function startLocalService(
  variables: Readonly<Record<string, string>> = {},
  pace: Partial<DevnetOptions> = {},
): Promise<LocalService> {
  const chain = { ...temporary, ...pace }
  const build = await keepBuild(root)
  const state = mkdtempSync(join(tmpdir(), 'pages-state-'))
  for (const id of build.databases) createDatabaseFile(fileOfD1(join(state, 'd1'), id))
  const devnet = await startDevnet(chain)
  await devnet.mine(chain.finalityBlocks + 3) // so that there is a final block at which the scan can start
  const node = { rpc: devnet.rpcUrl, api: devnet.apiUrl, perSecond: 1_000, perDay: 10_000_000 }
  const changes = {
    TRON_NODES: JSON.stringify([node]),
    WEBHOOKS: JSON.stringify([{ url: 'http://127.0.0.1:1', secretVar: 'WEBHOOK_SECRET' }]),
    ...variables,
  }
  const defaults = readFileSync(`${root}test/devnet/dev.vars`, 'utf8')
  const worker = await startWorker(build, { state, port: 0, variables: defaults, changes, print: () => undefined })
  const { url, cron } = worker
  const stop = async () => {
    await worker.stop()
    await devnet.stop()
    rmSync(state, { recursive: true, force: true })
  }
  await cron()
  while (!(await isOpen(url))) await new Promise((resolve) => setTimeout(resolve, 50))
  return { url, devnet, cron, stop }
}

/** Whether the first scan has ended, so that deposits in all currencies can be credited. */
async function isOpen(url: string): Promise<boolean> {
  // safe: the service's own reply
  const { data } = (await (await fetch(`${url}/currencies`)).json()) as { data: { list: { open: boolean }[] } }
  return data.list.every(({ open }) => open)
}
