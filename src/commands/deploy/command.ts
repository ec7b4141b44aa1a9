import { parseArgs } from 'node:util'
import { serviceVersion } from '../../worker/platform/version.ts'
import { sourcesOf } from '../cells.ts'
import type { CommandOutput } from '../command-output.ts'
import { type ConfigurationSource, readConfiguration } from '../configuration.ts'
import { databaseOptions, loginAdvice } from '../database.ts'
import { addressesOf, serviceOption } from '../deployed-health.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { environmentOf, placeOptions } from '../place.ts'
import { runTool } from '../run-tool.ts'
import { configurationAdvice, describeTargets } from '../target.ts'
import { OptionError, orRefuse, orStop, ToolError } from '../tool-error.ts'
import { deployMsMax, runWrangler } from '../wrangler.ts'
import { confirmDeployed, confirmMsMax, describeService, printedUrls } from './confirm.ts'
import { type DeployPlan, describePlan, describeWayBack, isSameVersion, readPlan, refuseUnfit } from './plan.ts'

const deployOptions = { ...placeOptions, ...serviceOption, 'dry-run': { type: 'boolean', default: false } } as const
const deploy = {
  usage: 'npm run deploy -- --production | --env <name> [--service <url>] [--dry-run]',
  options: Object.keys(deployOptions),
}
const migrate = {
  usage: 'npm run db:migrate [-- --production | --env <name>]',
  options: Object.keys(placeOptions),
}

/**
 * Runs `npm run deploy` with these options: says what it will do, does it, and asks the deployment
 * whether it is done. Returns the exit code.
 */
export function runDeploy(args: readonly string[], output: CommandOutput, platform: CommandPlatform): Promise<number> {
  const print = (line: string) => output.stdout.write(`${line}\n`)
  return runTool(deploy, args, output, async () => {
    const { service, 'dry-run': isDry, ...place } = parseArgs({ args: [...args], options: deployOptions }).values
    const env = environmentOf(place)
    if (env === undefined) throw new OptionError('which deployment?')
    addressesOf(service, [])
    const cells = open(env, output)
    const [first] = cells
    if (first === undefined) throw new Error('there is at least one cell')
    const urls = addressesOf(service, first.worker.urls)
    const plan = await readPlan(env, cells, urls, platform)
    for (const line of describePlan(plan)) print(line)
    for (const line of await refuseUnfit(plan, first)) print(line)
    const back = describeWayBack(env, plan, first)
    print(back)
    if (isDry) {
      await run('The Worker could not be built', ['deploy', '--dry-run', `--env=${env}`], output)
      print('Nothing was changed: --dry-run was given.')
      return 0
    }
    await applyMigrations(cells, output)
    // The message is "not completed", because the new version may be running: wrangler sets the
    // cron trigger after that version.
    const failure = 'The migrations are applied, but the deployment was not completed'
    const printed = await run(failure, ['deploy', `--env=${env}`, `--tag=${serviceVersion}`], output)
    const asked = service === undefined ? [...urls, ...printedUrls(printed)] : urls
    print(await confirm(asked, plan, back, platform))
    print(back)
    return 0
  })
}

/**
 * The sentence about a deployment that shows the new version. Throws a `ToolError` if it does not.
 */
async function confirm(
  urls: readonly string[],
  plan: DeployPlan,
  back: string,
  platform: CommandPlatform,
): Promise<string> {
  const expected = `version ${serviceVersion}, newest migration ${plan.migration}`
  if (urls.length === 0) return `Deployed, and not asked: no address is known. GET /health must show ${expected}.`
  const answer = await confirmDeployed(urls, plan.migration, platform)
  if (!answer.ok) {
    throw new ToolError(
      `The deployment is completed, but ${confirmMsMax / 1000} s later it does not show ${expected}: ${answer.error}`,
      `look at its log (npx wrangler tail), and ask GET /health again. ${back.replace(/\.$/, '')}`,
    )
  }
  const doubt = isSameVersion(plan) ? '. The upload before had the same version, so the answer may be its own' : ''
  return `Deployed: ${describeService(answer.value)}${doubt}.`
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
  const read = orStop(readConfiguration(env, process.env), configurationAdvice)
  const source = env === undefined ? read : asDeployed(read)
  const cells = orRefuse(sourcesOf(source))
  stdout.write(`${describeTargets(cells, env === undefined ? source.values : source.vars)}\n`)
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

/**
 * The configuration as a deployment has it: a variable of wrangler.toml counts before the file of
 * the secrets and the environment, which wrangler does not read for a deployment.
 */
function asDeployed(source: ConfigurationSource): ConfigurationSource {
  if (!source.isDeployment) return source
  const values = { ...source.values, ...source.vars }
  return { ...source, values, all: values }
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

/**
 * A stream that passes lines on, without the values of variables, of which wrangler shows the
 * beginnings. `end` passes on what is left without a line break.
 */
function withoutValues(shownOn: CommandOutput['stdout']) {
  let rest = ''
  const pass = (text: string) => shownOn.write(text.replace(/^(env\.\w+) \(.*\)(?=\s+Environment Variable)/gm, '$1'))
  return {
    write(chunk: string | Uint8Array) {
      const lines = rest + (typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk))
      const end = lines.lastIndexOf('\n') + 1
      rest = lines.slice(end)
      if (end > 0) pass(lines.slice(0, end))
    },
    end() {
      if (rest !== '') pass(rest)
    },
  }
}

/** Runs one wrangler command, and returns what it printed. Throws a `ToolError` if it fails. */
async function run(failure: string, args: readonly string[], shownOn: CommandOutput): Promise<string> {
  shownOn.stdout.write(`> wrangler ${args.join(' ')}\n`)
  const [stdout, stderr] = [withoutValues(shownOn.stdout), withoutValues(shownOn.stderr)]
  const { code, output, failure: reason } = await runWrangler(args, deployMsMax, { stdout, stderr })
  for (const stream of [stdout, stderr]) stream.end()
  if (code === 0) return output
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
