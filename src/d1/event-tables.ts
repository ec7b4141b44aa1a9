import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, EndpointKey, EntryId, EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type EventType, eventTypes, type HeldReason, type RefusedReason } from '../events/event.ts'
import {
  between,
  heldReasons,
  hex,
  instant,
  isType,
  oneOfTexts,
  positiveSafe,
  positiveUnits,
  rule,
  rules,
  safe,
  uid,
} from './columns.ts'

const typesWithEntry = isType<EventType>('deposit.credited', 'entry.posted')
const typesWithTransfer = isType<EventType>('deposit.seen', 'deposit.held', 'deposit.refused')
const typesWithReason = isType<EventType>('deposit.held', 'deposit.refused')
const seenType = isType<EventType>('deposit.seen')
const heldReason = oneOfTexts<HeldReason>({ ...heldReasons, 'too-large': true })
const refusedReason = oneOfTexts<RefusedReason['kind']>({
  failed: true,
  'other-contract': true,
  'below-minimum': true,
  dust: true,
})

/**
 * What happened, for backends. Triggers write each row in the statement that stores what it reports. A ledger entry and the
 * deposit that it credits are read from their own rows.
 */
export const events = sqliteTable(
  'event',
  {
    id: integer().$type<EventId>().primaryKey({ autoIncrement: true }),
    type: text().$type<EventType>().notNull(),
    uid: uid(),
    created_at: instant(),
    entry_id: integer().$type<EntryId>(),
    txid: text().$type<Txid>(),
    position: integer(),
    cuy: integer().$type<CurrencyId>(),
    raw: text(),
    address: text().$type<Address>(),
    decimals: integer(), // of a transfer that was only seen: its currency can be removed from the configuration
    seconds: integer(),
    reason: text().$type<HeldReason | RefusedReason['kind']>(),
    contract_type: integer(),
  },
  (table) => [
    uniqueIndex('event_reason')
      .on(table.txid, table.position, table.type, table.reason)
      .where(sql.raw('reason IS NOT NULL')),
    ...rules(positiveSafe, table.id, table.uid),
    rule(table.type, isType(...eventTypes)),
    rule(table.created_at, safe),
    rule(table.entry_id, `(entry_id IS NOT NULL) = (${typesWithEntry})`),
    rule(table.txid, `(txid IS NULL) = (${typesWithEntry}) AND (txid IS NULL OR (${hex(64)('txid')}))`),
    rule(table.position, `(position IS NULL) = (${typesWithEntry}) AND (position IS NULL OR ${safe('position')})`),
    rule(table.cuy, `(cuy IS NOT NULL) = (${typesWithTransfer}) AND (cuy IS NULL OR ${positiveSafe('cuy')})`),
    rule(table.raw, `(raw IS NOT NULL) = (${typesWithTransfer}) AND (raw IS NULL OR (${positiveUnits('raw')}))`),
    rule(
      table.address,
      `(address IS NOT NULL) = (${typesWithTransfer}) AND (address IS NULL OR (${hex(40)('address')}))`,
    ),
    rule(
      table.decimals,
      `(decimals IS NOT NULL) = (${seenType}) AND (decimals IS NULL OR ${between(0, 255)('decimals')})`,
    ),
    rule(table.seconds, `(seconds IS NOT NULL) = (${seenType}) AND (seconds IS NULL OR ${safe('seconds')})`),
    rule(
      table.reason,
      `(reason IS NOT NULL) = (${typesWithReason}) AND (reason IS NULL OR (type = 'deposit.held' AND ${heldReason('reason')}) OR (type = 'deposit.refused' AND ${refusedReason('reason')}))`,
    ),
    rule(table.contract_type, `(contract_type IS NOT NULL) = (reason IS NOT NULL AND reason = 'other-contract')`),
  ],
)

/** How far each endpoint of `WEBHOOKS` has got, by the hash of its URL. */
export const webhooks = sqliteTable(
  'webhook',
  {
    endpoint: text().$type<EndpointKey>().primaryKey(),
    number: integer().notNull(), // its place in WEBHOOKS, from 1
    position: integer().$type<EventId | 0>().notNull(), // the newest event that it has got, or that is not for it
    attempts: integer().notNull().default(0), // failed ones of the next event
    failing_since: integer().$type<UnixMs>(),
    next_try: instant(), // while a delivery runs: when its lease ends
    lease: text().notNull().default(''),
    set_aside: integer().$type<EventId>(), // the newest event that was put aside since the endpoint was last healthy
  },
  (table) => [
    index('webhook_number').on(table.number),
    rule(table.endpoint, hex(64)),
    rule(table.number, positiveSafe),
    ...rules(safe, table.position, table.attempts, table.next_try),
    rule(table.failing_since, '(failing_since IS NOT NULL) = (attempts > 0)'),
  ],
)
