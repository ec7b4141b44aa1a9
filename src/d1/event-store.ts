import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, EntryId, EntryType } from '../common/ids.ts'
import type { EventFact, HeldReason, RefusedReason, StoredEvent } from '../events/event.ts'
import type { EventStore } from '../events/event-store.ts'
import type { Entry } from '../ledger/entry.ts'
import type { Database } from './database.ts'
import { events, webhooks } from './event-tables.ts'
import { type FlowRow, readFlow } from './rows.ts'
import { names, param, statement } from './statement.ts'
import { deposits, flows } from './tables.ts'

/** An event with its entry and its deposit, where it has them. The columns of a statement need different names. */
interface EventRow extends Omit<typeof events.$inferSelect, 'entry_id'>, Pick<FlowRow, 'wallet_id' | 'osn' | 'amount'> {
  readonly entry_id: EntryId | null
  readonly balance: number
  readonly mark: string
  readonly posted_by: FlowRow['posted_by']
  readonly flow_type: EntryType
  readonly flow_cuy: CurrencyId
  readonly deposit_txid: Txid | null
  readonly deposit_position: number | null
  readonly to_address: Address | null
}

/** The events over D1. */
export function createEventStore(db: Database): EventStore {
  return {
    async after(last, max) {
      const { results } = await selectAfter(db, { last, max }).all<EventRow>()
      return results.map(readEvent)
    },

    async removeOld(before, max) {
      await deleteOld(db, { before, max }).all()
    },
  }
}

const { id, created_at } = events
const oldest = sql`(SELECT ${created_at} FROM ${events} ORDER BY ${id} LIMIT 1)`

/** Where the oldest one is kept, no other row is read. By hand: the limit is an expression. */
const deleteOld = statement(sql`
DELETE FROM ${events} WHERE ${id} IN (
  SELECT ${names(id)} FROM (SELECT ${names(id, created_at)} FROM ${events}
    WHERE ${id} <= coalesce((SELECT min(${webhooks.position}) FROM ${webhooks}), ${id})
    ORDER BY ${id} LIMIT iif(${oldest} < ${param('before')}, ${param('max')}, 0))
  WHERE ${names(created_at)} < ${param('before')})`)

/** A recharge's `osn` is the txid, with the position after a colon for a token. By hand: columns of equal names get others. */
const selectAfter = statement(sql`
SELECT ${events}.*, ${flows.wallet_id}, ${flows.osn}, ${flows.amount}, ${flows.balance}, ${flows.mark}, ${flows.posted_by},
  ${flows.type} AS flow_type, ${flows.cuy} AS flow_cuy,
  ${deposits.txid} AS deposit_txid, ${deposits.position} AS deposit_position, ${deposits.to_address}
FROM ${events}
LEFT JOIN ${flows} ON ${flows.id} = ${events.entry_id}
LEFT JOIN ${deposits} ON ${flows.type} = 1 AND ${deposits.txid} = substr(${flows.osn}, 1, 64)
  AND ${deposits.position} = CAST(substr(${flows.osn}, 66) AS INTEGER)
WHERE ${id} > ${param('last')} ORDER BY ${id} LIMIT ${param('max')}`)

/** An event as stored. CHECKs of the table guarantee what each type has. */
function readEvent(row: EventRow): StoredEvent {
  return { id: row.id, uid: row.uid, createdAt: row.created_at, fact: readFact(row) }
}

/** The entry has the caller and the time of its event. */
function readEntry(row: EventRow): Entry {
  const { entry_id, flow_type: type, flow_cuy: cuy, ...rest } = row
  return readFlow({ ...rest, id: present(entry_id), type, cuy })
}

function readFact(row: EventRow): EventFact {
  const { type } = row
  switch (type) {
    case 'entry.posted':
      return { type, entry: readEntry(row) }
    case 'deposit.credited': {
      const { deposit_txid: txid, deposit_position: position, to_address: address } = row
      return {
        type,
        txid: present(txid),
        position: present(position),
        address: present(address),
        entry: readEntry(row),
      }
    }
    case 'deposit.dropped':
      return { type, txid: present(row.txid), position: present(row.position) }
    case 'deposit.seen':
      return { type, ...readTransferFact(row), decimals: present(row.decimals), seconds: present(row.seconds) }
    case 'deposit.held':
      return { type, ...readTransferFact(row), reason: present(row.reason) as HeldReason } // safe: the column's CHECK
    case 'deposit.refused':
      return { type, ...readTransferFact(row), reason: readRefusedReason(row) }
  }
}

function readTransferFact(row: EventRow) {
  const { txid, position, cuy, raw, address } = row
  return {
    txid: present(txid),
    position: present(position),
    cuy: present(cuy),
    raw: BigInt(present(raw)),
    address: present(address),
  }
}

function readRefusedReason({ reason, contract_type: type }: EventRow): RefusedReason {
  if (type !== null) return { kind: 'other-contract', type }
  return { kind: present(reason) as Exclude<RefusedReason['kind'], 'other-contract'> } // safe: CHECKs of both columns
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('an event lacks what its type has')
  return value
}
