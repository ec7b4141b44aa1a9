import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, EntryId, EntryType, EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import type { events } from '../d1/state-tables.ts'
import { statement } from '../d1/statement.ts'
import type { HeldReason, RefusedReason } from '../d1/tables.ts'
import { type EntryRow, readEntry } from '../ledger/entries.ts'
import type { Entry } from '../ledger/entry.ts'
import type { EventFact, StoredEvent } from './event.ts'

/** An event with its entry and its transfer, where it has them. The columns of a statement need different names. */
interface EventRow
  extends Omit<typeof events.$inferSelect, 'entry_id'>,
    Pick<EntryRow, 'wallet_id' | 'osn' | 'amount' | 'balance' | 'mark' | 'posted_by'> {
  readonly entry_id: EntryId | null
  readonly flow_type: EntryType
  readonly flow_cuy: CurrencyId
  readonly credit_txid: Txid | null
  readonly credit_position: number | null
  readonly to_address: Address | null
}

/** Up to `max` events after `last`, in their order. None is ever stored below one that was read. */
export async function selectEvents(db: ReadDatabase, last: EventId | 0, max: number): Promise<readonly StoredEvent[]> {
  const { results } = await selectAfter(db, { last, max }).all<EventRow>()
  return results.map(readEvent)
}

/** Removes up to `max` of the oldest events, where they are older than `before`. Returns how many. */
export async function removeOldEvents(db: WriteDatabase, before: UnixMs, max: number): Promise<number> {
  const { results } = await deleteOld(db, { before, max }).all()
  return results.length
}

/** A recharge's `osn` is the txid, with the position after a colon for a token. */
const selectAfter = statement(`
SELECT event.*, flow.wallet_id, flow.osn, flow.amount, flow.balance, flow.mark, flow.posted_by,
  flow.type AS flow_type, flow.cuy AS flow_cuy,
  transfer.txid AS credit_txid, transfer.position AS credit_position, transfer.to_address
FROM event
LEFT JOIN flow ON flow.id = event.entry_id
LEFT JOIN transfer ON flow.type = 1 AND transfer.txid = substr(flow.osn, 1, 64)
  AND transfer.position = CAST(substr(flow.osn, 66) AS INTEGER)
WHERE event.id > :last ORDER BY event.id LIMIT :max`)

/** From the oldest on, up to the first one that stays. Where the oldest stays, no other row is read. */
const deleteOld = statement(`
DELETE FROM event WHERE id IN (
  SELECT id FROM (
    SELECT id, max(created_at) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS newest FROM (
      SELECT id, created_at FROM event ORDER BY id
      LIMIT iif((SELECT created_at FROM event ORDER BY id LIMIT 1) < :before, :max, 0)))
  WHERE newest < :before)
RETURNING id`)

/** An event as stored. CHECKs of the table guarantee what each type has. */
function readEvent(row: EventRow): StoredEvent {
  return { id: row.id, uid: row.uid, createdAt: row.created_at, fact: readFact(row) }
}

/** The entry has the caller and the time of its event. */
function entryOf({ entry_id, flow_type: type, flow_cuy: cuy, ...rest }: EventRow): Entry {
  return readEntry({ ...rest, id: present(entry_id), type, cuy })
}

function readFact(row: EventRow): EventFact {
  const { type } = row
  switch (type) {
    case 'entry.posted':
      return { type, entry: entryOf(row) }
    case 'deposit.credited': {
      const [txid, position] = [present(row.credit_txid), present(row.credit_position)]
      return { type, txid, position, address: present(row.to_address), entry: entryOf(row) }
    }
    case 'deposit.dropped':
      return { type, txid: present(row.txid), position: present(row.position) }
    case 'deposit.seen':
      return { type, ...transferOf(row), seconds: present(row.seconds) }
    case 'deposit.held':
      return { type, ...transferOf(row), reason: present(row.reason) as HeldReason } // safe: the column's CHECK
    case 'deposit.refused':
      return { type, ...transferOf(row), reason: present(row.reason) as RefusedReason } // safe: as above
  }
}

function transferOf(row: EventRow) {
  const { txid, position, cuy, raw, address } = row
  return {
    txid: present(txid),
    position: present(position),
    cuy: present(cuy),
    raw: BigInt(present(raw)),
    address: present(address),
  }
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('an event lacks what its type has')
  return value
}
