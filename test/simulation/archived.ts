import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { listArchives } from '../../src/commands/audit/archive-files.ts'
import { rebuildCell } from '../../src/commands/audit/rebuild.ts'
import { readSeals } from '../../src/commands/audit/seals.ts'
import { isFault } from '../../src/commands/audit/segment.ts'
import { type CellReport, verifyCell } from '../../src/commands/audit/verify.ts'
import { archiveNext } from '../../src/worker/archive/write.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { compareDatabases } from '../commands/audit/compare-databases.ts'
import { folderBucket } from '../commands/audit/folder-bucket.ts'
import type { SqliteD1 } from '../support/sqlite-d1.ts'
import type { Environment } from './environment.ts'

const cellName = 'TWd4WrZ9wn84f5x1hZhL4DHvk738ns5jwb'
const everyMs = 30_000
export const hourMs = 3_600_000

/** How a broken promise of an archive begins. */
export const archiveFault = 'archive: '

/** When a run is archived, in milliseconds after its beginning. */
export interface ArchiveTimes {
  readonly from: number
  /** At one moment of the run, beside its end, the database is rebuilt. */
  readonly rebuiltAt: number
}

/**
 * Archives the database of a run. The archive must be right, and the database that is rebuilt from
 * it equal to that of the run, but for what `compareDatabases` names. `saw` gets each rebuilt one.
 */
export const archiveBeside =
  ({ from, rebuiltAt }: ArchiveTimes, saw: (rebuilt: DatabaseSync) => void) =>
  (env: Environment, store: SqliteD1): (() => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), 'archived-'))
    let quietMs = 0
    const parts = {
      ...{ db: writable(store.connect(async (work) => work())), bucket: folderBucket(folder) },
      ...{ clock: { now: () => (env.scheduler.now() + quietMs) as UnixMs }, folder: cellName, cell: 1, seal: null },
    }
    const writeAll = async () => {
      while ((await archiveNext(parts)) === 'more');
    }
    const rebuild = async () => {
      quietMs += hourMs // so that a scan that has found nothing since is written, too
      await writeAll()
      const fault = compareWithRebuilt(folder, store.sqlite, { saw })
      if (fault !== null) env.violate(archiveFault + fault)
    }
    const orFault = (work: Promise<void>) =>
      work.catch((error: unknown) => env.violate(`${archiveFault}it has stopped: ${error}`))
    const next = async () => {
      await orFault(writeAll())
      env.scheduler.after(everyMs, () => void next())
    }
    env.scheduler.after(from, () => void next())
    env.scheduler.after(rebuiltAt, () => void orFault(rebuild()))
    return async () => {
      if (env.violation === null) await orFault(rebuild())
      rmSync(folder, { recursive: true })
    }
  }

/**
 * Verifies the archive in a folder, whose keys are `verifiers`, and compares the database that is
 * rebuilt from it with the lost one. Returns the fault, or null.
 */
export function compareWithRebuilt(
  folder: string,
  lost: DatabaseSync,
  {
    saw,
    verifiers = [],
    verified,
  }: {
    readonly saw?: (rebuilt: DatabaseSync) => void
    readonly verifiers?: readonly string[]
    readonly verified?: (report: CellReport) => void
  },
): string | null {
  const [files, ...others] = listArchives(folder)
  if (files === undefined || others.length > 0) return `there is not one: ${others.map(({ name }) => name)}`
  const found = verifyCell(files, readSeals(verifiers, []), () => undefined)
  if (isFault(found)) return `it is wrong: ${found.file}, line ${found.line}: ${found.why}`
  verified?.(found)
  const path = join(folder, 'rebuilt.sql')
  rebuildCell(files, found.counts.completeTo, path, 1)
  const rebuilt = new DatabaseSync(':memory:')
  rebuilt.exec(readFileSync(path, 'utf8'))
  rmSync(path)
  removeEvents(lost, rebuilt)
  saw?.(rebuilt)
  const differences = compareDatabases(lost, rebuilt)
  rebuilt.close()
  return differences.length === 0 ? null : `rebuilt otherwise:\n${differences.slice(0, 20).join('\n')}`
}

/** Removes the events that the service has removed from the lost database by their age. */
function removeEvents(lost: DatabaseSync, rebuilt: DatabaseSync): void {
  const { last_id: last } = lost.prepare('SELECT last_id FROM removed_event').get() ?? {}
  if (last === undefined) return
  rebuilt.exec(`
    INSERT INTO removed_event (id, last_id) SELECT 1, ${last} WHERE NOT EXISTS (SELECT 1 FROM removed_event);
    DELETE FROM stored_event WHERE id <= ${last} AND id < (SELECT id FROM last_event)`)
}
