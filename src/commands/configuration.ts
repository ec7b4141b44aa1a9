import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Unstable_Config } from 'wrangler'
import type { ChosenBy } from '../worker/cells/choose.ts'
import { err, ok, type Result } from '../worker/common/result.ts'
import type { Bindings } from '../worker/config/schemas.ts'
import type { Place } from './place.ts'

/** Loads wrangler on first use, because that takes a second. */
const wrangler = (): typeof import('wrangler') => createRequire(import.meta.url)('wrangler')

/**
 * Runs a function of wrangler without output, because its messages would come before the first line
 * of the command, which names the place.
 */
function quietly<T>(read: () => T): T {
  const { WRANGLER_LOG: before } = process.env
  process.env.WRANGLER_LOG = 'none'
  try {
    return read()
  } finally {
    if (before === undefined) delete process.env.WRANGLER_LOG
    else process.env.WRANGLER_LOG = before
  }
}

/** The parts of wrangler.toml that commands use, for one environment. */
interface WranglerConfig extends Pick<Unstable_Config, 'vars' | 'secrets'>, DatabaseDescription {
  readonly configPath: string
  readonly worker: WorkerSections
  readonly databases: readonly BoundDatabase[]
  /** What wrangler.toml lacks for the Durable Objects: one phrase for each. */
  readonly objectFaults: readonly string[]
}

/** The database of a cell, in wrangler.toml. */
interface DatabaseDescription {
  readonly place: Place
  /**
   * Whether wrangler.toml has the `database_id` of the database. The id that `wrangler d1 create`
   * prints replaces the placeholder.
   */
  readonly database: 'set' | 'placeholder' | 'missing'
}

/** What wrangler.toml says of the Worker itself, beside its variables and databases. */
export interface WorkerSections {
  /** The folder of wrangler.toml. */
  readonly folder: string
  /** The addresses of the service that `routes` names, without a slash at their ends. */
  readonly urls: readonly string[]
  /** The bindings of R2 buckets. */
  readonly buckets: readonly string[]
  /** Whether a deployment keeps variables that wrangler.toml does not have (`keep_vars`). */
  readonly keepsVars: boolean
  /** The newest tag of `[[migrations]]`, the classes of Durable Objects; null without one. */
  readonly objectsTag: string | null
}

/** The members of a `[[d1_databases]]` section that commands read. */
interface BoundDatabase {
  readonly binding: string
  readonly database_name?: string
  readonly database_id?: string
  readonly preview_database_id?: string
  readonly migrations_dir?: string
}

/** The bindings of the Durable Objects, with their classes. */
const objects = [
  ['SCANNER', 'Scanner'],
  ['ENDPOINT', 'Endpoint'],
] as const

/**
 * Reads wrangler.toml of the working directory for `env`, as wrangler itself does; the top level is
 * ''.
 */
function readWranglerConfig(env: string | undefined): Result<WranglerConfig, string> {
  return attempt(() => {
    // The top level must be named: otherwise wrangler would use the variable CLOUDFLARE_ENV.
    const config = wrangler().unstable_readConfig({ env: env ?? '' }, { hideWarnings: true })
    const { configPath, vars, secrets, d1_databases, durable_objects, migrations } = config
    if (configPath === undefined) throw new Error('there is no wrangler.toml in this folder')
    // If wrangler.toml defines no environments, wrangler reads the top level for any name, and with
    // it the database of production.
    if (env && !config.definedEnvironments?.includes(env)) throw new Error(`wrangler.toml has no [env.${env}]`)
    const databases: readonly BoundDatabase[] = d1_databases
    const objectFaults = findObjectFaults(durable_objects, migrations)
    const worker = sectionsOf(dirname(configPath), config)
    const database = describeDatabase(databases, env, 'DB', null)
    return { configPath, vars, secrets, databases, ...database, objectFaults, worker }
  })
}

function sectionsOf(
  folder: string,
  { route, routes = [], r2_buckets, keep_vars, migrations }: Unstable_Config,
): WorkerSections {
  const patterns = [...(route === undefined ? [] : [route]), ...routes].map((one) =>
    typeof one === 'string' ? one : one.pattern,
  )
  return {
    folder,
    // a pattern that does not take all paths of one host leads to no /health
    urls: patterns.flatMap((pattern) => {
      const [, host] = /^(?:https?:\/\/)?([a-z0-9.-]+)(?:\/\*)?$/i.exec(pattern) ?? []
      return host === undefined ? [] : [`https://${host}`]
    }),
    buckets: r2_buckets.map(({ binding }) => binding),
    keepsVars: keep_vars === true,
    objectsTag: migrations.at(-1)?.tag ?? null,
  }
}

/**
 * Describes the database with this binding. Its name and its id are null if the environment has no
 * such database.
 */
export function describeDatabase(
  databases: readonly BoundDatabase[],
  env: string | undefined,
  binding: string,
  cell: ChosenBy | null,
): DatabaseDescription {
  const bound = databases.find((one) => one.binding === binding)
  const {
    database_name: databaseName = null,
    database_id: id = null,
    preview_database_id: preview = null,
  } = bound ?? {}
  const database = id === null ? 'missing' : /[1-9a-f]/i.test(id) ? 'set' : 'placeholder'
  const databaseId = env === undefined ? (preview ?? id) : id
  return { place: { env, cell, binding, databaseName, databaseId }, database }
}

/**
 * The result of a function of wrangler, or one sentence about why the function failed. If
 * wrangler's message is a list of reasons under a heading, the sentence is the first reason.
 */
function attempt<T>(read: () => T): Result<T, string> {
  try {
    return ok(quietly(read))
  } catch (error) {
    const lines = (error instanceof Error ? error.message : '').split('\n').map((line) => line.trim())
    const item = lines.find((line) => line.startsWith('- '))?.slice(2)
    return err((item ?? lines.find((line) => line !== '') ?? 'wrangler.toml cannot be read').replace(/\.$/, ''))
  }
}

function findObjectFaults(
  { bindings }: Pick<Unstable_Config['durable_objects'], 'bindings'>,
  migrations: Unstable_Config['migrations'],
): readonly string[] {
  const stored = migrations.flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes)
  return objects.flatMap(([name, className]) => {
    const isBound = bindings.some((one) => one.name === name && one.class_name === className)
    const unbound = isBound ? [] : [`no [[durable_objects.bindings]] with the name ${name} and the class ${className}`]
    const unknown = stored.includes(className) ? [] : [`no [[migrations]] with ${className} in new_sqlite_classes`]
    return [...unbound, ...unknown]
  })
}

/** A configuration as read, before `parseSource` parses it. */
export interface ConfigurationSource
  extends Pick<WranglerConfig, 'vars' | 'place' | 'database' | 'databases' | 'objectFaults' | 'worker'> {
  readonly isDeployment: boolean
  /** The values of one cell. */
  readonly values: Bindings
  /** The values of all cells. */
  readonly all: Bindings
  /**
   * The files from which the configuration was read, and the names of the variables that this
   * process's environment sets.
   */
  readonly origin: string
  /** The file for the secrets; it may not exist. */
  readonly varsFile: string
}

/**
 * Stand-ins for the bindings that only the platform has. A command parses a configuration with
 * them, and never calls them.
 */
export const platformBindings = {
  DB: { prepare: () => null, batch: () => null },
  SCANNER: { getByName: () => null },
  ENDPOINT: { getByName: () => null },
}
/** A stand-in for the binding of a bucket, which is used as `platformBindings` are. */
export const platformBucket = { put: () => null, get: () => null, list: () => null }

/**
 * The names of the service's variables that a command takes from its environment. The variables
 * that settings name (`secretNames`) come in addition.
 */
const variablePattern =
  /^(TRON_|AUTH_|BACKEND_|CELLS$|CURRENCIES$|OPERATOR_ADDRESSES$|PAYOUTS$|CORS_ORIGINS$|PAGE_(ORIGINS|BRAND)$|DESK_ACCESS$|WEBHOOKS$|SCAN_EVERY_SECONDS$|EVENTS_KEEP_DAYS$|ISSUE_ADDRESSES$|DEV_UID$)/

/**
 * Reads wrangler.toml of the working directory, and the file for the secrets, which overrides it.
 * Without `env` these are the settings of `wrangler dev` on this machine, with `.dev.vars`.
 * Otherwise they are those of a deployment (the top level is ''), with `.dev.vars.<env>` or
 * `.dev.vars.production`, because the platform does not return secrets. `environment`, this
 * process's variables, overrides both.
 */
export function readConfiguration(
  env: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Result<ConfigurationSource, string> {
  const config = readWranglerConfig(env)
  if (!config.ok) return config
  const { configPath, vars, secrets, place, database, databases, objectFaults, worker } = config.value
  const isDeployment = env !== undefined
  const suffix = isDeployment ? env || 'production' : undefined
  const varsFile = isDeployment ? `.dev.vars.${suffix}` : '.dev.vars'
  const hasFile = existsSync(join(dirname(configPath), varsFile))
  // A deployment without a file of its own must not read .dev.vars of this machine, to which
  // wrangler would fall back.
  const isRead = hasFile || !isDeployment
  const bindings = attempt(() =>
    isRead ? wrangler().unstable_getVarsForDev(configPath, undefined, vars, suffix, true, secrets) : {},
  )
  if (!bindings.ok) return bindings
  const values: Record<string, unknown> = { ...vars }
  for (const [name, { value }] of Object.entries(bindings.value)) values[name] = value
  const names = new Set([
    ...Object.keys(environment).filter((name) => variablePattern.test(name)),
    ...secretNames(environment.TRON_NODES || values.TRON_NODES),
    ...secretNames(environment.WEBHOOKS || values.WEBHOOKS),
    ...secretNames(environment.CELLS || values.CELLS),
  ])
  const overridden = [...names].filter((name) => (environment[name] ?? '') !== '')
  for (const name of overridden) values[name] = environment[name]
  const origin = [env ? `${basename(configPath)} [env.${env}]` : basename(configPath), ...(hasFile ? [varsFile] : [])]
  if (overridden.length > 0) origin.push(`environment variables (${overridden.join(', ')})`)
  return ok({
    isDeployment,
    vars,
    values,
    all: values,
    origin: origin.join(', '),
    varsFile,
    place,
    database,
    databases,
    objectFaults,
    worker,
  })
}

/** Whether the variable with which the text of a fault begins has a value. */
export function isSet(values: Bindings, fault: string): boolean {
  return (values[fault.split(/[.:]/)[0] ?? ''] ?? '') !== ''
}

/**
 * The variables that a setting names (a list or its JSON text): keys of nodes or cells, or secrets
 * of endpoints.
 */
function secretNames(list: unknown): string[] {
  const json = typeof list === 'string' ? list : JSON.stringify(list ?? [])
  return [...json.matchAll(/"(?:keyVar|secretVar|xpub)"\s*:\s*"([^"]+)"/g)].flatMap(([, name]) => name ?? [])
}
