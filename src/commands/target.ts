import { err, ok, type Result } from '../worker/common/result.ts'
import { describeUsers } from '../worker/common/user-range.ts'
import { parseChainId } from '../worker/config/chain.ts'
import type { Config } from '../worker/config/config.ts'
import type { Bindings } from '../worker/config/schemas.ts'
import { parseSource, sourceOfCell } from './cells.ts'
import { type ConfigurationSource, readConfiguration } from './configuration.ts'
import { commandIn, describeChain, type Place } from './place.ts'
import type { Target } from './target-apart.ts'
import { orRefuse, ToolError, type ToolRefusal } from './tool-error.ts'

/** The first line of a command: the deployment or this machine, the database, and the chain. */
export function describeTarget({ place, values }: Pick<ConfigurationSource, 'place' | 'values'>): string {
  const { env, cell } = place
  const ofCell = cell === null ? '' : `, cell ${cell.number} (${describeUsers(cell.users)})`
  return `Acts on ${whereOf(env)}${ofCell}: ${describeDatabase(place)}, ${describeChain(chainIn({ values }))}.`
}

/** The first line of a command that acts on the database of each cell. */
export function describeTargets(cells: readonly ConfigurationSource[], values: Bindings): string {
  const list = cells.map(({ place }) => {
    const ofCell = place.cell === null ? '' : `cell ${place.cell.number}, `
    return ofCell + describeDatabase(place)
  })
  return `Acts on ${whereOf(cells[0]?.place.env)}: ${list.join('; ')}, ${describeChain(chainIn({ values }))}.`
}

function whereOf(env: string | undefined): string {
  return env === undefined ? 'this machine' : env === '' ? 'production' : `the environment ${env}`
}

const describeDatabase = ({ databaseName, databaseId }: Place) =>
  databaseName === null ? 'no database' : `database ${databaseName} (${databaseId ?? 'without an id'})`

/** The chain id of a configuration, or null if it has none. */
function chainIn({ values }: Pick<ConfigurationSource, 'values'>): string | null {
  return parseChainId(String(values.TRON_CHAIN_ID ?? ''))
}

/**
 * Reads the configuration of a deployment (`env` undefined: of this machine), or that of the
 * deployment's cell that `--cell` names.
 */
function readSource(env: string | undefined, cell: string | undefined): Result<ConfigurationSource, ToolRefusal> {
  const source = readConfiguration(env, process.env)
  return source.ok ? sourceOfCell(source.value, cell) : err({ why: source.error, next: configurationAdvice })
}

/**
 * Reads the target of a command, or fails with the reason. It loads wrangler into this process;
 * `target-apart.ts` avoids that.
 */
export function readTarget(env: string | undefined, cell: string | undefined): Result<Target, ToolRefusal> {
  const source = readSource(env, cell)
  if (!source.ok) return source
  const { values, place } = source.value
  return ok({ line: describeTarget(source.value), place, chainId: chainIn({ values }), values })
}

/**
 * Prints the first line, and returns the configuration of a deployment (`env` undefined: of this
 * machine), or that of its cell that `--cell` names.
 */
export function openTarget(
  env: string | undefined,
  cell: string | undefined,
  print: (line: string) => void,
): ConfigurationSource {
  const source = orRefuse(readSource(env, cell))
  print(describeTarget(source))
  return source
}

/**
 * Prints the first line, as `openTarget` does, and parses the configuration as the service does.
 * Throws a `ToolError` with all its faults.
 */
export function openDeployment(
  env: string | undefined,
  cell: string | undefined,
  print: (line: string) => void,
): { readonly config: Config; readonly extendedPublicKey: string; readonly place: Place } {
  const source = openTarget(env, cell, print)
  const { values, varsFile, place } = source
  const config = parseSource(source)
  if (!config.ok) {
    const next = `set these in wrangler.toml, or in ${varsFile} if they are secrets; "${commandIn(place, 'doctor')}" checks all of them`
    throw new ToolError(config.error.join('; '), next)
  }
  // `TRON_XPUB` is a text, because it could be parsed
  return { config: config.value, extendedPublicKey: String(values.TRON_XPUB), place }
}

/** The remedy for a configuration that cannot be read. */
export const configurationAdvice =
  'run the command in the folder of wrangler.toml, and correct that file; docs/start.md, "On a real network", says what it needs'
