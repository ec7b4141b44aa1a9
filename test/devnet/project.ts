import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

/** Why a command can't go on: one sentence for the person at the terminal, and no stack. */
export class Trouble extends Error {}

/** The project's root, with a slash at the end. */
export const root = fileURLToPath(new URL('../../', import.meta.url).href)
/** The local chain's folder. */
export const chainDir = `${root}.devnet`
/** Where wrangler keeps the local database. */
const databaseDir = `${root}.wrangler/state/v3/d1`

const chainMark = `${chainDir}/id`
const databaseMark = `${databaseDir}/devnet-id`

/** The ports of one running copy, from `PORT` and `DEVNET_PORT`. anvil is on the one after the Tron face's. */
export function readPorts(): { readonly service: number; readonly face: number; readonly anvil: number } {
  const service = readPort('PORT', 8787)
  const face = readPort('DEVNET_PORT', 9090)
  return { service, face, anvil: face + 1 }
}

/** Whether nothing listens on a port of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/**
 * Refuses a chain and a database of different origin: with a new chain the stored position would stand on blocks that
 * no longer exist, and with a new database the old deposits would be credited a second time, to whoever is first.
 */
export function requirePair(): void {
  const chain = readMark(chainMark)
  const database = readMark(databaseMark)
  if (chain === database) return
  const what =
    chain === null
      ? 'The local database is there but its chain (.devnet) was deleted'
      : database === null
        ? 'The local chain is there but its database (.wrangler/state/v3/d1) was deleted'
        : 'The local chain (.devnet) and the local database (.wrangler/state/v3/d1) are of different origin'
  throw new Trouble(`${what}: run "npm run devnet:reset", which deletes both, and start again.`)
}

/** Marks chain and database as belonging together; a no-op where they are marked. */
export function markPair(): void {
  if (readMark(chainMark) !== null) return
  const id = randomUUID()
  for (const [dir, mark] of [
    [chainDir, chainMark],
    [databaseDir, databaseMark],
  ] as const) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(mark, id)
  }
}

/** Deletes chain and database. */
export function deletePair(): void {
  for (const dir of [chainDir, databaseDir]) rmSync(dir, { recursive: true, force: true })
}

function readMark(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

function readPort(name: string, byDefault: number): number {
  const given = process.env[name]
  if (given === undefined || given === '') return byDefault
  const port = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (port < 1 || port > 65_534) throw new Trouble(`${name} must be a port from 1 to 65534, not "${given}".`)
  return port
}
