import { parseArgs } from 'node:util'
import { sourcesOf } from '../cells.ts'
import type { CommandOutput } from '../command-output.ts'
import { type ConfigurationSource, readConfiguration } from '../configuration.ts'
import { databaseOptions, loginAdvice } from '../database.ts'
import { environmentOf, placeOptions } from '../place.ts'
import { runTool } from '../run-tool.ts'
import { configurationAdvice, describeTargets } from '../target.ts'
import { OptionError, orRefuse, orStop, ToolError } from '../tool-error.ts'
import { deployMsMax, runWrangler } from '../wrangler.ts'

const options = Object.keys(placeOptions)
const deploy = { usage: 'npm run deploy -- --production | --env <name>', options }
const migrate = { usage: 'npm run db:migrate [-- --production | --env <name>]', options }

/** Runs `npm run deploy` with these options. Returns the exit code. */
export function runDeploy(args: readonly string[], output: CommandOutput): Promise<number> {
  return runTool(deploy, args, output, async () => {
    const env = readEnvironment(args)
    if (env === undefined) throw new OptionError('which deployment?')
    await applyMigrations(open(env, output), output)
    // The message is "not completed", because the new version may be running: wrangler sets the
    // cron trigger after that version.
    await run('The migrations are applied, but the deployment was not completed', ['deploy', `--env=${env}`], output)
    return 0
  })
}

/** Runs `npm run db:migrate` with these options. Returns the exit code. */
export function runMigrate(args: readonly string[], output: CommandOutput): Promise<number> {
  return runTool(migrate, args, output, async () => {
    await applyMigrations(open(readEnvironment(args), output), output)
    return 0
  })
}

/**
 * Applies the missing migrations to the database of each cell in turn, and throws at the first
 * failure.
 */
async function applyMigrations(cells: readonly ConfigurationSource[], output: CommandOutput): Promise<void> {
  for (const { place } of cells) {
    const ofCell = place.cell === null ? '' : ` of cell ${place.cell.number} (database ${place.databaseName})`
    const args = ['d1', 'migrations', 'apply', place.binding, ...databaseOptions(place.env)]
    await run(`The migrations${ofCell} could not be applied`, args, output)
  }
}

/**
 * The environment that the options name. Other options are refused, because each wrangler command
 * would understand them differently.
 */
function readEnvironment(args: readonly string[]): string | undefined {
  return environmentOf(parseArgs({ args: [...args], options: placeOptions }).values)
}

/**
 * Prints the first line, which names the deployment, and checks databases and Durable Objects
 * before anything is done: wrangler would notice a missing one later and less clearly. Returns the
 * configuration of each cell.
 */
function open(env: string | undefined, { stdout }: CommandOutput): readonly ConfigurationSource[] {
  const source = orStop(readConfiguration(env, process.env), configurationAdvice)
  const cells = orRefuse(sourcesOf(source))
  stdout.write(`${describeTargets(cells, source.vars)}\n`)
  const section = env ? `wrangler.toml, [env.${env}],` : 'wrangler.toml'
  for (const { database, place } of cells) requireDatabase(section, database, place)
  const ids = cells.flatMap(({ place }) => place.databaseId ?? [])
  if (new Set(ids).size < ids.length) {
    throw new ToolError(
      `two cells of ${section} have the same database_id`,
      'give each cell a database of its own: "npx wrangler d1 create <name>" makes one',
    )
  }
  const { objectFaults } = source
  if (env !== undefined && objectFaults.length > 0) {
    throw new ToolError(
      `${section} has ${objectFaults.join(', and ')}`,
      'take these sections over from the one that is delivered',
    )
  }
  return cells
}

function requireDatabase(
  section: string,
  database: ConfigurationSource['database'],
  { env, cell, binding }: ConfigurationSource['place'],
): void {
  const ofCell = cell === null ? '' : ` (cell ${cell.number})`
  if (database === 'missing') {
    throw new ToolError(
      `${section} has no D1 database with the binding ${binding} and a database_id${ofCell}`,
      `create one with "npx wrangler d1 create <name>", and put what it prints there, with binding = "${binding}"`,
    )
  }
  if (env === undefined || database === 'set') return
  throw new ToolError(
    `database_id${ofCell === '' ? '' : ` of ${binding}${ofCell}`} in ${section} is a placeholder`,
    'put the id there that "npx wrangler d1 create <name>" prints',
  )
}

/**
 * A reported fault of D1's endpoint for migrations: the endpoint splits a trigger at a semicolon
 * inside the trigger (cloudflare/workers-sdk#15690).
 */
const splitAdvice = {
  pattern: /incomplete input/,
  text: 'D1 has cut a trigger apart; docs/guides/repair.md has the way round, "A migration that D1 refuses"',
}

/** Runs one wrangler command, and throws a `ToolError` if it fails. */
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
