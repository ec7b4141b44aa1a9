import type { Alarms } from '../alarms/alarms.ts'
import type { EndpointKey } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import { type Logger, stackOf } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { type ArchiveParts, archiveNext } from './write.ts'

/** Time between two runs. So what is committed is in the bucket within a minute. */
export const archiveEveryMs = 30_000
/** A run begins no further segment after this time, and the next run follows at once. */
const runMs = 20_000
/** A run that lasts longer than this is given up: the database or the bucket hangs. */
const lostRunMs = 60_000
/** Runs must fail for this long before people are told. */
const archiveBehindMs = 600_000

/** The archive has an object like those of webhook endpoints, with this key in its name. */
export const archiveKey = 'archive' as EndpointKey // safe: no hash of a URL, and told from them

export interface ArchiveObjectParts extends ArchiveParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Pick<Alarms, 'raise' | 'clear'>
  readonly host: Pick<ObjectHost, 'alarm' | 'setAlarm'>
  /** Whether the configuration belongs to the stored data. If not, nothing is written. */
  readonly configMatchesData: () => Promise<boolean>
  /** Wakes the webhook endpoints that have not had the newest checkpoint. */
  readonly wakeEndpoints: () => void
}

/**
 * Makes the part of a Durable Object that writes the archive of one cell. It has no memory, and may
 * run twice at a time. Nothing waits for it. `alarm` writes what is new, and sets the next alarm.
 */
export function createArchive(parts: ArchiveObjectParts): { alarm(): Promise<void> } {
  const { clock, logger, alarms, host } = parts
  let mayBeRaised = true // an instance before this one may have raised the alarm
  const run = async (startedAt: UnixMs): Promise<boolean> => {
    if (!(await parts.configMatchesData())) return true
    while ((await archiveNext(parts)) === 'more') if (clock.now() - startedAt >= runMs) return false
    return true
  }
  const report = async (why: string | null) => {
    if (why !== null) {
      mayBeRaised = true
      await endsWithin(alarms.raise('archive-behind', {}, { why }, archiveBehindMs), runMs, clock)
    } else if (mayBeRaised) {
      mayBeRaised = !(await alarms.clear('archive-behind', {}))
    }
  }
  return {
    async alarm() {
      const startedAt = clock.now()
      let next = startedAt + archiveEveryMs
      const running = run(startedAt)
      try {
        if (!(await endsWithin(running, lostRunMs, clock))) throw new Error('a call has not returned')
        if (!(await running)) next = clock.now()
        await report(null)
        parts.wakeEndpoints()
      } catch (thrown) {
        logger.error('archive-stopped', { why: stackOf(thrown) })
        await report(thrown instanceof Error ? thrown.message : String(thrown))
      } finally {
        const due = await host.alarm()
        if (due === null || due > next) await host.setAlarm(next as UnixMs) // safe: a time
      }
    },
  }
}
