import { parseArgs } from 'node:util'
import { err, type Result } from '../../common/result.ts'
import { runWrangler, type WranglerRun } from '../deploy/run-wrangler.ts'

// What the commands that change stored data have in common.

/** Options whose values are texts, and the environment whose database is meant: undefined for this machine's, '' for the top level. */
export interface CommandOptions {
  readonly env: string | undefined
  readonly words: readonly string[]
  readonly values: Readonly<Record<string, string | undefined>>
}

/** Reads `--production`, `--env` and the options of these names, or one sentence: what is wrong. */
function readOptions(
  args: readonly string[],
  names: readonly string[],
  takesWords: boolean,
): Result<CommandOptions, string> {
  const text = { type: 'string' } as const
  const own = Object.fromEntries(names.map((name) => [name, text]))
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...own, env: text, production: { type: 'boolean' } },
      allowPositionals: takesWords,
    })
    const { env, production, ...rest } = values
    if (production === true && env !== undefined) return err('either --env or --production')
    const given = rest as Readonly<Record<string, string | undefined>> // safe: all of them are texts
    const place = production === true ? '' : (env as string | undefined) // safe: as above
    return { ok: true, value: { env: place, words: positionals, values: given } }
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}

/** A command: what it needs, and what it does. */
export interface Command<T> {
  readonly usage: string
  /** The names of its options. */
  readonly options: readonly string[]
  /** Whether it takes words beside its options. */
  readonly takesWords?: boolean
  /** What the options ask for, or one sentence: what is wrong with them. */
  readonly parse: (options: CommandOptions) => Result<T, string>
  /** What it prints, or why nothing is changed. */
  readonly run: (wanted: T, env: string | undefined) => Promise<Result<string, string>>
}

/** Runs a command. Exit codes: 0 done, 1 refused, 2 wrong options. */
export async function runCommand<T>(
  { usage, options, takesWords = false, parse, run }: Command<T>,
  args: readonly string[],
): Promise<number> {
  const given = readOptions(args, options, takesWords)
  const wanted = given.ok ? parse(given.value) : given
  if (!given.ok || !wanted.ok) {
    process.stderr.write(`${wanted.ok ? '' : wanted.error}\n${usage}\n`)
    return 2
  }
  const result = await run(wanted.value, given.value.env)
  if (result.ok) process.stdout.write(`${result.value}\n`)
  else process.stderr.write(`Nothing is changed: ${result.error}\n`)
  return result.ok ? 0 : 1
}

/** Runs a statement on the database of an environment ('' is the top level), or on this machine's where it is undefined. */
export function executeSql(env: string | undefined, sql: string): Promise<WranglerRun> {
  const place = env === undefined ? ['--local', '--env='] : ['--remote', `--env=${env}`]
  return runWrangler(['d1', 'execute', 'DB', ...place, '--json', '--command', sql], { isShown: false })
}

/** What wrangler wrote about a failure, or a hint. */
export function explainFailure({ output }: WranglerRun): string {
  return output.trim() || 'wrangler did not start. Run "npm ci" first.'
}
