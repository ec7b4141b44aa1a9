import { serviceVersion } from '../../worker/platform/version.ts'
import type { ConfigurationSource } from '../configuration.ts'
import type { StoredData } from '../database.ts'
import { askHealth, hostInUrl } from '../deployed-health.ts'
import { listMigrations, newestNumber } from '../migration-files.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { commandIn } from '../place.ts'
import { type CheckResult, failed, passed, warned } from './check-settings.ts'

/**
 * Says whether the database has the migrations of this folder, no more and no fewer. That of a
 * deployment may lack some before an update; on this machine the service would serve nothing.
 */
export function checkMigrations(
  source: ConfigurationSource,
  { migration }: Pick<StoredData, 'migration'>,
): CheckResult {
  const { place, isDeployment } = source
  const newest = newestNumber(listMigrations(source))
  const applies = `"${commandIn({ ...place, cell: null }, isDeployment ? 'deploy' : 'db:migrate')}" applies`
  if (migration === null) return passed(`migrations: the database has none yet; ${applies} them`)
  if (migration === newest) return passed(`migrations: the database has all, the newest is ${newest}`)
  const text = `migrations: the newest of the database is ${migration}, of this folder ${newest}`
  if (migration < newest) return (isDeployment ? warned : failed)(`${text}: ${applies} what is missing`)
  return warned(`${text}: a newer version has migrated it; this one works with its tables, but is older`)
}

/**
 * Says whether the version of this folder is the one that is deployed. A difference is only a
 * warning: before an update it is as it must be.
 */
export async function checkVersion(urls: readonly string[], platform: CommandPlatform): Promise<CheckResult> {
  if (urls.length === 0) {
    return passed(`version: this folder has ${serviceVersion}; --service <url> compares it with the deployed one`)
  }
  const answer = await askHealth(urls, platform)
  if (!answer.ok)
    return warned(`version: this folder has ${serviceVersion}; which one runs is not known: ${answer.error}`)
  const { url, health } = answer.value
  const text = `version: ${hostInUrl(url)} runs ${health.version}`
  return health.version === serviceVersion
    ? passed(`${text}, as this folder`)
    : warned(`${text}, and this folder has ${serviceVersion}`)
}
