import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { EventFact, EventId, HeldReason, RefusedReason, StoredEvent } from '../events/event.ts'
import type { EventStore } from '../events/event-store.ts'
import { type Database, openTables } from './database.ts'
import { events, webhooks } from './event-tables.ts'
import { type FlowRow, readFlow } from './rows.ts'
import { names, param, statement } from './statement.ts'
import { deposits, flows } from './tables.ts'

type EventRow = typeof events.$inferSelect
type DepositRow = typeof deposits.$inferSelect

/** The events over D1. */
export function createEventStore(db: Database): EventStore {
  return {
    async after(id, max) {
      const rows = await openTables(db)
        .select({ event: events, flow: flows, deposit: deposits })
        .from(events)
        .leftJoin(flows, eq(flows.id, events.entry_id))
        .leftJoin(deposits, isCreditedBy)
        .where(gt(events.id, id as EventId))
        .orderBy(asc(events.id))
        .limit(max)
      return rows.map(({ event, flow, deposit }) => readEvent(event, flow, deposit))
    },

    async removeOld(before, max) {
      await deleteOld(db, { before, max }).all()
    },
  }
}

/** A recharge's `osn` is the txid, with the position after a colon for a token. */
const isCreditedBy = and(
  eq(flows.type, 1),
  eq(deposits.txid, sql`substr(${flows.osn}, 1, 64)`),
  eq(deposits.position, sql`CAST(substr(${flows.osn}, 66) AS INTEGER)`),
)

const { id, created_at } = events
const oldest = sql`(SELECT ${created_at} FROM ${events} ORDER BY ${id} LIMIT 1)`

/** Where the oldest one is kept, no other row is read. */
const deleteOld = statement(sql`
DELETE FROM ${events} WHERE ${id} IN (
  SELECT ${names(id)} FROM (SELECT ${names(id, created_at)} FROM ${events}
    WHERE ${id} <= coalesce((SELECT min(${webhooks.position}) FROM ${webhooks}), ${id})
    ORDER BY ${id} LIMIT iif(${oldest} < ${param('before')}, ${param('max')}, 0))
  WHERE ${names(created_at)} < ${param('before')})`)

/** An event as stored. CHECKs of the table guarantee what each type has. */
function readEvent(row: EventRow, flow: FlowRow | null, deposit: DepositRow | null): StoredEvent {
  const { id: number, uid, created_at: createdAt } = row
  return { id: number, uid, createdAt, fact: readFact(row, flow, deposit) }
}

function readFact(row: EventRow, flow: FlowRow | null, deposit: DepositRow | null): EventFact {
  const { type } = row
  switch (type) {
    case 'entry.posted':
      return { type, entry: readFlow(present(flow)) }
    case 'deposit.credited': {
      const { txid, position, to_address: address } = present(deposit)
      return { type, txid, position, address, entry: readFlow(present(flow)) }
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
