import { parseArgs } from 'node:util'
import type { CommandOutput } from '../command-output.ts'
import { readWranglerConfig } from '../configuration.ts'
import { databaseOptions, loginAdvice } from '../database.ts'
import { environmentOf, placeOptions } from '../place.ts'
import { runTool } from '../run-tool.ts'
import { configurationAdvice, describeTarget } from '../target.ts'
import { OptionError, orStop, ToolError } from '../tool-error.ts'
import { deployMsMax, runWrangler } from '../wrangler.ts'

const options = Object.keys(placeOptions)
const deploy = { usage: 'npm run deploy -- --production | --env <name>', options }
const migrate = { usage: 'npm run db:migrate [-- --production | --env <name>]', options }

/** Runs `npm run deploy` with these options. Returns the exit code. */
export function runDeploy(args: readonly string[], output: CommandOutput): Promise<number> {
  return runTool(deploy, args, output, async () => {
    const env = readPlace(args)
    if (env === undefined) throw new OptionError('which deployment?')
    open(env, output)
    await run('The migrations could not be applied', migrateArgs(env), output)
    // wrangler deploys in several steps: the new version may be running although its cron trigger could not be set.
    await run('The migrations are applied, but the deployment was not completed', ['deploy', `--env=${env}`], output)
    return 0
  })
}

/** Runs `npm run db:migrate` with these options. Returns the exit code. */
export function runMigrate(args: readonly string[], output: CommandOutput): Promise<number> {
  return runTool(migrate, args, output, async () => {
    const env = readPlace(args)
    open(env, output)
    await run('The migrations could not be applied', migrateArgs(env), output)
    return 0
  })
}

const migrateArgs = (env: string | undefined) => ['d1', 'migrations', 'apply', 'DB', ...databaseOptions(env)]

/** The environment that the options name. Other options are refused, because they mean something else in each step. */
function readPlace(args: readonly string[]): string | undefined {
  return environmentOf(parseArgs({ args: [...args], options: placeOptions }).values)
}

/** Prints the first line, and checks for database and objects before the first step. Wrangler would notice a missing one later and less clearly. */
function open(env: string | undefined, { stdout }: CommandOutput): void {
  const { vars, place, database, objectFaults } = orStop(readWranglerConfig(env), configurationAdvice)
  stdout.write(`${describeTarget({ place, values: vars })}\n`)
  const section = env ? `wrangler.toml, [env.${env}],` : 'wrangler.toml'
  if (database === 'missing') {
    throw new ToolError(
      `${section} has no D1 database with the binding DB and a database_id`,
      'create one with "npx wrangler d1 create <name>", and put what it prints there, with binding = "DB"',
    )
  }
  if (env === undefined) return
  if (database === 'placeholder') {
    throw new ToolError(
      `database_id in ${section} is a placeholder`,
      'put the id there that "npx wrangler d1 create <name>" prints',
    )
  }
  if (objectFaults.length > 0) {
    throw new ToolError(
      `${section} has ${objectFaults.join(', and ')}`,
      'take these sections over from the one that is delivered',
    )
  }
}

/** A reported fault of D1's endpoint for migrations: it splits a trigger at a semicolon inside it (cloudflare/workers-sdk#15690). */
const splitAdvice = {
  pattern: /incomplete input/,
  text: 'D1 has cut a trigger apart; docs/guides/repair.md has the way round, "A migration that D1 refuses"',
}

/** Runs one wrangler command, and stops if it fails. */
async function run(failure: string, args: readonly string[], shownOn: CommandOutput): Promise<void> {
  shownOn.stdout.write(`> wrangler ${args.join(' ')}\n`)
  const { code, output, failure: reason } = await runWrangler(args, deployMsMax, shownOn)
  if (code === 0) return
  if (reason !== null) {
    const next = 'run "npm ci" if that was not done here, then this command again: it does only what is missing'
    throw new ToolError(`${failure}: ${reason}`, next)
  }
  const known = [loginAdvice, splitAdvice].find(({ pattern }) => pattern.test(output))
  const next =
    known?.text ??
    'correct what the output of wrangler above says, and run this command again: it does only what is missing'
  throw new ToolError(failure, next)
}
