import { otherXpubs, testXpub } from '../support/variables.ts'

/** How many user ids each cell has. The last cell has all higher ids, too. */
const usersEach = 1_000_000
const keys = [testXpub, ...otherXpubs]

/** The name of the database of a cell; cells count from 0. */
export const bindingOf = (cell: number) => (cell === 0 ? 'DB' : `DB_${cell + 1}`)

/** The n-th user of a cell; both count from 0. */
export const uidIn = (cell: number, n: number) => cell * usersEach + n + 1

/** The variables with the databases of the cells, and `CELLS` if there are several. */
export function variablesOfCells(databases: readonly unknown[]): Readonly<Record<string, unknown>> {
  const bound = Object.fromEntries(databases.map((db, cell) => [bindingOf(cell), db]))
  return databases.length === 1 ? bound : { ...bound, ...listOfCells(databases.length) }
}

/** `CELLS` for this many cells, and the variables with the keys that it names. */
export function listOfCells(count: number): Readonly<Record<string, unknown>> {
  const all = Array.from({ length: count }, (_, cell) => cell)
  if (count > keys.length) throw new Error(`there are keys for ${keys.length} cells`)
  const CELLS = all.map((cell) => {
    const end = cell === count - 1 ? '' : uidIn(cell + 1, -1)
    return { db: bindingOf(cell), uids: `${uidIn(cell, 0)}-${end}`, xpub: `KEY_${cell + 1}` }
  })
  return { CELLS, ...Object.fromEntries(all.map((cell) => [`KEY_${cell + 1}`, keys[cell]])) }
}
