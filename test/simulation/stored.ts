import type { DatabaseSync } from 'node:sqlite'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Uid } from '../../src/worker/common/ids.ts'
import { audits } from '../rivals/audits.ts'
import type { SqliteD1 } from '../support/sqlite-d1.ts'
import type { Act } from './payments.ts'

type Numbers<Names extends string> = Readonly<Record<Names, number>>
type Texts<Names extends string> = Readonly<Record<Names, string>>
type Amounts<Names extends string> = Readonly<Record<Names, bigint>>

export type StoredScan = Numbers<
  'height' | 'finalized' | 'finalizedTime' | 'advancedAt' | 'caughtUpAt' | 'triedAt' | 'correctedBy'
> & {
  readonly hash: string | null
  readonly halted: string | null
  /** Since when the database is known to be an older copy. */
  readonly restoredAt: number | null
}

export type StoredTransfer = Numbers<'id' | 'position' | 'height' | 'cuy'> &
  Texts<'txid'> &
  Amounts<'raw' | 'amount'> & {
    readonly uid: number | null
    readonly to: Address
    readonly state: 'seen' | 'dropped' | 'held' | 'refused' | 'credited' | 'moved'
    readonly reason: string | null
    readonly review: 'open' | 'credit' | 'refuse' | null
  }

/**
 * A ledger entry, with the columns that callers are shown. `by` is the name of its backend, empty
 * for a recharge.
 */
export type StoredEntry = Numbers<'id' | 'uid' | 'wid' | 'type' | 'cuy' | 'createdAt'> &
  Texts<'osn' | 'mark' | 'by'> &
  Amounts<'amount' | 'balance'>

export type StoredWallet = Numbers<'uid' | 'cuy'> & Amounts<'balance'>

export type StoredAddress = Numbers<'id' | 'index' | 'issuedHeight' | 'forOrders'> & {
  readonly uid: Uid
  readonly address: Address
}

/** An unfinished rescan. The blocks before `next` were read. */
export type StoredRescan = Numbers<'id' | 'from' | 'to' | 'next'> & { readonly kind: 'gap' | 'request' }

/**
 * The recorded amount of an address in one currency, and its known difference from the balance on
 * the chain.
 */
export type StoredHolding = Numbers<'cuy'> &
  Amounts<'recorded' | 'accepted' | 'reported'> & { readonly address: Address }

export type StoredAct = Numbers<'position' | 'height' | 'place' | 'cuy'> &
  Texts<'txid'> & {
    readonly kind: Act['kind']
    readonly address: Address | null
    readonly raw: string | null
    readonly isConfirmed: 0 | 1
  }

export type StoredPayout = Numbers<'id' | 'uid' | 'cuy' | 'attempts' | 'changedAt'> &
  Texts<'osn' | 'state'> &
  Amounts<'amount' | 'fee'> &
  Readonly<Record<'txid' | 'reason', string | null>>

export type StoredOrder = Numbers<'id' | 'cuy' | 'afterHeight' | 'until' | 'createdAt' | 'newestEntry'> &
  Texts<'order'> &
  Amounts<'amount' | 'atLeast' | 'credited'> &
  Readonly<Record<'take' | 'late' | 'taken', 0 | 1>> & {
    readonly uid: Uid
    readonly address: Address
    readonly state: 'open' | 'partly' | 'paid' | 'expired' | 'cancelled'
    readonly endedAt: number | null
  }

export type StoredEvent = Numbers<'id' | 'uid'> &
  Texts<'type'> &
  Readonly<Record<'entryId' | 'position', number | null> & Record<'txid' | 'reason', string | null>>

// The only SQL of the simulation, beside the audits that it shares with test/rivals, so that only
// this file depends on the names of columns.
const selectScan = `
SELECT height, hash, finalized, finalized_time AS finalizedTime, advanced_at AS advancedAt, caught_up_at AS caughtUpAt,
  tried_at AS triedAt, halted, restored_at AS restoredAt, corrected_by AS correctedBy FROM scan`
const selectTransfers = `
SELECT id, txid, position, height, cuy, uid, to_address AS "to", state, reason, review, raw,
  amount FROM transfer`
const selectEntries = `
SELECT id, uid, wallet_id AS wid, osn, type, cuy, amount, balance, mark, created_at AS createdAt,
  posted_by AS "by" FROM flow`
const selectAddresses =
  'SELECT id, derivation_index AS "index", uid, address, issued_height AS "issuedHeight", for_orders AS "forOrders" FROM address'
const countUnpaid = `
SELECT count(*) AS n FROM address
WHERE uid = ? AND for_orders = 0 AND NOT EXISTS (
  SELECT 1 FROM transfer WHERE to_address = address.address AND state IN ('held', 'refused', 'credited'))`
const selectCredited = `
SELECT CAST(coalesce(sum(amount), 0) AS TEXT) AS sum FROM transfer
WHERE uid = ? AND cuy = ? AND changed_at >= ? AND state = 'credited'`
const selectRescans = `
SELECT id, kind, from_height AS "from", to_height AS "to", next_height AS next
FROM rescan WHERE finished_at IS NULL ORDER BY id`
// Events that were removed by their age are kept beside the database for the audits at the end.
const keepRemoved = `
CREATE TEMP TABLE kept_event AS SELECT id, type, uid, txid, position, reason, about FROM main.stored_event WHERE false;
CREATE TEMP TRIGGER keep_event BEFORE DELETE ON main.stored_event BEGIN
  INSERT INTO kept_event SELECT OLD.id, OLD.type, OLD.uid, OLD.txid, OLD.position, OLD.reason, OLD.about;
END`
const allEvents = `(
SELECT id, type, uid, txid, position, reason, about FROM stored_event UNION ALL SELECT * FROM kept_event)`
const selectEvents = `
SELECT id, type, uid, NULL AS entryId, nullif(lower(hex(txid)), '') AS txid, position, reason FROM ${allEvents}
UNION ALL
SELECT stored_flow.id, iif(type = 1, 'deposit.credited', 'entry.posted'), uid, stored_flow.id, NULL, NULL, NULL
FROM stored_flow JOIN wallet ON wallet.id = wallet_id ORDER BY 1`
const selectActs =
  'SELECT txid, position, height, place, cuy, kind, address, raw, confirmed_at IS NOT NULL AS isConfirmed FROM issuer_act'
const selectOldestCredit = `
SELECT event.id, event.created_at AS createdAt FROM webhook JOIN event ON event.id > webhook.position
WHERE webhook.number = 1 AND event.type = 'deposit.credited' ORDER BY event.id LIMIT 1`
const parts = Array.from({ length: 7 }, (_, i) => `part_${i}`)
const selectHoldings = `
SELECT address, cuy, ${parts.join(', ')}, accepted, iif(differing >= 3, difference, '0') AS reported
FROM holding`
const selectUnread = `
SELECT address, cuy, changed_height AS changedHeight, read_from AS readFrom FROM holding
WHERE read_from IS NULL OR read_from < changed_height LIMIT 1`
const selectPayouts =
  'SELECT id, uid, cuy, osn, amount, fee, state, attempts, txid, reason, changed_at AS changedAt FROM payout'
const selectOrders = `
SELECT id, uid, cuy, reference AS "order", amount, at_least AS atLeast, after_height AS afterHeight, until, take,
  created_at AS createdAt, state, credited, newest_entry AS newestEntry, late, taken, ended_at AS endedAt,
  (SELECT lower(hex(address)) FROM stored_address WHERE id = address_id) AS address
FROM payment_order`
const selectWaiting = `
SELECT txid, position, reason FROM transfer
WHERE state = 'held' AND reason IN ('retired', 'decimals-unknown') LIMIT 1`

/** The contents of the database, read without the service. */
export type Stored = ReturnType<typeof createStored>

/** The rows that changed, by table and `id`. */
export type Changes = ReadonlyMap<string, ReadonlySet<number>>

/** Makes the reads of a database for the checks. They serve all runs over this database. */
export function createStored(store: SqliteD1) {
  store.sqlite.exec(keepRemoved)
  const queries = createQueries(store.sqlite)
  const followed = followChanges(store, queries.first<StoredScan>(selectScan))
  return {
    ...scanReads(queries),
    ...followed,
    ...transferReads(queries),
    ...ledgerReads(queries),
    ...eventReads(queries),
    ...payoutReads(queries),
    ...orderReads(queries),
    /** What must hold in the database and does not, or null. */
    unsound: createAudit(store),
  }
}

/**
 * Follows the changed rows for the checks after each write. The row of the scan, which is read most
 * often, is read again only after it has changed.
 */
function followChanges(store: SqliteD1, readScan: () => StoredScan | undefined) {
  let changes = new Map<string, Set<number>>()
  let scan: StoredScan | undefined
  let isScanRead = false
  const tables = [
    'stored_address',
    'stored_flow',
    'payment_order',
    'payout',
    'rescan',
    'scan',
    'stored_transfer',
    'wallet',
  ]
  store.watch(tables, (stored, id) => {
    const table = stored.replace('stored_', '')
    if (table === 'scan') isScanRead = false
    const rows = changes.get(table)
    if (rows === undefined) changes.set(table, new Set([id]))
    else rows.add(id)
  })
  return {
    scan(): StoredScan | undefined {
      if (!isScanRead) scan = readScan()
      isScanRead = true
      return scan
    },
    /** The changes since the last call. */
    takeChanges(): Changes {
      const taken = changes
      if (taken.size > 0) changes = new Map()
      return taken
    },
    /**
     * To be called after the database was put back to a copy, because this object cannot notice
     * that.
     */
    forget() {
      changes = new Map()
      isScanRead = false
    },
  }
}

type Value = string | number
type Queries = ReturnType<typeof createQueries>
/** A row as SQLite returns it: amounts are below 2^53, and raw amounts are text. */
type Row<T> = { readonly [Name in keyof T]: T[Name] extends bigint ? number | string : T[Name] }

/** Prepared queries whose rows have the selected columns. */
function createQueries(sqlite: DatabaseSync) {
  const rows = <T>(sql: string) => {
    const statement = sqlite.prepare(sql)
    return (...values: Value[]) => statement.all(...values) as unknown as T[] // safe: a row has the selected columns
  }
  const first = <T>(sql: string) => {
    const all = rows<T>(sql)
    return (...values: Value[]): T | undefined => all(...values)[0]
  }
  const count = (sql: string) => {
    const one = first<{ n: number }>(sql)
    return (...values: Value[]) => one(...values)?.n ?? 0
  }
  return { rows, first, count }
}

function scanReads({ rows, count }: Queries) {
  return {
    addressesFrom: rows<StoredAddress>(`${selectAddresses} WHERE derivation_index >= ? ORDER BY derivation_index`),
    addressesOf: rows<StoredAddress>(`${selectAddresses} WHERE uid = ? ORDER BY derivation_index`),
    /** The caller's addresses without a deposit. */
    countUnpaid: count(countUnpaid),
    rescans: rows<StoredRescan>(selectRescans),
    /**
     * Counts the rescans that the operator asked for, and the corrections. After each of them
     * transfers are decided again.
     */
    countRepairs: count(
      `SELECT (SELECT count(*) FROM rescan WHERE kind = 'request') + (SELECT count(*) FROM correction) AS n`,
    ),
    countOperators: count(`SELECT count(*) AS n FROM kept_address WHERE kind = 'operator'`),
    /**
     * 1 where the decimals of a contract are stored, once nodes have agreed on the configured ones.
     */
    countAgreed: count('SELECT count(*) AS n FROM agreed_decimals WHERE contract = ?'),
    countSettings: count('SELECT count(*) AS n FROM stored_setting'),
    /** The raised alarms, with their subjects as JSON. */
    alarms: rows<Texts<'kind' | 'subject'>>('SELECT kind, subject FROM alarm WHERE raised_at IS NOT NULL'),
  }
}

function transferReads({ rows, first, count }: Queries) {
  const toTransfer = ({ raw, amount, ...row }: Row<StoredTransfer>): StoredTransfer => ({
    ...row,
    raw: BigInt(raw),
    amount: BigInt(amount),
  })
  const all = rows<Row<StoredTransfer>>(selectTransfers)
  const of = rows<Row<StoredTransfer>>(
    `${selectTransfers} WHERE uid = ? AND id IN (SELECT id FROM stored_transfer WHERE txid = unhex(?))`,
  )
  const one = first<Row<StoredTransfer>>(
    `${selectTransfers} WHERE id = (SELECT id FROM stored_transfer WHERE txid = unhex(?) AND position = ?)`,
  )
  const byId = first<Row<StoredTransfer>>(`${selectTransfers} WHERE id = ?`)
  const credited = first<{ sum: string }>(selectCredited)
  const countState = count('SELECT count(*) AS n FROM transfer WHERE uid = ? AND state = ?')
  return {
    transfers: () => all().map(toTransfer),
    transfersOf: (uid: Uid, txid: string) => of(uid, txid).map(toTransfer),
    transfer(txid: string, position: number): StoredTransfer | undefined {
      const row = one(txid, position)
      return row === undefined ? undefined : toTransfer(row)
    },
    transferById(id: number): StoredTransfer | undefined {
      const row = byId(id)
      return row === undefined ? undefined : toTransfer(row)
    },
    /** A transfer that is held for a reason which ends without an operator. */
    waiting: first<Pick<StoredTransfer, 'txid' | 'position' | 'reason'>>(selectWaiting),
    /** Whether a transfer was decided. A transfer that is `seen` or `dropped` was not decided. */
    isDecided(txid: string, position: number): boolean {
      const state = one(txid, position)?.state
      return state !== undefined && state !== 'seen' && state !== 'dropped'
    },
    countCredited: count(`SELECT count(*) AS n FROM transfer WHERE state = 'credited'`),
    /**
     * Counts the transfers that this node, by its number, has shown, and that were dropped at this
     * time or later.
     */
    countFalse: count(`SELECT count(*) AS n FROM transfer WHERE state = 'dropped' AND seen_by = ? AND changed_at >= ?`),
    /** Counts the transfers that were dropped before a time. */
    countDroppedBefore: count(`SELECT count(*) AS n FROM transfer WHERE state = 'dropped' AND changed_at < ?`),
    countSeen: count(`SELECT count(*) AS n FROM stored_transfer WHERE state = 'seen'`),
    countSeenOf: (uid: Uid) => countState(uid, 'seen'),
    countHeldOf: (uid: Uid) => countState(uid, 'held'),
    /** The sum that was credited to a caller in one currency at or after a time. */
    creditedSince: (uid: Uid, cuy: number, since: number) => BigInt(credited(uid, cuy, since)?.sum ?? 0),
  }
}

function ledgerReads({ rows, first, count }: Queries) {
  const entries = rows<Row<StoredEntry>>(`${selectEntries} ORDER BY id`)
  const entriesAbove = rows<Row<StoredEntry>>(`${selectEntries} WHERE id > ? ORDER BY id`)
  const entry = first<Row<StoredEntry>>(`${selectEntries} WHERE uid = ? AND cuy = ? AND type = ? AND osn = ?`)
  const entriesOf = rows<Row<StoredEntry>>(`${selectEntries} WHERE uid = ? ORDER BY id DESC`)
  const wallets = rows<Row<StoredWallet>>('SELECT uid, cuy, balance FROM wallet')
  const holdings = rows<Row<Omit<StoredHolding, 'recorded'>> & Record<string, Value | null>>(selectHoldings)
  const toEntry = (row: Row<StoredEntry>): StoredEntry => {
    return { ...row, amount: BigInt(row.amount), balance: BigInt(row.balance) }
  }
  return {
    countEntries: count('SELECT count(*) AS n FROM flow'),
    entries: () => entries().map(toEntry),
    /** The entries with ids above `id`, oldest first. */
    entriesAbove: (id: number) => entriesAbove(id).map(toEntry),
    entryOf(uid: number, cuy: number, type: number, osn: string) {
      const row = entry(uid, cuy, type, osn)
      return row === undefined ? undefined : toEntry(row)
    },
    /** The caller's entries, newest first. */
    entriesOf: (uid: Uid) => entriesOf(uid).map(toEntry),
    wallets: () => wallets().map((wallet): StoredWallet => ({ ...wallet, balance: BigInt(wallet.balance) })),
    /** A holding whose record has changed since its balance was last read. */
    unreadHolding: first<object>(selectUnread),
    holdings: () =>
      holdings().map((row): StoredHolding => {
        // `parts` begins with the highest digits
        const recorded = parts.reduce((sum, part) => sum * 10n ** 12n + BigInt(row[part] ?? 0), 0n)
        return { ...row, recorded, accepted: BigInt(row.accepted), reported: BigInt(row.reported) }
      }),
  }
}

function eventReads({ rows, first, count }: Queries) {
  const unarchived = count(`SELECT count(*) AS n FROM last_event WHERE NOT EXISTS (
    SELECT 1 FROM archive WHERE event = last_event.id AND copy IS NULL)`)
  const verifier = first<{ readonly verifier: string | null }>('SELECT verifier FROM archive')
  return {
    events: rows<StoredEvent>(selectEvents),
    acts: rows<StoredAct>(selectActs),
    /** A number that changes whenever an act of an issuer is stored, or a fee is confirmed. */
    countActs: count(
      'SELECT coalesce(sum(height * 1000 + place + position * 7 + (confirmed_at IS NOT NULL)), 0) AS n FROM issuer_act',
    ),
    newestEvent: count('SELECT id AS n FROM last_event'),
    /** The oldest event of a credit that the first endpoint has not received. */
    oldestCredit: first<Numbers<'id' | 'createdAt'>>(selectOldestCredit),
    /** The events that endpoints have not received, those of all endpoints added up. */
    countUndelivered: count('SELECT count(*) AS n FROM webhook JOIN event ON event.id > webhook.position'),
    countEndpoints: count('SELECT count(*) AS n FROM webhook'),
    /** Whether everything that has happened is in the archive. */
    isArchived: () => unarchived() === 0,
    /** The key that verifies checkpoints of the archive; null without one. */
    verifier: () => verifier()?.verifier ?? null,
  }
}

function payoutReads({ rows, first, count }: Queries) {
  const all = rows<Row<StoredPayout>>(`${selectPayouts} ORDER BY id`)
  const byId = first<Row<StoredPayout>>(`${selectPayouts} WHERE id = ?`)
  const byKey = first<Row<StoredPayout>>(`${selectPayouts} WHERE uid = ? AND cuy = ? AND osn = ?`)
  const bytes = first<{ readonly bytes: string | null }>('SELECT bytes FROM payout_transaction WHERE txid = ?')
  const toPayout = (row: Row<StoredPayout>): StoredPayout => {
    return { ...row, amount: BigInt(row.amount), fee: BigInt(row.fee) }
  }
  const orNone = (row: Row<StoredPayout> | undefined) => (row === undefined ? undefined : toPayout(row))
  return {
    payouts: () => all().map(toPayout),
    payoutById: (id: number) => orNone(byId(id)),
    payoutOf: (uid: number, cuy: number, osn: string) => orNone(byKey(uid, cuy, osn)),
    /** How often a transaction was sent. */
    sendsOf: count('SELECT sends AS n FROM payout_transaction WHERE txid = ?'),
    /** The bytes that are stored of a payout's transaction. */
    bytesOfPayout: (txid: string) => bytes(txid)?.bytes ?? undefined,
    /** When a payout's transaction was sent first, in milliseconds. */
    sentAtOf: count('SELECT sent_at AS n FROM payout_transaction WHERE txid = ?'),
  }
}

function orderReads({ rows, first, count }: Queries) {
  const all = rows<Row<StoredOrder>>(`${selectOrders} ORDER BY id`)
  const byId = first<Row<StoredOrder>>(`${selectOrders} WHERE id = ?`)
  const byKey = first<Row<StoredOrder>>(`${selectOrders} WHERE uid = ? AND reference = ?`)
  const marked = rows<Row<StoredEntry>>(
    `${selectEntries} WHERE id IN (SELECT id FROM stored_flow WHERE type = 1 AND mark = ?) ORDER BY id`,
  )
  const mark = first<{ readonly mark: string }>('SELECT mark FROM stored_flow WHERE transfer_id = ?')
  const toOrder = (row: Row<StoredOrder>): StoredOrder => {
    return { ...row, amount: BigInt(row.amount), atLeast: BigInt(row.atLeast), credited: BigInt(row.credited) }
  }
  const orNone = (row: Row<StoredOrder> | undefined) => (row === undefined ? undefined : toOrder(row))
  return {
    orders: () => all().map(toOrder),
    orderById: (id: number) => orNone(byId(id)),
    orderOf: (uid: number, order: string) => orNone(byKey(uid, order)),
    /** The entries of deposits that name this order, oldest first. */
    creditsOf: (id: number) =>
      marked(String(id)).map((row): StoredEntry => {
        return { ...row, amount: BigInt(row.amount), balance: BigInt(row.balance) }
      }),
    /** The mark of the entry of a credited transfer. */
    markOf: (transferId: number) => mark(transferId)?.mark,
    /** The id of the transfer that an entry credits. */
    transferOfEntry: count('SELECT transfer_id AS n FROM stored_flow WHERE id = ?'),
    /** The events of an order, oldest first, and what was credited at each. */
    orderEvents: rows<Texts<'type'> & Numbers<'credited'>>(
      `SELECT type, about ->> 2 AS credited FROM ${allEvents} WHERE type GLOB 'order.*' AND about ->> 0 = ? ORDER BY id`,
    ),
  }
}

/**
 * Audits whose sums do not fit into an integer of SQLite, because chains of the simulation have
 * amounts of any size. `auditHoldings` compares such sums.
 */
const ofAnySize = new Set(['the totals are those of the transfers', 'a holding is what its address got and lost'])

function createAudit({ sqlite }: SqliteD1): () => string | null {
  const all = Object.entries(audits).filter(([name]) => !ofAnySize.has(name))
  const statements = all.map(([name, query]) => {
    return [name, sqlite.prepare(query.replaceAll('stored_event', () => allEvents))] as const
  })
  return () => {
    const [name, rows] =
      statements.map(([name, query]) => [name, query.all()] as const).find(([, rows]) => rows.length > 0) ?? []
    return name === undefined ? null : `it is not so that ${name}: ${JSON.stringify(rows?.slice(0, 3))}`
  }
}
