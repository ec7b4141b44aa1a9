import { parseArgs } from 'node:util'
import type { CommandOutput } from '../command-output.ts'
import { readWranglerConfig } from '../configuration.ts'
import { loginAdvice, runWrangler } from '../database.ts'
import { orStop, ToolError } from '../tool-error.ts'

/** Runs `npm run deploy` with these options. Returns the exit code. */
export async function runDeploy(args: readonly string[], output: CommandOutput): Promise<number> {
  try {
    const env = readEnv(args)
    requireBindings(env)
    const migrate = ['d1', 'migrations', 'apply', 'DB', '--remote', `--env=${env}`]
    await run('The migrations could not be applied', migrate, output)
    // It has several steps of its own: the new version can run already, although its cron could not be set.
    await run('The migrations are applied, but the deployment was not completed', ['deploy', `--env=${env}`], output)
    return 0
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    output.stderr.write(`\nStopped: ${error.message}\n`)
    return 1
  }
}

/** The environment's name; '' is the top level. Other options are refused: their meaning differs between the steps. */
function readEnv(args: readonly string[]): string {
  try {
    return parseArgs({ args: [...args], options: { env: { type: 'string' } } }).values.env ?? ''
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown option'
    throw new ToolError(`${why}. Usage: npm run deploy [-- --env <name>]`)
  }
}

/** Finds a missing database or object before the first step; wrangler finds it later, and its message is less clear. */
function requireBindings(env: string): void {
  const { database, objectFaults } = orStop(readWranglerConfig(env))
  const section = env === '' ? 'wrangler.toml' : `wrangler.toml, [env.${env}],`
  if (database === 'missing')
    throw new ToolError(`${section} has no D1 database with the binding DB and a database_id.`)
  if (database === 'placeholder') {
    throw new ToolError(
      `database_id in ${section} is a placeholder: "npx wrangler d1 create <name>" prints the real one.`,
    )
  }
  if (objectFaults.length > 0) throw new ToolError(`${section} has ${objectFaults.join(', and ')}.`)
}

/** Reported of D1's endpoint for migrations: it cuts a trigger at a semicolon within it (cloudflare/workers-sdk#15690). */
const splitAdvice = {
  pattern: /incomplete input/,
  text: 'D1 has cut a trigger apart; src/guides/repair.md has the way round, "A migration that D1 refuses"',
}

/** Runs one wrangler command, and stops if it fails. */
async function run(failure: string, args: readonly string[], shownOn: CommandOutput): Promise<void> {
  shownOn.stdout.write(`> wrangler ${args.join(' ')}\n`)
  const { code, output } = await runWrangler(args, shownOn)
  if (code === 0) return
  if (output === '') throw new ToolError(`${failure}: wrangler did not start. Run "npm ci", then "npm run deploy".`)
  const known = [loginAdvice, splitAdvice].find(({ pattern }) => pattern.test(output))
  throw new ToolError(`${failure}: ${known?.text ?? 'the reason is in the output of wrangler above'}.`)
}
