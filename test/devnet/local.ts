import { randomUUID } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { SignJWT } from 'jose'
import { root, UserError } from '../support/project.ts'
import { slotSeconds } from './anvil.ts'
import { treasuryBase58 } from './operator.ts'

const chainDir = `${root}.devnet`
/** The folders in which wrangler keeps the storage of the Durable Objects, and the buckets. */
const objectsDir = `${root}.wrangler/state/v3/do`
const bucketsDir = `${root}.wrangler/state/v3/r2`

/** The folders of one local deployment, each with a slash at its end. */
export interface LocalFolders {
  /** The folder with wrangler's configuration and `.dev.vars`. */
  readonly config: string
  /** The folder with the chain's file. */
  readonly chain: string
  /** The folder with databases and objects, in wrangler's layout. */
  readonly state: string
  /** The folder with the files of the databases, in `state`. */
  readonly databases: string
  /** The folder with a copy of the archive. */
  readonly archive: string
}

/**
 * The folders of `npm start` with `cells` cells. A deployment with several cells has a chain of its
 * own, because a database belongs to one chain.
 */
export function localFolders(cells: number): LocalFolders {
  const folder = cells === 1 ? root : `${chainDir}/cells-${cells}/`
  const chain = cells === 1 ? `${chainDir}/` : folder
  const state = `${folder}.wrangler/state/v3/`
  return { config: folder, chain, state, databases: `${state}d1/`, archive: `${chain}archive/` }
}

const idPaths = ({ chain, databases }: LocalFolders) => [`${chain}id`, `${databases}devnet-id`] as const

/**
 * The pace of `npm start`: blocks as on Tron, and a third of its finality, so that a deposit is
 * seen, and credited soon.
 */
export const localPace = { isTimed: true, finalityBlocks: 6, behindSeconds: 60 }
/** Seconds until a payment is final on the chain of `npm start`. */
export const secondsToFinal = slotSeconds * (localPace.finalityBlocks + 1)

/**
 * Refuses a chain and a database that do not contain the same random id, because they do not belong
 * together. With a new chain, the stored scan position would be of blocks that no longer exist.
 * With a new database, the old deposits would be credited a second time, to any user.
 */
export function requireMatchingData(folders: LocalFolders): void {
  const [ofChain, ofDatabase] = idPaths(folders).map(readId)
  if (ofChain === ofDatabase) return
  throw new UserError(
    `The local chain (${nameOf(folders.chain)}) and the local database (${nameOf(folders.databases)}) do not belong together, or one of them is ` +
      'missing: run "npm run devnet:reset", which deletes both, and start again.',
  )
}

/** Marks chain and database as belonging together; no effect if they are marked already. */
export function markMatchingData(folders: LocalFolders): void {
  const paths = idPaths(folders)
  if (readId(paths[0]) !== null) return
  const id = randomUUID()
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, id)
  }
}

/** A folder of this project without the slash at its end, for messages. */
const nameOf = (folder: string) => folder.slice(root.length, -1)

/** The folders of the chains that `npm start` has made here, whatever the number of their cells. */
export const dataFolders = () =>
  existsSync(chainDir) ? [`${chainDir}/`, ...globSync(`${chainDir}/cells-*`).map((path) => `${path}/`)] : []

/** Deletes chains and databases, with the storage of the objects. */
export function deleteLocalData(): void {
  for (const dir of [chainDir, localFolders(1).databases, objectsDir, bucketsDir])
    rmSync(dir, { recursive: true, force: true })
}

function readId(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

/**
 * The ports from `PORT` and `DEVNET_PORT`. anvil's port is derived from the Tron server's. Those of
 * the receiver of events and the shop are derived from the service's.
 */
export function readPorts() {
  const service = readPort('PORT', 8787)
  const tron = readPort('DEVNET_PORT', 9090)
  return { service, tron, anvil: tron + 1, receiver: service + 3, shop: service + 4 }
}

/** Whether no program listens on a port of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function readPort(name: string, defaultPort: number): number {
  const given = process.env[name]
  if (given === undefined || given === '') return defaultPort
  const port = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (port < 1 || port > 65_531) throw new UserError(`${name} must be a port from 1 to 65531, not "${given}".`)
  return port
}

/**
 * A backend's token for the next hour. By default it is the shop's, with the scopes that a shop
 * needs.
 */
export async function localBackendToken(
  secret: string,
  scope = 'ledger:read ledger:post ledger:pay',
  name = 'shop',
): Promise<string> {
  const token = new SignJWT({ scope }).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject(name).setExpirationTime('1h').sign(new TextEncoder().encode(secret))
}

/** A token of user 1 for the next hour. */
export async function localUserToken(secret: string): Promise<string> {
  const token = new SignJWT({}).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject('1').setExpirationTime('1h').sign(new TextEncoder().encode(secret))
}

/** The text of `.dev.vars`, or of `test/devnet/dev.vars`, from which `.dev.vars` will be copied. */
export function readVariables(): string {
  return readFileSync(existsSync(`${root}.dev.vars`) ? `${root}.dev.vars` : `${root}test/devnet/dev.vars`, 'utf8')
}

/** A variable of `.dev.vars`; undefined if the file has no such variable. */
export function readVariable(name: string): string | undefined {
  return new RegExp(`^${name}=(["']?)(.+)\\1$`, 'm').exec(readVariables())?.[2]
}

/**
 * The address of the desk of the service at `base`, with a token of the name `office`: another name
 * than the shop's, so it may approve the shop's payouts.
 */
export async function deskAddress(base: string, secret: string): Promise<string> {
  const token = await localBackendToken(secret, 'ledger:read ledger:approve ledger:pay', 'office')
  return `${base}/desk#token=${token}`
}

/**
 * Three commands: run a signer, ask the service at `base` for a payout of 5 USDT of user 1, and
 * show the payout. They use `$TOKEN`.
 */
export function payoutCommands(base: string, to: string, nodes: string | null): readonly [string, ...string[]] {
  const payout = { uid: 1, cuy: 2, amt: '5', to, osn: 'payout-1' }
  const ask = `-H 'content-type: application/json' -d '${JSON.stringify({ payouts: [payout] })}'`
  const isNew = existsSync(root + payoutJournal) ? '' : ' --new-journal'
  const options = `--limits test/devnet/payout-limits.json --journal ${payoutJournal}${isNew}`
  const run = `npm run payout -- run ${options}`
  return [
    nodes === null ? run : `TRON_NODES='${nodes}' ${run} --service ${base}`,
    `curl ${base}/ledger/payouts -H "authorization: Bearer $TOKEN" ${ask}`,
    `curl "${base}/ledger/payouts?limit=1" -H "authorization: Bearer $TOKEN"`,
  ]
}
/** The journal of the local signer. It is in the folder of the chain, with which it is deleted. */
const payoutJournal = '.devnet/payout-journal.jsonl'

/** A command that plans a collection of what the deposit addresses hold. */
export function collectCommand(nodes: string | null): string {
  const command = `npm run collect -- plan --to ${treasuryBase58} --out plan.json`
  return nodes === null ? command : `TRON_NODES='${nodes}' ${command}`
}

/** A command that posts a payment of 2.5 USDT of user 1 to the service at `base`, with `$TOKEN`. */
export function paymentCommand(base: string): string {
  const entry = { uid: 1, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' }
  const headers = `-H "authorization: Bearer $TOKEN" -H 'content-type: application/json'`
  return `curl ${base}/ledger/entries ${headers} -d '${JSON.stringify({ entries: [entry] })}'`
}
