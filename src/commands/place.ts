import type { WranglerTarget } from './configuration.ts'
import { OptionError } from './tool-error.ts'

/** The names of the public networks by chain id (PROTOCOL.md, Chain identity). */
export const publicNetworks: ReadonlyMap<string, string> = new Map([
  ['0x2b6653dc', 'mainnet'],
  ['0xcd8690dc', 'Nile'],
  ['0x94a9059e', 'Shasta'],
])

/** The options that choose the target of a command. */
export const placeOptions = {
  production: { type: 'boolean', default: false },
  env: { type: 'string', short: 'e' },
} as const

/** The option that chooses the cell, for commands that act on one. */
export const cellOption = { cell: { type: 'string' } } as const

/** The environment that options name ('' is the top level, as for wrangler), or undefined: this machine. */
export function environmentOf(options: {
  readonly production?: boolean
  readonly env?: string | undefined
}): string | undefined {
  if (options.production && options.env !== undefined) throw new OptionError('either --production or --env')
  if (options.env === '') throw new OptionError('--env: the name of an environment in wrangler.toml')
  return options.production ? '' : options.env
}

/** The environment and the cell on which a command acts. */
export type PlaceRef = Pick<WranglerTarget, 'env' | 'cell'>

/** The options that name a target in a printed command. They begin with a space, or are empty for this machine with its only cell. */
export function optionOf(target: PlaceRef): string {
  const { env } = target
  const place = env === undefined ? '' : env === '' ? ' --production' : ` --env ${env}`
  return place + cellOptionOf(target)
}

/** The option that names a cell in a printed command. It begins with a space, or is empty for the only cell. */
export function cellOptionOf({ cell }: Pick<PlaceRef, 'cell'>): string {
  return cell === null ? '' : ` --cell ${cell.number}`
}

/** The path of a request, with the cell that it concerns. The only cell is not named. */
export function pathIn({ cell }: Pick<PlaceRef, 'cell'>, path: string): string {
  return cell === null ? path : `${path}${path.includes('?') ? '&' : '?'}cell=${cell.number}`
}

/** A command that acts on a target, as typed, without other options. */
export function commandIn(target: PlaceRef, name: string): string {
  const options = optionOf(target)
  return options === '' ? `npm run ${name}` : `npm run ${name} --${options}`
}

/** Names a chain by its id and, if it has one, by its name. Null stands for a configuration without a chain. */
export function describeChain(chainId: string | null): string {
  if (chainId === null) return 'no chain (TRON_CHAIN_ID is not set)'
  const network = publicNetworks.get(chainId)
  return `chain ${chainId}${network === undefined ? '' : ` (${network})`}`
}
