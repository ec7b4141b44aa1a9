import { err, ok, type Result } from '../worker/common/result.ts'
import { parseChainId } from '../worker/config/chain.ts'
import { type Config, parseConfig } from '../worker/config/config.ts'
import { type ConfigurationSource, platformBindings, readConfiguration } from './configuration.ts'
import { commandIn, describeChain } from './place.ts'
import type { Target } from './target-apart.ts'
import { orStop, ToolError, type ToolRefusal } from './tool-error.ts'

/** The first line of a command, which names its target. */
export function describeTarget({ place, values }: Pick<ConfigurationSource, 'place' | 'values'>): string {
  const { env, databaseName, databaseId } = place
  const where = env === undefined ? 'this machine' : env === '' ? 'production' : `the environment ${env}`
  const database = databaseName === null ? 'no database' : `database ${databaseName} (${databaseId ?? 'without an id'})`
  return `Acts on ${where}: ${database}, ${describeChain(chainIn({ values }))}.`
}

/** The chain id of a configuration, or null if it has none. */
function chainIn({ values }: Pick<ConfigurationSource, 'values'>): string | null {
  return parseChainId(String(values.TRON_CHAIN_ID ?? ''))
}

/** Reads the target of a command, or fails with the reason. It loads wrangler into this process; `target-apart.ts` avoids that. */
export function readTarget(env: string | undefined): Result<Target, ToolRefusal> {
  const source = readConfiguration(env, process.env)
  if (!source.ok) return err({ why: source.error, next: configurationAdvice })
  const { values } = source.value
  return ok({ line: describeTarget(source.value), chainId: chainIn({ values }), values })
}

/** Prints the first line, and returns the configuration of a deployment (undefined: this machine). */
export function openTarget(env: string | undefined, print: (line: string) => void): ConfigurationSource {
  const source = orStop(readConfiguration(env, process.env), configurationAdvice)
  print(describeTarget(source))
  return source
}

/** Prints the first line, and returns the configuration of a deployment (undefined: this machine) as the service itself parses it. */
export function openDeployment(
  env: string | undefined,
  print: (line: string) => void,
): { readonly config: Config; readonly extendedPublicKey: string } {
  const { values, varsFile } = openTarget(env, print)
  const config = parseConfig({ ...values, ...platformBindings })
  if (!config.ok) {
    const next = `set these in wrangler.toml, or in ${varsFile} if they are secrets; "${commandIn(env, 'doctor')}" checks all of them`
    throw new ToolError(config.error.join('; '), next)
  }
  return { config: config.value, extendedPublicKey: String(values.TRON_XPUB) } // parsed, so it is text
}

/** The remedy for a configuration that cannot be read. */
export const configurationAdvice =
  'run the command in the folder of wrangler.toml, and correct that file; docs/start.md, "On a real network", says what it needs'
