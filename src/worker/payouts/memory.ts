import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { type ComparedRow, selectCompared, storeRestoredAt } from './store/compared.ts'

/** Payouts resume once this much more of the chain is read after a restore. By then every transaction that was signed before has expired or was found. */
const restoredMs = 3_600_000
const storageKey = 'payouts'
/** A comparison that takes longer is given up. */
const lostMs = 10_000

/** The object's memory, which survives a restore of the database: the newest event (every write adds one), and when an older copy was noticed. */
interface Stored {
  readonly newest: { readonly id: EventId; readonly digest: string } | null
  readonly restoredAt: UnixMs | null
  /** A final block one hour after the restore was noticed, once there is one. Payouts resume when all blocks up to it are read. */
  readonly readTo?: BlockHeight | undefined
  /** Every address from which a transaction was sent. */
  readonly payers?: readonly Address[]
}

/** The memory of the scanner's object, which notices that the database is a restored older copy. */
export interface PayoutMemory {
  /**
   * Compares the database with the newest event in memory, then notes the event; called before anything is sent. Returns since when payouts are stopped because
   * the database is an older copy, or null. That time is also stored in the database. If the object has no memory but transactions were handed in, the database
   * counts as an older copy.
   */
  compare(): Promise<UnixMs | null>
  /** The result of the last comparison of this instance; null before the first one. */
  known(): UnixMs | null
}

/** The payout addresses that the object remembers, because a restored database may not know them. */
export async function loadPayers(host: Pick<ObjectHost, 'load'>): Promise<readonly Address[]> {
  return (await host.load<Stored>(storageKey))?.payers ?? []
}

/** The parts of the memory. */
export interface PayoutMemoryParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly host: Pick<ObjectHost, 'load' | 'save'>
}

/** Makes the memory, kept in the storage of the object. */
export function createPayoutMemory({ db, clock, host }: PayoutMemoryParts): PayoutMemory {
  let running: Promise<unknown> = Promise.resolve()
  let known: UnixMs | null = null
  let [begun, stored] = [0, 0]
  const compare = async () => {
    begun += 1
    const number = begun
    const before = await host.load<Stored>(storageKey)
    const row = await selectCompared(db, before?.newest?.id ?? 0)
    if (number < stored) return known // it was given up meanwhile
    stored = number
    const next = nextMemory(before, row, clock.now())
    if (JSON.stringify(next) !== JSON.stringify(before)) host.save(storageKey, next)
    if (row.restoredAt !== next.restoredAt) await storeRestoredAt(db, next.restoredAt)
    known = next.restoredAt
    return known
  }
  return {
    known: () => known,
    // One comparison at a time, because an older one must not overwrite the result of a newer one. A hanging one is given up.
    compare() {
      const result = endsWithin(running, lostMs, clock).then(compare)
      running = result.catch(() => null)
      return result
    },
  }
}

/** The memory after a comparison. */
function nextMemory(before: Stored | undefined, row: ComparedRow, now: UnixMs): Stored {
  const { newest, position, finalTime, unread } = row
  const isLost = before === undefined ? row.hasSigned : isOlder(before.newest, row)
  const since = isLost ? now : (before?.restoredAt ?? null)
  const isPast = since !== null && finalTime !== null && finalTime >= since + restoredMs
  const readTo = (isLost ? undefined : before?.readTo) ?? (isPast ? position : undefined)
  // An unread block may contain a transaction that the copy lacks. After a correction the position is lower for a while.
  const isOver = readTo !== undefined && readTo <= position && (unread === null || unread > readTo)
  const payers = [...new Set([...(before?.payers ?? []), ...row.openPayers])]
  // Old events are removed. If none is left, keep the one in memory.
  const kept = isLost ? null : (before?.newest ?? null)
  const noted = newest === null ? kept : { id: newest.id, digest: digestOf(newest.text) }
  return { newest: noted, payers, ...(isOver ? { restoredAt: null } : { restoredAt: since, readTo }) }
}

/** Whether the database is an older copy: it lacks the event in memory, or has another one under its number. */
function isOlder(noted: Stored['newest'], { same, lastId }: ComparedRow): boolean {
  if (noted === null) return false
  if (lastId < noted.id) return true
  return same !== null && digestOf(same) !== noted.digest // without a row the event was removed because of its age
}

const digestOf = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
