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

/** The environment that options name ('' is the top level, as for wrangler), or undefined: this machine. */
export function environmentOf(options: {
  readonly production?: boolean
  readonly env?: string | undefined
}): string | undefined {
  if (options.production && options.env !== undefined) throw new OptionError('either --production or --env')
  if (options.env === '') throw new OptionError('--env: the name of an environment in wrangler.toml')
  return options.production ? '' : options.env
}

/** The options for an environment in a printed command. It begins with a space, or is empty for this machine. */
export function optionOf(env: string | undefined): string {
  if (env === undefined) return ''
  return env === '' ? ' --production' : ` --env ${env}`
}

/** A command without other options, as typed for an environment. */
export function commandIn(env: string | undefined, name: string): string {
  return env === undefined ? `npm run ${name}` : `npm run ${name} --${optionOf(env)}`
}

/** A chain by its id, with its name if it has one; null stands for a configuration without a chain. */
export function describeChain(chainId: string | null): string {
  if (chainId === null) return 'no chain (TRON_CHAIN_ID is not set)'
  const network = publicNetworks.get(chainId)
  return `chain ${chainId}${network === undefined ? '' : ` (${network})`}`
}
