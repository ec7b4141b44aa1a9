import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { root, UserError } from '../support/project.ts'

/** The local chain's folder. */
export const chainDir = `${root}.devnet`
/** The folders in which wrangler keeps the local database and the storage of the Durable Objects. */
const databaseDir = `${root}.wrangler/state/v3/d1`
const objectsDir = `${root}.wrangler/state/v3/do`

/** The chain and the database that belong together contain the same random id. */
const chainIdPath = `${chainDir}/id`
const databaseIdPath = `${databaseDir}/devnet-id`

/**
 * Refuses a chain and a database that do not belong together. With a new chain, the stored scan position would be of
 * blocks that no longer exist; with a new database, the old deposits would be credited a second time, to any user.
 */
export function requireMatchingData(): void {
  const chain = readId(chainIdPath)
  const database = readId(databaseIdPath)
  if (chain === database) return
  const problem =
    chain === null
      ? 'The local database exists, but its chain (.devnet) is missing'
      : database === null
        ? 'The local chain exists, but its database (.wrangler/state/v3/d1) is missing'
        : 'The local chain (.devnet) and the local database (.wrangler/state/v3/d1) do not belong together'
  throw new UserError(`${problem}: run "npm run devnet:reset", which deletes both, and start again.`)
}

/** Marks chain and database as belonging together; no effect if they are marked already. */
export function markMatchingData(): void {
  if (readId(chainIdPath) !== null) return
  const id = randomUUID()
  for (const [dir, path] of [
    [chainDir, chainIdPath],
    [databaseDir, databaseIdPath],
  ] as const) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(path, id)
  }
}

/** Deletes chain and database, with the storage of the objects. */
export function deleteLocalData(): void {
  for (const dir of [chainDir, databaseDir, objectsDir]) rmSync(dir, { recursive: true, force: true })
}

function readId(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}
