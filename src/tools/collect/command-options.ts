import { parseArgs } from 'node:util'
import { ToolError } from '../keys/terminal.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  to: text,
  currency: text,
  min: text,
  'trx-price': text,
  gas: text,
  'gas-from': text,
  account: text,
  'from-index': text,
  'to-index': text,
  hours: text,
  out: text,
  file: text,
  env: text,
  production: flag,
  scan: flag,
  stdin: flag,
} as const

/** The options of all three commands, as they were typed. */
export type CollectOptions = ReturnType<typeof parseOptions>['values']

/** The options and the other words of a command line. An unknown option throws node's `ERR_PARSE_ARGS_…`. */
export function parseOptions(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true })
}

/** The environment of a deployment for the configuration ('' is the top level), or undefined: this machine. */
export function environmentOf({ production, env }: Pick<CollectOptions, 'production' | 'env'>): string | undefined {
  if (production && env !== undefined) throw new ToolError('either --production or --env')
  return production ? '' : env
}
