import { err, type Result } from '../../worker/common/result.ts'
import { serviceVersion } from '../../worker/platform/version.ts'
import { parseSources } from '../cells.ts'
import { type ConfigurationSource, isSet } from '../configuration.ts'
import { readApplied, readStored, type StoredData } from '../database.ts'
import { type AnsweringService, askHealth, hostInUrl } from '../deployed-health.ts'
import { listMigrations, newestNumber } from '../migration-files.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { commandIn, type Place } from '../place.ts'
import { openForReading, rowsOf } from '../reading-database.ts'
import { describeDifference, findCellDifferences, findKnownDifferences } from '../stored-differences.ts'
import { orRefuse, ToolError } from '../tool-error.ts'
import { compareSettings, type RunningUpload, readRunning } from './running.ts'

/** What a deployment does to the database of one cell. */
interface CellPlan {
  readonly source: ConfigurationSource
  readonly stored: StoredData
  /** The migrations that are applied, in order. */
  readonly missing: readonly string[]
  /** The migrations that the database has and this folder lacks. */
  readonly unknown: readonly string[]
  readonly count: number
}

/** What a deployment will do, as far as it can be known before. */
export interface DeployPlan {
  readonly cells: readonly CellPlan[]
  /** The upload that runs; null if there is none. The error says why it is not known. */
  readonly upload: Result<RunningUpload | null, string>
  /** The service that runs, or why it is not known. */
  readonly service: Result<AnsweringService, string>
  /** The number that `/health` has as `migration` afterwards. */
  readonly migration: number
}

/** Reads what runs and what is stored, and changes nothing. */
export async function readPlan(
  env: string,
  sources: readonly ConfigurationSource[],
  urls: readonly string[],
  platform: CommandPlatform,
): Promise<DeployPlan> {
  const cells: CellPlan[] = []
  for (const source of sources) cells.push(await readCell(source))
  const after = cells.map(({ source, stored }) => Math.max(newestNumber(listMigrations(source)), stored.migration ?? 0))
  return {
    cells,
    upload: await readRunning(env),
    service: urls.length === 0 ? err('no address is known; --service <url> names it') : await askHealth(urls, platform),
    migration: Math.min(...after),
  }
}

async function readCell(source: ConfigurationSource): Promise<CellPlan> {
  const { place } = source
  const stored = orRefuse(await readStored(place))
  const applied = orRefuse(await readApplied(place))
  const files = listMigrations(source)
  return {
    source,
    stored,
    missing: files.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !files.includes(name)),
    count: files.length,
  }
}

/** The lines that say what will be done. */
export function describePlan(plan: DeployPlan): readonly string[] {
  const { cells, upload } = plan
  return [...cells.flatMap(describeMigrations), `version: ${describeVersion(plan)}`, ...describeSettings(upload, cells)]
}

function describeMigrations({ source: { place }, missing, unknown, count }: CellPlan): readonly string[] {
  const cell = place.cell === null ? '' : `cell ${place.cell.number}, `
  const name = `migrations: ${cell}database ${place.databaseName}`
  const gets =
    missing.length === 0 ? `has all ${count}` : `gets ${missing.join(', ')} (has ${count - missing.length} of ${count})`
  const newer = `${name} has ${unknown.join(', ')}, which this folder lacks: a newer version has migrated it. This one works with its tables`
  return [`${name} ${gets}`, ...(unknown.length === 0 ? [] : [newer])]
}

/** The version that runs, by its own word or, without it, by the tag of its upload; or null. */
function versionIn({ upload, service }: DeployPlan): string | null {
  if (service.ok) return service.value.health.version
  return upload.ok ? (upload.value?.tag ?? null) : null
}

/**
 * Whether no version of the service has run yet. The platform shows an upload without a version
 * where only secrets were set.
 */
function isFirst({ cells, upload, service }: DeployPlan): boolean {
  if (!upload.ok || upload.value === null) return upload.ok
  return !service.ok && upload.value.tag === null && cells.every(({ stored }) => stored.migration === null)
}

/** Whether the platform says that another version runs than the one that answers, or none. */
function isElsewhere({ upload, service }: DeployPlan): boolean {
  if (!service.ok || !upload.ok) return false
  const tag = upload.value === null ? '' : upload.value.tag
  return tag !== null && tag !== service.value.health.version
}

function describeVersion(plan: DeployPlan): string {
  const { service } = plan
  const will = `${serviceVersion} will`
  const before = versionIn(plan)
  const older = before !== null && isOlder(serviceVersion, before) ? ': an older one' : ''
  if (service.ok) {
    const { url, health } = service.value
    const doubt = isElsewhere(plan) ? `. ${hostInUrl(url)} may be the address of another deployment` : ''
    return `${before} runs at ${hostInUrl(url)} (newest migration ${health.migration}), ${will}${older}${doubt}`
  }
  if (isFirst(plan)) return `nothing is deployed yet, ${will}`
  if (before !== null) return `${before} runs by the tag of its upload, ${will}${older} (${service.error})`
  return `which one runs is not known, ${will} (${service.error})`
}

/** Whether a version is older than another one, by its three numbers. */
function isOlder(version: string, other: string): boolean {
  const [own = [], others = []] = [version, other].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number))
  const at = own.findIndex((number, i) => number !== others[i])
  return at >= 0 && (own[at] ?? 0) < (others[at] ?? 0)
}

function describeSettings(upload: DeployPlan['upload'], [first]: readonly CellPlan[]): readonly string[] {
  const secrets = 'secrets: their values are not compared, because the platform does not return them'
  if (!upload.ok) return [`settings: what differs is not known (${upload.error})`, secrets]
  if (upload.value === null || first === undefined) return ['settings: all are new', secrets]
  const { changed, added, removed, missingSecrets } = compareSettings(upload.value, first.source)
  const parts = [
    ...(changed.length === 0 ? [] : [`${changed.join(', ')} will be changed`]),
    ...(added.length === 0 ? [] : [`${added.join(', ')} will be added`]),
    ...(removed.length === 0 ? [] : [`${removed.join(', ')} will be removed`]),
  ]
  return [
    `settings: ${parts.length === 0 ? 'variables and databases stay as they are' : parts.join('; ')}`,
    ...(missingSecrets.length === 0 ? [] : [`secrets: the platform does not have ${missingSecrets.join(', ')}`]),
    secrets,
  ]
}

/**
 * Throws a `ToolError` if the new version would serve nothing: the configuration is wrong, or it is
 * not that of the stored data. Returns the lines about what could not be checked.
 */
export async function refuseUnfit({ cells }: DeployPlan, source: ConfigurationSource): Promise<readonly string[]> {
  const { place, varsFile, all } = source
  const parsed = parseSources(source)
  const faults = parsed.ok ? [] : parsed.error
  const wrong = faults.filter((fault) => isSet(all, fault) && !namesSecret.test(fault))
  if (wrong.length > 0) {
    throw new ToolError(
      `the new version would serve nothing: ${wrong.join('; ')}`,
      `correct wrangler.toml, or ${varsFile}; "${commandIn({ ...place, cell: null }, 'doctor')}" checks all of it`,
    )
  }
  const filled = cells.filter(({ stored }) => stored.migration !== null)
  const compared: (readonly string[] | null)[] = []
  for (const cell of filled) compared.push(await compareCell(cell, parsed))
  const found = compared.flatMap((differences) => differences ?? [])
  if (found.length > 0) {
    throw new ToolError(
      `the new version would serve nothing, because the configuration is not that of the stored data: ${found.join('; ')}`,
      'set back what differs, or use the database that belongs to this configuration; docs/operate.md, configuration-differs',
    )
  }
  if (parsed.ok) return []
  const names = faults.map((fault) => fault.split(':')[0]).join(', ')
  const not = compared.includes(null) ? 'the configuration is' : 'the key and the ranges of users are'
  const effect = filled.length === 0 ? '' : `: so whether ${not} that of the stored data is not known`
  return [`not checked: ${names} (not in ${varsFile})${effect}`]
}

/**
 * What of the stored data of a cell the configuration does not belong to, in phrases. Null if too
 * little of the configuration is known here.
 */
async function compareCell(
  { source, stored }: CellPlan,
  parsed: ReturnType<typeof parseSources>,
): Promise<readonly string[] | null> {
  const { cell } = source.place
  const open = (place: Place) => openForReading(rowsOf(place))
  const own = parsed.ok ? parsed.value.find((one) => one.cell.number === (cell?.number ?? null)) : undefined
  const differences =
    parsed.ok && own !== undefined
      ? await findCellDifferences(own, parsed.value, stored.settings, open)
      : await findKnownDifferences(source, stored.settings, open)
  const name = cell === null ? '' : `cell ${cell.number}: `
  return differences?.map((one) => name + describeDifference(one)) ?? null
}

/** A fault about a secret that a setting names. The platform may have it all the same. */
const namesSecret = /^[\w.]+\.(keyVar|secretVar|xpub):/

/** How to go back to what runs now, in a sentence. */
export function describeWayBack(env: string, plan: DeployPlan, { worker }: ConfigurationSource): string {
  const { upload } = plan
  const before = versionIn(plan)
  const stay = 'The migrations stay: the version before works with them.'
  if (isFirst(plan)) return 'To go back: nothing was deployed before.'
  if (upload.ok && upload.value !== null) {
    const { id, objectsTag } = upload.value
    if (objectsTag === null || objectsTag === worker.objectsTag)
      return `To go back: npx wrangler rollback ${id} --env=${env}. ${stay}`
  }
  const options = env === '' ? '--production' : `--env ${env}`
  const tag = before === null ? 'the tag of the version before' : `v${before}`
  const isObjects = upload.ok && upload.value !== null
  const why = isObjects ? ' Wrangler rolls back no upload with other classes of Durable Objects.' : ''
  return `To go back: git checkout ${tag}, then npm ci && npm run deploy -- ${options}, with this wrangler.toml.${why} ${stay}`
}

/** The version that ran before, for the sentence about the health afterwards. */
export const isSameVersion = (plan: DeployPlan) => versionIn(plan) === serviceVersion
