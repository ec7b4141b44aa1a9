/**
 * `npm start`: the whole service on this machine, without internet access. It starts a local chain
 * with a Tron server, the database with its migrations, the Worker with its objects, its cron each
 * minute, and a receiver that prints events. Chain and database are kept for the next start, and
 * belong together. `--log` prints all lines of the Worker. `--cells 3` puts three databases behind
 * the service, in another folder than that of one database. `--help` prints all options.
 */
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createDemoShop } from '../shop/demo-shop.ts'
import { applyMigrations, fileOfD1 } from '../support/database-file.ts'
import { printLine, root, UserError } from '../support/project.ts'
import { receive } from '../webhooks/receiver-example.ts'
import { localCells, localCellsMax, payoutAddressAt, writeCellsFolder } from './cells.ts'
import type { Devnet } from './chain.ts'
import { keepBuild, type WorkerBuild } from './kept-build.ts'
import {
  deskAddress,
  isFree,
  localFolders,
  localPace,
  markMatchingData,
  readPorts,
  readVariable,
  readVariables,
  requireMatchingData,
} from './local.ts'
import { lockFolder } from './lock.ts'
import { payoutBase58, prepareOperator } from './operator.ts'
import { findOverrides, overrideLines } from './overrides.ts'
import { eventLine, helpText, isWorthPrinting, localSymbols, refusedTokenLine, welcome } from './words.ts'
import type { LocalWorker, LocalWorkerOptions } from './worker.ts'

const cronIntervalMs = 60_000
/** A step that takes longer says so. */
const quietMsMax = 1_000
/**
 * Longest wait for an answer of the service. An answer takes milliseconds, or seconds if the
 * service asks a node for it.
 */
const answerMsMax = 60_000

/**
 * One function for each part that was started, which stops it. They are called in the reverse order
 * of the starts.
 */
const stopSteps: (() => Promise<void>)[] = []
let isReady = false
/**
 * The newest line about a refused token. A page asks every few seconds, so the same line is printed
 * once.
 */
let lastRefusal: string | null = null
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    void stop(0, 'Stopped. The chain and the database are kept: the next "npm start" continues with them.')
  })
}

const { isLogging, isHelp, cellCount } = readOptions(process.argv.slice(2))
const folders = localFolders(cellCount)
const statePath = `${folders.chain}state.json`
if (isHelp) {
  printLine(await helpText())
  process.exit(0)
}

try {
  await start()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  await stop(1, error instanceof UserError ? message : `The start failed: ${message}`)
}

/** Parses the options. Wrong ones end the process with the code 2. */
function readOptions(args: readonly string[]) {
  const refuse = (why = `npm start takes no ${args.join(' ')}: "npm start -- --help" prints what it takes.`) => {
    printLine(why)
    process.exit(2)
  }
  const options = { log: { type: 'boolean' }, help: { type: 'boolean' }, cells: { type: 'string' } } as const
  const taken = Object.keys(options).find((name) => process.env[`npm_config_${name}`] !== undefined)
  if (taken !== undefined)
    refuse(`npm has taken --${taken} for itself. Write "--" before the options: npm start -- --${taken}`)
  try {
    const { log = false, help = false, cells = '1' } = parseArgs({ args: [...args], options }).values
    const count = /^[1-9]\d?$/.test(cells) && Number(cells) <= localCellsMax ? Number(cells) : refuse()
    return help && args.length > 1 ? refuse() : { isLogging: log, isHelp: help, cellCount: count }
  } catch {
    return refuse()
  }
}

async function start(): Promise<void> {
  const ports = readPorts()
  if (new Set(Object.values(ports)).size < Object.keys(ports).length)
    throw new UserError('PORT and DEVNET_PORT are too close: choose ports that differ by 5 or more.')
  const lock = lockFolder(folders.chain) // two processes would overwrite each other's chain and database
  stopSteps.push(async () => lock.release())
  for (const port of [ports.service, ports.receiver, ports.shop]) await requireFreePort(port, 'PORT')
  for (const port of [ports.tron, ports.anvil]) await requireFreePort(port, 'DEVNET_PORT')
  requireMatchingData(folders)
  printLine('Starting: a local Tron chain, a database, the service and a pretend shop.')
  if (!existsSync(`${root}.dev.vars`)) copyFileSync(`${root}test/devnet/dev.vars`, `${root}.dev.vars`)
  const cells = cellCount === 1 ? [] : await prepareCells()

  const [build, devnet] = await Promise.all([
    step('Building the Worker and its pages, which are kept for the next start', keepBuild(folders.config)),
    step('Starting the local chain', startChain(ports, cells.length)),
  ])
  void devnet.ended.then(({ errorOutput }) =>
    stop(1, `The local chain stopped unexpectedly: ${errorOutput || 'no error message'}.`),
  )
  for (const id of build.databases) applyMigrations(fileOfD1(folders.databases, id))
  markMatchingData(folders)
  const shop = startShop(`http://127.0.0.1:${ports.service}`, ports.shop)
  startReceiver(ports.receiver, shop?.settle ?? (async () => {}))
  const additions = {
    chain: process.env.DEVNET_PORT ? devnet.apiUrl : null,
    receiver: process.env.PORT ? `http://127.0.0.1:${ports.receiver}` : null,
    shop: shop?.url ?? null,
  }
  const changes = findOverrides(additions, readVariable)
  for (const line of overrideLines(changes, readVariable)) printLine(line)
  const variables = readFileSync(`${folders.config}.dev.vars`, 'utf8')
  const options = { state: folders.state, port: ports.service, variables, changes, archive: folders.archive, print }
  const worker = await step('Starting the service', startService(build, options))
  stopSteps.push(worker.stop)

  const { url } = worker
  await step('Looking at the newest blocks', requireScannedBlocks(url, devnet))
  const cron = () => worker.cron().catch(() => undefined) // it says in the log what has failed
  void cron()
  const timer = setInterval(() => void cron(), cronIntervalMs)
  stopSteps.push(async () => clearInterval(timer))
  const address = await readAddress(url)
  isReady = true
  const secret = readVariable('BACKEND_JWT_SECRET')
  const desk = shop !== null ? `${shop.url}/desk` : secret === undefined ? null : await deskAddress(url, secret)
  if (!isStopping)
    printLine(welcome({ base: url, address, shop: shop?.url ?? null, desk, chainPort: process.env.DEVNET_PORT, cells }))
}

async function startService(build: WorkerBuild, options: LocalWorkerOptions): Promise<LocalWorker> {
  const { startWorker } = await import('./worker.ts') // takes a second
  return await startWorker(build, options)
}

/** Waits for a step, and prints what it does if it takes longer than `quietMsMax`. */
async function step<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => printLine(`${what} …`), quietMsMax)
  return await work.finally(() => clearTimeout(timer))
}

/** Prints what is worth it of the lines of the Worker: before the start is complete only errors. */
function print(line: string): void {
  const isPrinted = isReady ? isLogging || isWorthPrinting(line) : /error/i.test(line)
  if (isPrinted) printLine(line)
  const refused = isReady ? refusedTokenLine(line) : null
  if (refused !== null && refused !== lastRefusal) printLine(refused)
  lastRefusal = refused ?? lastRefusal
}

/**
 * Writes the configuration of a deployment with several cells (databases, each with its users).
 * Returns the cells.
 */
async function prepareCells() {
  const text = readVariable('PAYOUTS')
  // safe: only passed on, and parsed by the service
  const payouts = text === undefined ? null : (JSON.parse(text) as object)
  await writeCellsFolder(folders.config, cellCount, readVariables(), payouts)
  return localCells(cellCount, payouts)
}

/** Starts the pretend shop. Null if .dev.vars has no secrets for its tokens. */
function startShop(wallet: string, port: number): { readonly url: string; settle(): Promise<void> } | null {
  const callers = readVariable('AUTH_JWT_SECRET')
  const backends = readVariable('BACKEND_JWT_SECRET')
  if (callers === undefined || backends === undefined) return null
  const { server, settle } = createDemoShop({ wallet: () => wallet, secrets: { callers, backends } })
  server.listen(port, '127.0.0.1')
  stopSteps.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${port}`, settle }
}

/** Starts a receiver that prints each event of the service and then calls `act`. */
function startReceiver(port: number, act: () => Promise<void>): void {
  const secret = readVariable('WEBHOOK_SECRET')
  if (secret === undefined) return
  const symbols = localSymbols()
  const receiver = receive(secret, async (event) => {
    printLine(eventLine(event, symbols))
    await act()
  })
  receiver.listen(port, '127.0.0.1')
  stopSteps.push(async () => {
    receiver.close()
    receiver.closeAllConnections()
  })
}

/**
 * Starts the chain. A new one has a final block before the service asks for one, and everybody who
 * pays in it has money.
 */
async function startChain(ports: ReturnType<typeof readPorts>, cells: number): Promise<Devnet> {
  const devnet = await openChain(ports)
  stopSteps.push(devnet.stop)
  await prepareOperator(devnet, [payoutBase58, ...Array.from({ length: cells }, (_, i) => payoutAddressAt(i)).slice(1)])
  if (devnet.startedAt === 0) await devnet.mine(localPace.finalityBlocks + 1)
  void devnet.keepInTime()
  return devnet
}

async function openChain(ports: ReturnType<typeof readPorts>): Promise<Devnet> {
  const { startDevnet } = await import('./chain.ts') // takes a second
  try {
    return await startDevnet({ ...localPace, statePath, tronPort: ports.tron, anvilPort: ports.anvil })
  } catch (error) {
    if (error instanceof UserError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    const advice = existsSync(statePath)
      ? `Its state (${statePath.slice(root.length)}) may be damaged: "npm run devnet:reset" deletes the chain and the database.`
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

/**
 * Throws if the service has scanned blocks that the chain does not have: a disk has failed, or the
 * chain's folder is an older copy.
 */
async function requireScannedBlocks(base: string, devnet: Devnet): Promise<void> {
  const { scanned } = await ask<{ scanned: unknown }>(base, '/health')
  if (typeof scanned !== 'number' || scanned <= Math.max(devnet.startedAt, localPace.finalityBlocks)) return
  throw new UserError(
    `The local chain has lost blocks that are scanned already (newest block ${devnet.startedAt}, newest scanned ` +
      `block ${scanned}): run "npm run devnet:reset", which deletes the chain and the database, and start again.`,
  )
}

/**
 * The `data` of the service's answer. Throws a `UserError` if no answer comes within `answerMsMax`.
 */
async function ask<T>(base: string, path: string): Promise<Partial<T>> {
  const signal = AbortSignal.timeout(answerMsMax)
  try {
    const body = (await (await fetch(`${base}${path}`, { signal })).json()) as { data?: T } // the service's envelope
    return body.data ?? {}
  } catch (error) {
    if (!signal.aborted) throw error
    throw new UserError(`The service runs, and has not answered ${path} within ${answerMsMax / 1000} s.`)
  }
}

/** The deposit address of user 1, for whom a request without a token acts. */
async function readAddress(base: string): Promise<string> {
  const { address } = await ask<{ address: string }>(base, '/tron/generate')
  return address ?? '<T-address>'
}

async function stop(code: number, message: string): Promise<void> {
  if (isStopping) return
  isStopping = true
  printLine(message)
  for (const step of stopSteps.reverse()) await step()
  process.exit(code)
}
