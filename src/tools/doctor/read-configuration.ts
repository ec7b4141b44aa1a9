import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unstable_getVarsForDev as readVars } from 'wrangler'
import { ok, type Result } from '../../common/result.ts'
import type { Bindings } from '../../config/schemas.ts'
import { attempt, readWranglerConfig, type WranglerConfig } from '../deploy/wrangler-config.ts'

/** A configuration as it was read, not parsed yet. */
export interface ConfigurationSource extends Pick<WranglerConfig, 'database' | 'objectFaults'> {
  readonly isDeployment: boolean
  readonly values: Bindings
  /** The files that it is from, and the names of the variables that this process's environment sets. */
  readonly origin: string
  /** The file for the secrets; it may not exist. */
  readonly varsFile: string
}

/** What only the platform binds: the checks and tools have no database and no objects. */
export const platformBindings = {
  DB: { prepare: () => null, batch: () => null },
  SCANNER: { getByName: () => null },
  ENDPOINT: { getByName: () => null },
}

/** The variables of the service, by what their names have in common. */
const variablePattern =
  /^(TRON_|AUTH_|BACKEND_|CURRENCIES$|OPERATOR_ADDRESSES$|CORS_ORIGINS$|WEBHOOKS$|SCAN_EVERY_SECONDS$|EVENTS_KEEP_DAYS$|DEV_UID$)/

/**
 * Reads wrangler.toml of the working directory and the file for the secrets, which overrides it. Without `env` these are
 * the settings of `wrangler dev` on this machine, with `.dev.vars`. Otherwise they are those of a deployment (the top
 * level is ''), with `.dev.vars.<env>` or `.dev.vars.production`, because the platform does not return secrets.
 * `environment`, this process's variables, overrides both.
 */
export function readConfiguration(
  env: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Result<ConfigurationSource, string> {
  const config = readWranglerConfig(env)
  if (!config.ok) return config
  const { configPath, vars, secrets, database, objectFaults } = config.value
  const isDeployment = env !== undefined
  const suffix = isDeployment ? env || 'production' : undefined
  const varsFile = isDeployment ? `.dev.vars.${suffix}` : '.dev.vars'
  const hasFile = existsSync(join(dirname(configPath), varsFile))
  // Without a file of its own, a deployment must not get .dev.vars of this machine: wrangler would fall back to it.
  const isRead = hasFile || !isDeployment
  const bindings = attempt(() => (isRead ? readVars(configPath, undefined, vars, suffix, true, secrets) : {}))
  if (!bindings.ok) return bindings
  const values: Record<string, unknown> = { ...vars }
  for (const [name, { value }] of Object.entries(bindings.value)) values[name] = value
  const names = new Set([
    ...Object.keys(environment).filter((name) => variablePattern.test(name)),
    ...secretNames(environment.TRON_NODES || values.TRON_NODES),
    ...secretNames(environment.WEBHOOKS || values.WEBHOOKS),
  ])
  const overridden = [...names].filter((name) => (environment[name] ?? '') !== '')
  for (const name of overridden) values[name] = environment[name]
  const origin = [env ? `${basename(configPath)} [env.${env}]` : basename(configPath), ...(hasFile ? [varsFile] : [])]
  if (overridden.length > 0) origin.push(`environment variables (${overridden.join(', ')})`)
  return ok({ isDeployment, values, origin: origin.join(', '), varsFile, database, objectFaults })
}

/** The names of the variables with the keys of nodes or the secrets of endpoints, which are an array or its JSON text. */
function secretNames(list: unknown): string[] {
  const json = typeof list === 'string' ? list : JSON.stringify(list ?? [])
  return [...json.matchAll(/"(?:key|secret)Var"\s*:\s*"([^"]+)"/g)].flatMap(([, name]) => name ?? [])
}
