import type { ChosenBy } from '../worker/cells/choose.ts'
import { OptionError } from './tool-error.ts'

/** The names of the public networks by chain id (PROTOCOL.md, Chain identity). */
export const publicNetworks: ReadonlyMap<string, string> = new Map([
  ['0x2b6653dc', 'mainnet'],
  ['0xcd8690dc', 'Nile'],
  ['0x94a9059e', 'Shasta'],
])

/** The options that choose the place of a command. */
export const placeOptions = {
  production: { type: 'boolean', default: false },
  env: { type: 'string', short: 'e' },
} as const

/** The option that chooses the cell, for commands that act on one cell. */
export const cellOption = { cell: { type: 'string' } } as const

/**
 * The environment that options name; '' is the top level of wrangler.toml, as for wrangler.
 * Undefined if the options name this machine.
 */
export function environmentOf(options: {
  readonly production?: boolean
  readonly env?: string | undefined
}): string | undefined {
  if (options.production && options.env !== undefined) throw new OptionError('either --production or --env')
  if (options.env === '') throw new OptionError('--env: the name of an environment in wrangler.toml')
  return options.production ? '' : options.env
}

/** Where a command acts: an environment and a cell of wrangler.toml, and its database. */
export interface Place {
  /** The environment of a deployment ('' is the top level), or undefined for this machine. */
  readonly env: string | undefined
  /** The cell on which the command acts; null if the deployment has only one. */
  readonly cell: ChosenBy | null
  /** The binding of the database: DB, unless `CELLS` names another. */
  readonly binding: string
  /** The name of the database; null if wrangler.toml has no such binding. */
  readonly databaseName: string | null
  /**
   * The id of the database; null if wrangler.toml has none. On this machine it is the id of the
   * preview database, if there is one.
   */
  readonly databaseId: string | null
}

/** The environment and the cell on which a command acts. */
export type PlaceRef = Pick<Place, 'env' | 'cell'>

/**
 * The options that name a place in a printed command. They begin with a space, or are empty for
 * this machine with its only cell.
 */
export function optionOf(place: PlaceRef): string {
  const { env } = place
  const option = env === undefined ? '' : env === '' ? ' --production' : ` --env ${env}`
  return option + cellOptionOf(place)
}

/**
 * The option that names a cell in a printed command. It begins with a space, or is empty for the
 * only cell.
 */
export function cellOptionOf({ cell }: Pick<PlaceRef, 'cell'>): string {
  return cell === null ? '' : ` --cell ${cell.number}`
}

/**
 * The path of a request, with the number of the cell that it concerns. If the deployment has only
 * one cell, the path stays as it is.
 */
export function pathIn({ cell }: Pick<PlaceRef, 'cell'>, path: string): string {
  return cell === null ? path : `${path}${path.includes('?') ? '&' : '?'}cell=${cell.number}`
}

/** A command that acts on a place, as typed, without other options. */
export function commandIn(place: PlaceRef, name: string): string {
  const options = optionOf(place)
  return options === '' ? `npm run ${name}` : `npm run ${name} --${options}`
}

/**
 * Names a chain by its id and, if it has one, by its name. Null stands for a configuration without
 * a chain.
 */
export function describeChain(chainId: string | null): string {
  if (chainId === null) return 'no chain (TRON_CHAIN_ID is not set)'
  const network = publicNetworks.get(chainId)
  return `chain ${chainId}${network === undefined ? '' : ` (${network})`}`
}
