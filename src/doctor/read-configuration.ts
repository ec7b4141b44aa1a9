import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unstable_getVarsForDev as readVars, unstable_readConfig as readWrangler } from 'wrangler'
import { err, ok, type Result } from '../common/result.ts'

/** Whose configuration is checked: what `wrangler dev` runs on this machine, or what a deployment gets. */
export type DoctorTarget =
  | { readonly kind: 'local' }
  /** `env` null is the top level, which is production. */
  | { readonly kind: 'deployment'; readonly env: string | null }

/** A configuration as it was found, not checked yet. */
export interface ConfigurationSource {
  readonly target: DoctorTarget
  readonly values: Readonly<Record<string, unknown>>
  /** The files it comes from, and the names that the environment of this process set. */
  readonly origin: string
  /** The file for this target's secrets, whether it is there or not. */
  readonly varsFile: string
  readonly databaseId: string | null
}

/** The variables of section 4 of the contract. A process's environment may set them, and the keys that nodes name. */
export const variableNames: readonly string[] = [
  'TRON_XPUB',
  'TRON_CHAIN_ID',
  'TRON_NODES',
  'TRON_QUORUM',
  'TRON_START_BLOCK',
  'CURRENCIES',
  'AUTH_JWT_SECRET',
  'AUTH_JWKS_URL',
  'AUTH_ISSUER',
  'AUTH_AUDIENCE',
  'CORS_ORIGINS',
  'DEV_UID',
]

/** The part of wrangler's own type that is read here. */
interface WranglerConfig {
  readonly configPath?: string | undefined
  readonly vars: Readonly<Record<string, unknown>>
  readonly d1_databases: readonly { readonly binding: string; readonly database_id?: string | undefined }[]
}

/**
 * Reads wrangler.toml of the working directory as wrangler itself does. On top of it comes `.dev.vars` for this
 * machine, or `.dev.vars.<env>` (`.dev.vars.production` for the top level) for a deployment, whose secrets can't be
 * read back from the platform; and on top of that what `environment` sets.
 */
export function readConfiguration(
  target: DoctorTarget,
  environment: Readonly<Record<string, string | undefined>>,
): Result<ConfigurationSource, string> {
  try {
    const env = target.kind === 'local' ? undefined : (target.env ?? '') // '' is wrangler's name for the top level
    const raw = readWrangler({ env }, { hideWarnings: true })
    const config: WranglerConfig = raw
    const { configPath } = config
    if (configPath === undefined) return err('there is no wrangler.toml in this directory')
    const own = target.kind === 'local' ? null : (target.env ?? 'production')
    const varsFile = own === null ? '.dev.vars' : `.dev.vars.${own}`
    const hasVars = existsSync(join(dirname(configPath), varsFile))
    // Without a file of its own a deployment must not get this machine's .dev.vars, which wrangler would fall back to.
    const isRead = target.kind === 'local' || hasVars
    const bindings: Readonly<Record<string, { readonly value: unknown }>> = isRead
      ? readVars(configPath, undefined, raw.vars, own ?? undefined, true, raw.secrets)
      : {}
    const read = Object.fromEntries(Object.entries(bindings).map(([name, { value }]) => [name, value]))
    const values: Record<string, unknown> = { ...config.vars, ...read }
    const overriding = [...variableNames, ...keyNames(environment.TRON_NODES || values.TRON_NODES)].filter(
      (name) => environment[name] !== undefined && environment[name] !== '',
    )
    for (const name of overriding) values[name] = environment[name]

    const section = typeof env === 'string' && env !== '' ? ` [env.${env}]` : ''
    const origin = [`${basename(configPath)}${section}`, ...(hasVars ? [varsFile] : [])]
    if (overriding.length > 0) origin.push(`this process's environment (${overriding.join(', ')})`)
    const database = config.d1_databases.find(({ binding }) => binding === 'DB')
    return ok({ target, values, origin: origin.join(', '), varsFile, databaseId: database?.database_id ?? null })
  } catch (error) {
    return err(firstSentence(error)) // a file that is not TOML, or has no such environment
  }
}

/** The names of the nodes' keys, as far as the nodes can be read at all. */
function keyNames(nodes: unknown): string[] {
  const list = typeof nodes === 'string' ? parseJson(nodes) : nodes
  if (!Array.isArray(list)) return []
  return list.flatMap((node: unknown) =>
    typeof node === 'object' && node !== null && 'keyVar' in node && typeof node.keyVar === 'string'
      ? [node.keyVar]
      : [],
  )
}

/** wrangler's messages are a heading, then a list: its first entry says what is wrong. */
function firstSentence(error: unknown): string {
  const lines = (error instanceof Error ? error.message : '').split('\n').map((line) => line.trim())
  const entry = lines.find((line) => line.startsWith('- '))?.slice(2)
  return entry ?? lines.find((line) => line !== '') ?? 'it can’t be read'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // the configuration's own check says what the variable takes
  }
}
