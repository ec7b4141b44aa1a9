import { addressIn, type RunningService, read, startService } from '../http/service.ts'
import { otherXpubs, testXpub } from '../support/variables.ts'

/**
 * One user of each of the three cells (databases). `scanners` has the names of the cells' scanner
 * objects, in the same order.
 */
export const users = [7, 1_000_007, 2_000_007] as const
export const scanners = ['scanner', 'scanner DB_2', 'scanner DB_3'] as const

/** `CELLS` with a million users in each of the first two cells, and an open range in the third. */
export const threeCells = [
  { db: 'DB', uids: '1-999999', xpub: 'KEY_1' },
  { db: 'DB_2', uids: '1000000-1999999', xpub: 'KEY_2' },
  { db: 'DB_3', uids: '2000000-', xpub: 'KEY_3' },
] as const

/**
 * Starts the service with three cells, each over a real, empty database. `variables` add to the
 * usual ones or replace them.
 */
export async function startThreeCells(variables: Record<string, unknown> = {}): Promise<RunningService> {
  // imported only where it is needed, because the module exists in workerd alone
  const { freshDatabase, furtherDatabases } = await import('../support/database.ts')
  await freshDatabase()
  const [DB_2, DB_3] = await furtherDatabases()
  return startService({
    ...{ DB_2, DB_3, KEY_1: testXpub, KEY_2: otherXpubs[0], KEY_3: otherXpubs[1] },
    CELLS: threeCells,
    ...variables,
  })
}

/** Issues an address to each of `users`, one in each cell. */
export async function addressesOf(service: RunningService) {
  const addresses = []
  for (const uid of users) addresses.push(await addressIn(await service.get('/tron/generate', uid)))
  return addresses
}

/** Runs a tick of each cell. */
export async function tickAll(service: RunningService): Promise<void> {
  for (const scanner of scanners) await service.tick(scanner)
}

/** The user's balance in USDT. */
export async function balanceOf(service: RunningService, uid: number): Promise<number> {
  const { body } = await read(await service.get('/wallet/list', uid))
  const { data } = body as { data: { list: { amt: number; cuy: number }[] } }
  return data.list.find(({ cuy }) => cuy === 2)?.amt ?? 0
}
