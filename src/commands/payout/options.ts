import { parseArgs } from 'node:util'
import { cellOption, placeOptions } from '../place.ts'
import { OptionError } from '../tool-error.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
/** Every option of `npm run payout`. `commands` below says which command accepts which. */
export const payoutOptions = {
  ...placeOptions,
  ...cellOption,
  service: text,
  token: text,
  limits: text,
  journal: text,
  'new-journal': flag,
  'backend-keys': text,
  again: { type: 'string', multiple: true },
  path: text,
  minutes: text,
  out: text,
  stdin: flag,
  'beside-network': flag,
} as const

/** The options as they were typed. No value is checked yet. */
export type PayoutOptions = ReturnType<typeof parseOptions>['values']

function parseOptions(args: readonly string[]) {
  return parseArgs({ args: [...args], options: payoutOptions, allowPositionals: true })
}

const place = Object.keys({ ...placeOptions, ...cellOption })
const remote = [...place, 'service', 'token']
const signing = [...place, 'limits', 'journal', 'new-journal', 'backend-keys', 'again', 'path', 'minutes', 'stdin']
const commands = {
  run: { takes: [...signing, 'service', 'token'], takesFile: false },
  fetch: { takes: [...remote, 'out', 'again'], takesFile: false },
  sign: { takes: [...signing, 'out', 'beside-network'], takesFile: true },
  submit: { takes: remote, takesFile: true },
} as const

/**
 * Parses the command, its file and its options. Throws an `OptionError`, or node's
 * `ERR_PARSE_ARGS_…`.
 */
export function readCommand(args: readonly string[]): {
  readonly command: keyof typeof commands
  readonly file: string
  readonly values: PayoutOptions
} {
  const { values, positionals } = parseOptions(args)
  const [word = '', file, ...rest] = positionals
  const isCommand = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name)
  if (!isCommand(word)) throw new OptionError('which command?')
  const { takes, takesFile } = commands[word]
  if ((file !== undefined) !== takesFile || rest.length > 0)
    throw new OptionError(takesFile ? `${word}: which file?` : `${word} takes no file`)
  const ignored = Object.entries(values).find(([name, value]) => value !== false && !takes.includes(name))
  if (ignored !== undefined) throw new OptionError(`${word} takes no --${ignored[0]}`)
  return { command: word, file: file ?? '', values }
}
