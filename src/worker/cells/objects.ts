import type { CellConfig } from './parse-cells.ts'

/**
 * The name of the scanner's Durable Object in the cell whose database is `DB`. The names of other
 * scanners begin with it.
 */
const scannerName = 'scanner'

/**
 * The name of the deployment's only Durable Object in which all cells share the blocks that they
 * read (`shared-blocks.ts`).
 */
export const sharedName = 'blocks'

/**
 * The name of the Durable Object that is the cell's scanner. It must never change: another name is
 * an object without the alarm and the stored state.
 */
export const scannerOf = ({ suffix }: Pick<CellConfig, 'suffix'>): string => scannerName + suffix

/**
 * The name of the Durable Object that delivers the cell's events to the endpoint with this key
 * (`EndpointKey`).
 */
export const endpointOf = ({ suffix }: Pick<CellConfig, 'suffix'>, key: string): string => key + suffix

/**
 * Finds the cell of the Durable Object with this name; null if its cell was removed from `CELLS`.
 */
export function cellOfObject(cells: readonly CellConfig[], name: string | undefined): CellConfig | null {
  if (cells.length === 1) return cells[0] ?? null
  const [, suffix = ''] = /^[^ ]+( .+)?$/.exec(name ?? ' ') ?? []
  return cells.find((cell) => cell.suffix === suffix && name !== undefined) ?? null
}
