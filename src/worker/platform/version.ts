import type { Logger } from './logger.ts'

/**
 * The version of the service, as in `package.json`. A test compares them: Node imports JSON in
 * another way than the Worker's build.
 */
export const serviceVersion = '1.0.0'

/** The number of the newest file in `migrations/`, without which this version serves nothing. */
export const newestMigration = 1

/**
 * Makes a function that logs the version and the number of the newest migration once, the first
 * time that an isolate reads the latter, and returns what it was given. `cell` is null if there is
 * only one.
 */
export function createRunningLog(logger: Logger, cell: number | null) {
  let isLogged = false
  return <T extends { readonly migration: number }>(stored: T): T => {
    const fields = { version: serviceVersion, migration: stored.migration, ...(cell === null ? {} : { cell }) }
    if (!isLogged) logger.info('running', fields)
    isLogged = true
    return stored
  }
}
