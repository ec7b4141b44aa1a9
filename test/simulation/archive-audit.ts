import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CellReport } from '../../src/commands/audit/verify.ts'
import { archiveNext } from '../../src/worker/archive/write.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import type { SqliteD1 } from '../support/sqlite-d1.ts'
import type { SimulatedArchive } from './archive.ts'
import { archiveFault, compareWithRebuilt, hourMs } from './archived.ts'
import { depositAddress } from './environment.ts'
import { longestRetryMs } from './final-phases.ts'
import { drillPutBack } from './put-back.ts'
import { passUntil, type SimulatedRun } from './simulated-run.ts'

/** Time in which all is archived once nothing fails any more. */
const settledMs = 600_000

/**
 * Waits until all is in the bucket. Then the archive must be right, and a database that is rebuilt
 * from it must equal that of the run. A copy of before gets back what it lacks.
 */
export async function auditArchive(run: SimulatedRun): Promise<void> {
  const { env, stored, archive, store } = run
  if (archive === null) return
  if (!(await passUntil(env, stored.isArchived, settledMs))) return env.violate(`${archiveFault}it has stopped`)
  const notes = () => {
    const size = Number(store.sqlite.prepare('SELECT lines FROM archive').get()?.lines)
    return run.endpoints.auditNotes(size, archive.checkpointOf)
  }
  const isAsked = env.scenario.archive?.sealed === true && stored.countEndpoints() > 0
  if (isAsked && !(await passUntil(env, () => notes() === null, longestRetryMs, 5_000)))
    return env.violate(`${archiveFault}${notes()}`)
  const folder = mkdtempSync(join(tmpdir(), 'simulated-'))
  try {
    // so that a scan which has found nothing since is written, too
    await writeRest(archive, store, () => (env.scheduler.now() + 2 * hourMs) as UnixMs)
    for (const [name, text] of archive.bucket.objects) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const reports: CellReport[] = []
    const verified = (found: CellReport) => void reports.push(found)
    const verifiers = [...env.formerVerifiers, stored.verifier() ?? []].flat()
    const fault = compareWithRebuilt(folder, store.sqlite, { verifiers, verified })
    const [report] = reports
    const lacking = fault ?? (report === undefined ? null : await drillPutBack(run, folder, report))
    if (lacking !== null) env.violate(archiveFault + lacking)
  } catch (error) {
    env.violate(archiveFault + (error instanceof Error ? error.stack : String(error)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Writes what is left at one moment, so that the bucket and the database can be compared. */
async function writeRest({ bucket }: SimulatedArchive, store: SqliteD1, now: () => UnixMs): Promise<void> {
  const parts = {
    ...{ db: writable(store.connect(async (work) => work())), bucket: bucket.direct, clock: { now } },
    ...{ folder: formatBase58(depositAddress(0)), cell: 1, seal: null },
  }
  while ((await archiveNext(parts)) === 'more');
}
