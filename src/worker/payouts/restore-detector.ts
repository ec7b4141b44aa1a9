import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { lostText } from '../platform/shared-runs.ts'
import { type ComparedRow, selectCompared, storeRestoredAt } from './store/facts.ts'

/**
 * Payouts resume once this many milliseconds of blocks are read after a restore. By then each
 * transaction from before the restore has expired or was found.
 */
const restoredMs = 3_600_000
const storageKey = 'payouts'
/**
 * A comparison of the database with this memory that takes longer than this fails, as a database
 * that is away, and the next one begins.
 */
const lostMs = 10_000

/**
 * The memory in the Durable Object's storage, which a restore of the database does not change: the
 * newest event (every write adds one), and when an older copy was noticed.
 */
interface Stored {
  readonly newest: { readonly id: EventId; readonly digest: string } | null
  readonly restoredAt: UnixMs | null
  /**
   * A final block one hour after the restore was noticed, once there is one. Payouts resume when
   * all blocks up to it are read.
   */
  readonly readTo?: BlockHeight | undefined
  /** Every payout address for which a comparison has found an open transaction. */
  readonly payers?: readonly Address[]
}

/**
 * Notices that the database is a restored older copy, by what the scanner's Durable Object
 * remembers.
 */
export interface RestoreDetector {
  /**
   * Compares the database with the newest event in memory, then notes the event; called before
   * anything is sent. Returns since when payouts are stopped because the database is an older copy,
   * or null. That time is also stored in the database. If the object has no memory but transactions
   * were handed in, or the database says itself that it was restored, it counts as an older copy.
   * Throws an `Error` with `lostText` if the database hangs.
   */
  compare(): Promise<UnixMs | null>
  /** The last result of `compare` in this instance; null also before the first one. */
  known(): UnixMs | null
}

/**
 * The payout addresses that the scanner's Durable Object remembers, because a restored database may
 * not know them.
 */
export async function loadPayers(host: Pick<ObjectHost, 'load'>): Promise<readonly Address[]> {
  return (await host.load<Stored>(storageKey))?.payers ?? []
}

export interface RestoreDetectorParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly host: Pick<ObjectHost, 'load' | 'save'>
}

/**
 * Makes the detector of a Durable Object; `host` is its storage. An instance runs one comparison at
 * a time, and all who wait for the next one share it.
 */
export function createRestoreDetector({ db, clock, host }: RestoreDetectorParts): RestoreDetector {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<UnixMs | null> | null = null
  let known: UnixMs | null = null
  let [begun, stored] = [0, 0]
  const compare = async () => {
    begun += 1
    const number = begun
    const before = await host.load<Stored>(storageKey)
    const row = await selectCompared(db, before?.newest?.id ?? 0)
    if (number < stored) return known // this comparison was given up, and a newer one has stored its result
    stored = number
    const next = nextMemory(before, row, clock.now())
    if (JSON.stringify(next) !== JSON.stringify(before)) host.save(storageKey, next)
    if (row.restoredAt !== next.restoredAt) await storeRestoredAt(db, next.restoredAt)
    known = next.restoredAt
    return known
  }
  const compareInTime = async () => {
    const result = compare()
    if (await endsWithin(result, lostMs, clock)) return result
    throw new Error(lostText)
  }
  const begin = () => {
    next = null
    const result = compareInTime()
    running = result.catch(() => null)
    return result
  }
  return {
    known: () => known,
    // One comparison at a time, because an older one must not overwrite the result of a newer one.
    // Whoever comes while one runs waits for the next one, with all others who come meanwhile: the
    // one that runs may have read the database before that was stored which they must know or note.
    compare() {
      next ??= running.then(begin)
      return next
    },
  }
}

/**
 * The memory to store after a comparison, with the newest event. `restoredAt` is set if the
 * database is an older copy, and removed once all blocks up to `readTo` are read.
 */
function nextMemory(before: Stored | undefined, row: ComparedRow, now: UnixMs): Stored {
  const { newest, position, finalTime, unread } = row
  const isLost = before === undefined ? row.hasSigned || row.restoredAt !== null : isOlder(before.newest, row)
  const since = isLost ? now : (before?.restoredAt ?? null)
  const isPast = since !== null && finalTime !== null && finalTime >= since + restoredMs
  const readTo = (isLost ? undefined : before?.readTo) ?? (isPast ? position : undefined)
  // Payouts stay stopped while a block up to `readTo` is unread, because it may contain a
  // transaction that the copy lacks. An operator's correction can lower the position below `readTo`
  // again.
  const isOver = readTo !== undefined && readTo <= position && (unread === null || unread > readTo)
  const payers = [...new Set([...(before?.payers ?? []), ...row.openPayers])]
  // Old events are removed from the database. If none is left, keep the one in memory.
  const kept = isLost ? null : (before?.newest ?? null)
  const noted = newest === null ? kept : { id: newest.id, digest: digestOf(newest.text) }
  return { newest: noted, payers, ...(isOver ? { restoredAt: null } : { restoredAt: since, readTo }) }
}

/**
 * Whether the database is an older copy: it lacks the event in memory, or has another event under
 * its number.
 */
function isOlder(noted: Stored['newest'], { same, lastId }: ComparedRow): boolean {
  if (noted === null) return false
  if (lastId < noted.id) return true
  return same !== null && digestOf(same) !== noted.digest // if `same` is null, the event was removed because of its age
}

const digestOf = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
