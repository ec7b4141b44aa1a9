import { parseArgs } from 'node:util'
import { cellOption, placeOptions } from '../place.ts'

const barWidth = 30

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
/** The options of `plan`, `sign` and `send` together, in the form of node's `parseArgs`. */
export const collectOptions = {
  ...placeOptions,
  ...cellOption,
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
  scan: flag,
  stdin: flag,
} as const

/**
 * The options as typed. No value is checked yet, and each command may have any of them
 * (`findIgnored` refuses the others).
 */
export type CollectOptions = ReturnType<typeof parseOptions>['values']

/**
 * Splits a command line into options and other words. An unknown option throws node's
 * `ERR_PARSE_ARGS_…`.
 */
export function parseOptions(args: readonly string[]) {
  return parseArgs({ args: [...args], options: collectOptions, allowPositionals: true })
}

const optionsOf: Readonly<Record<string, readonly string[]>> = {
  plan: Object.keys(collectOptions).filter((name) => name !== 'stdin'),
  sign: ['to', 'out', 'stdin', 'production', 'env', 'cell'],
  send: ['production', 'env', 'cell'],
}

/**
 * Finds an option that the command would ignore, such as a currency for `send`, because the person
 * would believe that it has an effect.
 */
export function findIgnored(command: string, values: CollectOptions): string | undefined {
  return Object.entries(values).find(([name, value]) => value !== false && !optionsOf[command]?.includes(name))?.[0]
}

/**
 * Makes a function that shows progress: on a terminal one line that is overwritten, in a file a
 * line for each tenth of the work.
 */
export function createProgress(output: { readonly isTTY?: boolean; write(text: string): unknown }) {
  let shown = ''
  return (what: string, done: number, of: number): void => {
    if (of === 0) return
    const isTerminal = output.isTTY === true
    const key = `${what} ${isTerminal ? done : Math.floor((10 * done) / of)}`
    if (key === shown) return
    shown = key
    const bar = `[${'#'.repeat(Math.floor((barWidth * done) / of)).padEnd(barWidth, '-')}] ${done}/${of} ${what}`
    output.write(isTerminal ? `\r\u001b[K${bar}${done === of ? '\n' : ''}` : `${bar}\n`)
  }
}
