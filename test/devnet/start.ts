/**
 * `npm start`: the whole service on this machine, without the internet. A local chain behind a Tron face, the database with
 * its migrations, the Worker, and the minute's cron tick. Chain and database are kept and belong together.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { devnetChainId, finalityBlocks } from './anvil.ts'
import { type Devnet, startDevnet } from './chain.ts'
import { quantity } from './hex.ts'
import { chainDir, isFree, markPair, readPorts, requirePair, root, Trouble } from './project.ts'
import { applyMigrations, startWorker } from './wrangler.ts'

const statePath = `${chainDir}/state.json`
const portPath = `${chainDir}/anvil-port`
const tickMs = 60_000
const blockSeconds = 1

type Stop = () => Promise<void>

const stops: Stop[] = []
let isUp = false
let leaving = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    void leave(0, 'Stopped. The chain and the database are kept; "npm start" goes on from here.')
  })
}

try {
  await start()
} catch (error) {
  const trouble = error instanceof Error ? error.message : String(error)
  await leave(1, error instanceof Trouble ? trouble : `The start failed: ${trouble}`)
}

async function start(): Promise<void> {
  const ports = readPorts()
  await requireAlone()
  await requireFree(ports.service, 'PORT')
  await requireFree(ports.face, 'DEVNET_PORT')
  await requireFree(ports.anvil, 'DEVNET_PORT')
  requirePair()
  if (!existsSync(`${root}.dev.vars`)) copyFileSync(`${root}test/devnet/dev.vars`, `${root}.dev.vars`)

  const devnet = await startChain(ports)
  stops.push(devnet.stop)
  void devnet.ended.then(({ lastWords }) =>
    leave(1, `The local chain ended by itself: ${lastWords || 'it gave no reason'}.`),
  )
  await applyMigrations()
  markPair()
  const { rpcUrl: rpc, apiUrl: api } = devnet
  const nodes = process.env.DEVNET_PORT ? JSON.stringify([{ rpc, api }]) : null // else .dev.vars may name others
  const worker = await startWorker(ports.service, nodes, (line) => {
    if (isUp || /error/i.test(line)) say(line) // until all is up only what may be wrong
  })
  stops.push(worker.stop)
  void worker.ended.then(() => leave(1, 'The Worker (wrangler dev) ended by itself.'))

  const base = `http://127.0.0.1:${ports.service}`
  await requireSameChain(base, devnet)
  await tick(base)
  const ticking = setInterval(() => void tick(base), tickMs)
  stops.push(async () => clearInterval(ticking))
  isUp = true
  if (!leaving) say(welcome(base))
}

async function startChain(ports: { readonly face: number; readonly anvil: number }): Promise<Devnet> {
  mkdirSync(chainDir, { recursive: true })
  writeFileSync(portPath, `${ports.anvil}`)
  try {
    return await startDevnet({ statePath, blockSeconds, facePort: ports.face, anvilPort: ports.anvil })
  } catch (error) {
    if (error instanceof Trouble) throw error
    const why = error instanceof Error ? error.message : String(error)
    const advice = existsSync(statePath)
      ? 'its state (.devnet/state.json) may be broken: "npm run devnet:reset" deletes chain and database.'
      : 'is everything installed ("npm ci")?'
    throw new Trouble(`The local chain did not start (${why}); ${advice}`)
  }
}

async function requireFree(port: number, variable: string): Promise<void> {
  if (await isFree(port)) return
  throw new Trouble(`Port ${port} is in use: end the program that uses it, or choose another with ${variable}=….`)
}

/** Two chains would write one state file: the anvil of a start that was killed runs on, whatever ports this one has. */
async function requireAlone(): Promise<void> {
  if (!existsSync(portPath)) return
  const port = readFileSync(portPath, 'utf8')
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
  const answer = (await ask(`http://127.0.0.1:${port}`, request)) as { result?: unknown } | null // only compared
  if (answer?.result !== quantity(devnetChainId)) return
  throw new Trouble(
    `The local chain of an earlier start still runs on port ${port}: end that start, or its anvil, first.`,
  )
}

/** A killed chain loses its newest seconds. Where the database has read those, the two no longer fit. */
async function requireSameChain(base: string, devnet: Devnet): Promise<void> {
  const body = (await ask(`${base}/health`)) as { data?: { scanned?: unknown } } | null // read with care below
  const scanned = body?.data?.scanned
  if (typeof scanned !== 'number' || scanned <= Math.max(devnet.startedAt, finalityBlocks)) return
  throw new Trouble(
    `The local chain lost blocks that the database has read (it ends at ${devnet.startedAt}, the database at ${scanned}): ` +
      'run "npm run devnet:reset", which deletes both, and start again.',
  )
}

/** What cron does in a deployment. Its errors are the Worker's log. */
async function tick(base: string): Promise<void> {
  await ask(`${base}/cdn-cgi/handler/scheduled`)
}

async function ask(url: string, body: unknown = null): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  try {
    return await (await fetch(url, body === null ? {} : { method: 'POST', headers, body: JSON.stringify(body) })).json()
  } catch {
    return null // not there (any more), or no JSON
  }
}

function welcome(base: string): string {
  const pay = `${process.env.DEVNET_PORT ? `DEVNET_PORT=${process.env.DEVNET_PORT} ` : ''}npm run pay --`
  const routes = ['/tron/generate', '/tron/balance', '/tron/recharge', '/wallet/list', '/wallet/flow/list']
  return `
The service runs at ${base} (page to read and try it: ${base}/docs). A request without a token acts for user 1.

${routes.map((route) => `  curl ${base}${route}`).join('\n')}

Send a deposit to the address that /tron/generate gave (final after about ${finalityBlocks * blockSeconds + 1} s, then recharge):

  ${pay} <T-address> 25 USDT
  ${pay} <T-address> 3.5 TRX
  ${pay} <T-address> 5 TRC10     (worthless, and refused)

Ctrl-C ends it; chain and database are kept. "npm run devnet:reset" deletes both.
`
}

async function leave(code: number, sentence: string): Promise<void> {
  if (leaving) return
  leaving = true
  say(sentence)
  for (const stop of stops.reverse()) await stop()
  process.exit(code)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
