import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { PayoutTransactionId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ReadDatabase, toStatement } from '../d1/database.ts'
import { payoutTransactions } from '../d1/payout-tables.ts'
import { rescans, scans } from '../d1/state-tables.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { openAddresses } from './conclusions.ts'

/** Everything that was signed before a restore has expired, or was found, when so much more of the chain is read. */
const restoredMs = 3_600_000
const storageKey = 'payouts'
/** After this a comparison counts as lost. */
const lostMs = 10_000

/** What survives the database: the newest transaction that was handed in for a payout, and when an older copy was noticed. */
interface Stored {
  readonly newest: Newest | null
  readonly restoredAt: UnixMs | null
  /** A final block that is an hour later, once there is one: payouts go on when all blocks up to it are read. */
  readonly readTo?: BlockHeight | undefined
  /** All addresses that transactions were sent from. */
  readonly payers?: readonly Address[]
}
interface Newest {
  readonly id: PayoutTransactionId
  readonly txid: Txid
}

/** The memory of the scanner's object that notices a restored database. */
export interface PayoutMemory {
  /**
   * Notes the newest stored transaction, before it is sent. Returns since when payouts are stopped because the database is an older
   * copy, or null. An object without a memory beside transactions that were handed in does not know, so it counts as that.
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
  readonly db: ReadDatabase
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
    const { same, newest, position, finalTime, unread, openPayers } = await selectNewest(db, before?.newest?.id ?? 0)
    if (number < stored) return known // it counted as lost
    stored = number
    const isLost = before === undefined ? newest !== null : before.newest !== null && same !== before.newest.txid
    const since = isLost ? clock.now() : (before?.restoredAt ?? null)
    const isPast = since !== null && finalTime !== null && finalTime >= since + restoredMs
    const readTo = (isLost ? undefined : before?.readTo) ?? (isPast ? position : undefined)
    // A block that is not read can have what the copy lacks. After a correction the position is lower for a while.
    const isOver = readTo !== undefined && readTo <= position && (unread === null || unread > readTo)
    const payers = [...new Set([...(before?.payers ?? []), ...openPayers])]
    const next: Stored = { newest, payers, ...(isOver ? { restoredAt: null } : { restoredAt: since, readTo }) }
    if (JSON.stringify(next) !== JSON.stringify(before)) host.save(storageKey, next)
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

interface Row {
  /** The txid that was handed in under an id. */
  readonly same: Txid | null
  readonly id: PayoutTransactionId | null
  readonly txid: Txid | null
  readonly position: BlockHeight
  readonly finalTime: UnixMs | null
  readonly unread: BlockHeight | null
  readonly openPayers: string
}

/**
 * `position`: -1 before the scan has started. `finalTime`: the time of the newest final block, if it is read. `unread`: the lowest block
 * below that is not read; what an operator asks for was read before. A row without a payout does not count: the scan of an older copy finds
 * what the copy lacks, and can store it under the number that it had.
 */
async function selectNewest(db: ReadDatabase, known: PayoutTransactionId | 0) {
  const { id, txid, payout_id } = payoutTransactions
  const { kind, finished_at, next_height } = rescans
  const row = await toStatement(
    db,
    sql`SELECT newest.id, newest.txid,
  (SELECT ${txid} FROM ${payoutTransactions} WHERE ${id} = ${known} AND ${payout_id} IS NOT NULL) AS same,
  coalesce((SELECT ${scans.height} FROM ${scans}), -1) AS position,
  (SELECT ${scans.finalized_time} FROM ${scans} WHERE ${scans.height} = ${scans.finalized}) AS "finalTime",
  (SELECT min(${next_height}) FROM ${rescans} INDEXED BY rescan_open WHERE ${finished_at} IS NULL AND ${kind} <> 'request') AS unread,
  ${openAddresses} AS "openPayers"
FROM (SELECT 1) LEFT JOIN (
  SELECT ${id}, ${txid} FROM ${payoutTransactions} WHERE ${payout_id} IS NOT NULL ORDER BY ${id} DESC LIMIT 1) AS newest`,
  ).first<Row>()
  if (row === null) throw new Error('a query with a left join has a row')
  const { id: newestId, txid: newestTxid, ...others } = row
  const openPayers = JSON.parse(row.openPayers) as readonly Address[] // safe: a list of the column
  const isNone = newestId === null || newestTxid === null
  return { ...others, openPayers, newest: isNone ? null : { id: newestId, txid: newestTxid } }
}
