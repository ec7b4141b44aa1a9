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

/** Everything that was signed before a restore has expired, or was found, when so much more of the chain is read. */
const restoredMs = 3_600_000
const storageKey = 'payouts'
/** After this a comparison counts as lost. */
const lostMs = 10_000

/** What survives the database: the newest event, which every write moves, and when an older copy was noticed. */
interface Stored {
  readonly newest: { readonly id: EventId; readonly digest: string } | null
  readonly restoredAt: UnixMs | null
  /** A final block that is an hour later, once there is one: payouts go on when all blocks up to it are read. */
  readonly readTo?: BlockHeight | undefined
  /** All addresses that transactions were sent from. */
  readonly payers?: readonly Address[]
}

/** The memory of the scanner's object that notices a restored database. */
export interface PayoutMemory {
  /**
   * Notes the newest event, before anything is sent. Returns since when payouts are stopped because the database is an older copy, or null.
   * The database knows it from then on, too. An object without a memory beside transactions that were handed in does not know, so it counts
   * as that.
   */
  compare(): Promise<UnixMs | null>
  /** What the newest comparison of this instance has returned: null before the first one. */
  known(): UnixMs | null
}

/** The payout addresses that the object remembers: a restored copy can be older than its knowledge of them. */
export async function loadPayers(host: Pick<ObjectHost, 'load'>): Promise<readonly Address[]> {
  return (await host.load<Stored>(storageKey))?.payers ?? []
}

/** What the memory is made of. */
export interface PayoutMemoryParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly host: Pick<ObjectHost, 'load' | 'save'>
}

/** The memory over the storage of an object. */
export function createPayoutMemory({ db, clock, host }: PayoutMemoryParts): PayoutMemory {
  let running: Promise<unknown> = Promise.resolve()
  let known: UnixMs | null = null
  let [begun, stored] = [0, 0]
  const compare = async () => {
    begun += 1
    const number = begun
    const before = await host.load<Stored>(storageKey)
    const row = await selectCompared(db, before?.newest?.id ?? 0)
    if (number < stored) return known // it counted as lost
    stored = number
    const next = nextMemory(before, row, clock.now())
    if (JSON.stringify(next) !== JSON.stringify(before)) host.save(storageKey, next)
    if (row.restoredAt !== next.restoredAt) await storeRestoredAt(db, next.restoredAt)
    known = next.restoredAt
    return known
  }
  return {
    known: () => known,
    // One after the other: an older look must not replace what a newer one has found. One can be without an end.
    compare() {
      const result = endsWithin(running, lostMs, clock).then(compare)
      running = result.catch(() => null)
      return result
    },
  }
}

/** What the object remembers after a comparison. */
function nextMemory(before: Stored | undefined, row: ComparedRow, now: UnixMs): Stored {
  const { newest, position, finalTime, unread } = row
  const isLost = before === undefined ? row.hasSigned : isOlder(before.newest, row)
  const since = isLost ? now : (before?.restoredAt ?? null)
  const isPast = since !== null && finalTime !== null && finalTime >= since + restoredMs
  const readTo = (isLost ? undefined : before?.readTo) ?? (isPast ? position : undefined)
  // A block that is not read can have what the copy lacks. After a correction the position is lower for a while.
  const isOver = readTo !== undefined && readTo <= position && (unread === null || unread > readTo)
  const payers = [...new Set([...(before?.payers ?? []), ...row.openPayers])]
  // Without any event left, what was noted stays: events are removed when they are old.
  const kept = isLost ? null : (before?.newest ?? null)
  const noted = newest === null ? kept : { id: newest.id, digest: digestOf(newest.text) }
  return { newest: noted, payers, ...(isOver ? { restoredAt: null } : { restoredAt: since, readTo }) }
}

/** Whether the database is an older copy: it has not the newest event that was noted, or another one under its number. */
function isOlder(noted: Stored['newest'], { same, lastId }: ComparedRow): boolean {
  if (noted === null) return false
  if (lastId < noted.id) return true
  return same !== null && digestOf(same) !== noted.digest // without a row it was removed, since it is old
}

const digestOf = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
