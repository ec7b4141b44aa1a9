import { parseArgs } from 'node:util'
import { ToolError } from '../tool-error.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  env: text,
  production: flag,
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

/** The options of all commands, as they were typed. */
export type PayoutOptions = ReturnType<typeof parseOptions>['values']

function parseOptions(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true })
}

const place = ['env', 'production']
const remote = [...place, 'service', 'token']
const signing = [...place, 'limits', 'journal', 'new-journal', 'backend-keys', 'again', 'path', 'minutes', 'stdin']
/** The options that each command takes, and whether it takes a file. */
const commands: Readonly<Record<string, { readonly takes: readonly string[]; readonly takesFile: boolean }>> = {
  run: { takes: [...new Set([...signing, ...remote])], takesFile: false },
  fetch: { takes: [...remote, 'out'], takesFile: false },
  sign: { takes: [...signing, 'out', 'beside-network'], takesFile: true },
  submit: { takes: remote, takesFile: true },
}

/** The command, its file and its options, or null if there is no such command. An unknown option throws node's `ERR_PARSE_ARGS_…`. */
export function readCommand(
  args: readonly string[],
): { readonly command: string; readonly file: string; readonly values: PayoutOptions } | null {
  const { values, positionals } = parseOptions(args)
  const [command = '', ...files] = positionals
  const known = commands[command]
  if (known === undefined || files.length !== (known.takesFile ? 1 : 0)) return null
  const ignored = Object.entries(values).find(([name, value]) => value !== false && !known.takes.includes(name))
  if (ignored !== undefined) throw new ToolError(`${command} takes no --${ignored[0]}`)
  return { command, file: files[0] ?? '', values }
}

/** Options that npm takes for the beginning of a name of its own (npm 10 and 11, tried in November 2026). */
const otherNames: Readonly<Record<string, string>> = { token: 'token_description' }

/**
 * Refuses options that npm has kept for itself, since `--` was left out: without them the command would act on something else. npm
 * hands them on in the environment, and its own `--production` as `NODE_ENV` alone.
 */
export function refuseSwallowed(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const isSwallowed = (name: string) =>
    [name.replaceAll('-', '_'), otherNames[name]].some((one) => environment[`npm_config_${one}`] !== undefined)
  const isRunByNpm = environment.npm_lifecycle_event !== undefined
  const isProduction = isRunByNpm && environment.NODE_ENV === 'production' && !args.includes('--production')
  const swallowed = isProduction ? 'production' : Object.keys(options).find(isSwallowed)
  if (swallowed === undefined) return
  throw new ToolError(`npm has kept --${swallowed} for itself: write "npm run payout -- …", with -- before the command`)
}
