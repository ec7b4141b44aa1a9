/**
 * `npm start`: the whole service on this machine, without internet access. It starts a local chain with a Tron server, the database
 * with its migrations, the Worker with its objects, its cron each minute, and a receiver that prints events. Chain and database
 * are kept and belong together.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { printLine, root, UserError } from '../support/project.ts'
import { receive } from '../webhooks/receiver-example.ts'
import { type Devnet, finalityBlocks, startDevnet } from './chain.ts'
import {
  chainDir,
  isFree,
  localBackendToken,
  markMatchingData,
  paymentCommand,
  readPorts,
  requireMatchingData,
} from './local.ts'
import { prepareOperator, treasuryBase58 } from './operator.ts'
import { applyMigrations, startWorker } from './wrangler.ts'

const statePath = `${chainDir}/state.json`
const cronIntervalMs = 60_000
const blockSeconds = 1
/** The chain makes three blocks in the time of one of Tron's, so its time starts in the past and reaches the clock after two hours. */
const behindSeconds = 4 * 3_600

/** In the order of the starts; they run in reverse order. */
const stopSteps: (() => Promise<void>)[] = []
let isReady = false
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    void stop(0, 'Stopped. The chain and the database are kept: the next "npm start" continues with them.')
  })
}

try {
  await start()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  await stop(1, error instanceof UserError ? message : `The start failed: ${message}`)
}

async function start(): Promise<void> {
  const ports = readPorts()
  for (const port of [ports.service, ports.receiver]) await requireFreePort(port, 'PORT')
  for (const port of [ports.tron, ports.anvil]) await requireFreePort(port, 'DEVNET_PORT')
  requireMatchingData()
  if (!existsSync(`${root}.dev.vars`)) copyFileSync(`${root}test/devnet/dev.vars`, `${root}.dev.vars`)

  const devnet = await startChain(ports)
  stopSteps.push(devnet.stop)
  await prepareOperator(devnet)
  void devnet.ended.then(({ errorOutput }) =>
    stop(1, `The local chain stopped unexpectedly: ${errorOutput || 'no error message'}.`),
  )
  await applyMigrations()
  markMatchingData()
  const { rpcUrl: rpc, apiUrl: api } = devnet
  const limits = { perSecond: 1_000, perDay: 10_000_000 } // as in test/devnet/dev.vars
  const nodes = process.env.DEVNET_PORT ? JSON.stringify([{ rpc, api, ...limits }]) : null // else .dev.vars may have others
  const endpoint = { url: `http://127.0.0.1:${ports.receiver}`, secretVar: 'WEBHOOK_SECRET' }
  const webhooks = process.env.PORT ? JSON.stringify([endpoint]) : null // as above
  startReceiver(ports.receiver)
  const worker = await startWorker(ports.service, { TRON_NODES: nodes, WEBHOOKS: webhooks }, (line) => {
    if (isReady || /error/i.test(line)) printLine(line) // during the start only errors
  })
  stopSteps.push(worker.stop)
  void worker.ended.then(() => stop(1, 'The Worker (wrangler dev) stopped unexpectedly.'))

  const base = `http://127.0.0.1:${ports.service}`
  await requireScannedBlocks(base, devnet)
  void cron(base)
  const timer = setInterval(() => void cron(base), cronIntervalMs)
  stopSteps.push(async () => clearInterval(timer))
  isReady = true
  const secret = readVariable('BACKEND_JWT_SECRET')
  const command = secret === undefined ? '' : paymentCommand(base, await localBackendToken(secret))
  if (!isStopping) printLine(welcome(base, nodes, command))
}

/** Prints each event that the service delivers. */
function startReceiver(port: number): void {
  const secret = readVariable('WEBHOOK_SECRET')
  if (secret === undefined) return
  const receiver = receive(secret, async (event) => printLine(`Event: ${JSON.stringify(event)}`))
  receiver.listen(port, '127.0.0.1')
  stopSteps.push(async () => {
    receiver.close()
    receiver.closeAllConnections()
  })
}

/** A variable of `.dev.vars`, or undefined where it has none of this name. */
function readVariable(name: string): string | undefined {
  return new RegExp(`^${name}="?([^"\\n]+)"?$`, 'm').exec(readFileSync(`${root}.dev.vars`, 'utf8'))?.[1]
}

async function startChain(ports: ReturnType<typeof readPorts>): Promise<Devnet> {
  mkdirSync(chainDir, { recursive: true })
  try {
    return await startDevnet({ statePath, blockSeconds, behindSeconds, tronPort: ports.tron, anvilPort: ports.anvil })
  } catch (error) {
    if (error instanceof UserError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    const advice = existsSync(statePath)
      ? 'Its state (.devnet/state.json) may be damaged: "npm run devnet:reset" deletes the chain and the database.'
      : 'Run "npm ci" to make sure that everything is installed.'
    throw new UserError(`The local chain did not start (${reason}). ${advice}`)
  }
}

async function requireFreePort(port: number, variable: string): Promise<void> {
  if (await isFree(port)) return
  throw new UserError(
    `Port ${port} is in use: stop the program that uses it, or choose another port with ${variable}=….`,
  )
}

/** A killed chain loses its newest blocks. The database must not have scanned blocks that the chain no longer has. */
async function requireScannedBlocks(base: string, devnet: Devnet): Promise<void> {
  const body = (await (await fetch(`${base}/health`)).json()) as { data?: { scanned?: unknown } } // checked below
  const scanned = body.data?.scanned
  if (typeof scanned !== 'number' || scanned <= Math.max(devnet.startedAt, finalityBlocks)) return
  throw new UserError(
    `The local chain has lost blocks that are scanned already (newest block ${devnet.startedAt}, newest scanned ` +
      `block ${scanned}): run "npm run devnet:reset", which deletes the chain and the database, and start again.`,
  )
}

/** Runs the cron handler, as the platform does in a deployment: it wakes the scanner, whose alarms then follow by themselves. */
async function cron(base: string): Promise<void> {
  await fetch(`${base}/cdn-cgi/handler/scheduled`).catch(() => null)
}

function welcome(base: string, nodes: string | null, payment: string): string {
  const collect = `${nodes === null ? '' : `TRON_NODES='${nodes}' `}npm run collect --`
  const pay = `${process.env.DEVNET_PORT ? `DEVNET_PORT=${process.env.DEVNET_PORT} ` : ''}npm run pay --`
  const routes = ['/tron/generate', '/tron/balance', '/tron/recharge', '/wallet/list', '/wallet/flow/list']
  return `
The service is running at ${base} (documentation: ${base}/docs). A request without a token acts for user 1.

${routes.map((route) => `  curl ${base}${route}`).join('\n')}

Send a deposit to the address from /tron/generate. After about ${finalityBlocks * blockSeconds + 1} s it is final: call /tron/recharge.
Without that the service finds it by itself. Its events are delivered to a receiver, which prints them here.

  ${pay} <T-address> 25 USDT
  ${pay} <T-address> 3.5 TRX
  ${pay} <T-address> 5 TRC10     (worthless, not credited)

Then a backend can take a payment from it (type 5 is a refund). The token is valid for an hour.

  ${payment}

Collect what the deposit addresses hold (src/tools/collect/README.md), here to an address of another public mnemonic:

  ${collect} plan --to ${treasuryBase58} --out plan.json

Ctrl-C stops it; the chain and the database are kept. "npm run devnet:reset" deletes both.
`
}

async function stop(code: number, message: string): Promise<void> {
  if (isStopping) return
  isStopping = true
  printLine(message)
  for (const step of stopSteps.reverse()) await step()
  process.exit(code)
}
