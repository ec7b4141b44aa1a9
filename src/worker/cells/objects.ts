import type { CellConfig } from './parse-cells.ts'

/** The name of a deployment's only scanner. */
const scannerName = 'scanner'

/** The name of the only object with what the cells share. */
export const sharedName = 'blocks'

/** The name of the cell's scanner. */
export const scannerOf = ({ suffix }: Pick<CellConfig, 'suffix'>): string => scannerName + suffix

/** The name of the object that delivers the cell's events to the endpoint with this key. */
export const endpointOf = ({ suffix }: Pick<CellConfig, 'suffix'>, key: string): string => key + suffix

/** The cell of an object, by its name; null if no cell has such an object any more. */
export function cellOfObject(cells: readonly CellConfig[], name: string | undefined): CellConfig | null {
  if (cells.length === 1) return cells[0] ?? null
  const [, suffix = ''] = /^[^ ]+( .+)?$/.exec(name ?? ' ') ?? []
  return cells.find((cell) => cell.suffix === suffix && name !== undefined) ?? null
}
