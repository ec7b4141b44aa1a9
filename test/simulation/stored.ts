import type { DatabaseSync } from 'node:sqlite'
import type { Address } from '../../src/chain/address.ts'
import type { Uid } from '../../src/common/ids.ts'

/** The row of the scan. */
export interface StoredScan {
  readonly height: number
  readonly hash: string | null
  readonly finalized: number
  readonly advancedAt: number
  readonly caughtUpAt: number
  readonly triedAt: number
  readonly lease: string
  readonly leaseUntil: number
  readonly halted: string | null
}

/** A deposit. */
export interface StoredDeposit {
  readonly txid: string
  readonly position: number
  readonly height: number
  readonly hash: string
  readonly cuy: number
  readonly uid: number
  readonly to: Address
  readonly outcome: string
  readonly amount: bigint
}

/** A ledger entry, with the columns that callers are shown. */
export interface StoredEntry {
  readonly id: number
  readonly uid: number
  readonly wid: number
  readonly osn: string
  readonly type: number
  readonly cuy: number
  readonly amount: bigint
  readonly balance: bigint
  readonly mark: string
  readonly createdAt: number
  /** The name of its backend, empty for a recharge. */
  readonly by: string
}

/** A wallet's balance. */
export interface StoredWallet {
  readonly uid: number
  readonly cuy: number
  readonly balance: bigint
}

/** An issued address. */
export interface StoredAddress {
  readonly id: number
  readonly index: number
  readonly uid: Uid
  readonly address: Address
  readonly issuedHeight: number
}

/** An unfinished rescan. */
export interface StoredRescan {
  readonly id: number
  readonly kind: 'gap' | 'request'
  readonly from: number
  readonly to: number
}

/** Received, sent and pending, of one address in one currency, in chain units. */
export interface StoredTotals {
  readonly received: bigint
  readonly sent: bigint
  readonly pending: bigint
}

/** What is accepted of the difference between an address and the chain, in chain units. */
export interface StoredDifference {
  readonly fees: bigint
  readonly confirmed: bigint
}

/** A deposit or movement, as what changes the records of an address. `storedAt` is 0 where it is unknown. */
export interface StoredChange {
  readonly address: Address
  readonly cuy: number
  readonly height: number
  readonly storedAt: number
}

/** A row as SQLite returns it: amounts are below 2^53. */
type Integers<T> = { readonly [Name in keyof T]: T[Name] extends bigint ? number : T[Name] }

// The only SQL of the simulation, so that only this file depends on the names of columns.
const selectScan = `
SELECT height, hash, finalized, advanced_at AS advancedAt, caught_up_at AS caughtUpAt,
  tried_at AS triedAt, lease, lease_until AS leaseUntil, halted FROM scan`
const selectDeposits = `
SELECT txid, position, height, block_hash AS hash, cuy, uid, to_address AS "to", outcome, amount FROM deposit`
const selectEntries = `
SELECT id, uid, wallet_id AS wid, osn, type, cuy, amount, balance, mark, created_at AS createdAt,
  posted_by AS "by" FROM flow`
const selectKnown = `
SELECT 1 FROM deposit WHERE txid = ?1 AND position = ?2
UNION ALL SELECT 1 FROM pending WHERE txid = ?1 AND to_address = ?3`
const selectAddresses =
  'SELECT id, derivation_index AS "index", uid, address, issued_height AS "issuedHeight" FROM address'
const countUnpaid = `
SELECT count(*) AS n FROM address
WHERE uid = ? AND NOT EXISTS (SELECT 1 FROM deposit WHERE deposit.to_address = address.address)`
const countSightings = `
SELECT count(*) AS n FROM sighting JOIN address ON address.address = sighting.to_address WHERE address.uid = ?`
const selectCredited = `
SELECT coalesce(sum(amount), 0) AS n FROM deposit WHERE uid = ? AND cuy = ? AND created_at >= ?`
const selectForeignPending = `
SELECT uid, to_address AS "to" FROM pending
WHERE NOT EXISTS (SELECT 1 FROM address WHERE address.address = pending.to_address AND address.uid = pending.uid)`
const selectTotals = `
SELECT 'in' AS kind, raw FROM deposit WHERE to_address = ?1 AND cuy = ?2
UNION ALL SELECT direction, raw FROM movement WHERE address = ?1 AND cuy = ?2
UNION ALL SELECT 'pending', raw FROM pending WHERE to_address = ?1 AND cuy = ?2`
const selectDifference = 'SELECT fees, confirmed FROM accepted_difference WHERE address = ? AND cuy = ?'
const selectChanges = `
SELECT to_address AS address, cuy, height, created_at AS storedAt FROM deposit
UNION ALL SELECT address, cuy, height, 0 FROM movement`
const countUnfinished = `
SELECT (SELECT count(*) FROM open_difference) + (SELECT count(*) FROM accepted_difference WHERE reported = 0)
  + (SELECT count(*) FROM reconciliation WHERE finished_at IS NULL)
  + (SELECT 3 - count(DISTINCT cuy) FROM reconciliation WHERE started_at > ?) AS n`

const selectRescans = `
SELECT id, kind, from_height AS "from", to_height AS "to" FROM rescan WHERE finished_at IS NULL ORDER BY id`

/** The contents of the database, read without the service. */
export type Stored = ReturnType<typeof createStored>

/** Reads of the database for the checks. */
export function createStored(sqlite: DatabaseSync) {
  const queries = createQueries(sqlite)
  const reconciliation = reconciliationReads(queries)
  return { ...scanReads(queries), ...ledgerReads(queries), ...eventReads(queries), reconciliation }
}

type Value = string | number
type Queries = ReturnType<typeof createQueries>

/** Prepared queries whose rows have the selected columns. */
function createQueries(sqlite: DatabaseSync) {
  const rows = <T>(sql: string) => {
    const statement = sqlite.prepare(sql)
    return (...values: Value[]) => statement.all(...values) as unknown as T[] // the selected columns
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

function scanReads({ rows, first, count }: Queries) {
  const known = first<unknown>(selectKnown)
  return {
    scan: first<StoredScan>(selectScan),
    /** Whether a transfer is stored as a deposit, or waits to be proven. Its position is certain only then. */
    isKnown: (txid: string, position: number, to: Address) => known(txid, position, to) !== undefined,
    addressesFrom: rows<StoredAddress>(`${selectAddresses} WHERE derivation_index >= ? ORDER BY derivation_index`),
    addressesOf: rows<StoredAddress>(`${selectAddresses} WHERE uid = ? ORDER BY derivation_index`),
    /** The caller's addresses without a deposit. */
    countUnpaid: count(countUnpaid),
    pending: rows<{ uid: Uid; to: Address }>('SELECT uid, to_address AS "to" FROM pending'),
    /** Pending deposits to addresses that are not those of their callers. */
    foreignPending: rows<{ uid: Uid; to: Address }>(selectForeignPending),
    /** Pending deposits in all currencies but one. */
    countPendingBut: count('SELECT count(*) AS n FROM pending WHERE cuy <> ?'),
    /** Blocks that were put aside, and ranges that are to be read again. */
    rescans: rows<StoredRescan>(selectRescans),
    countSettings: count('SELECT count(*) AS n FROM stored_setting'),
    countPendingOf: count('SELECT count(*) AS n FROM pending WHERE uid = ?'),
    countSightingsOf: count(countSightings),
    /** Rescans that the operator asked for. */
    countRequests: count(`SELECT count(*) AS n FROM rescan WHERE kind = 'request'`),
  }
}

function ledgerReads({ rows, first, count }: Queries) {
  const deposits = rows<Integers<StoredDeposit>>(selectDeposits)
  const depositsOf = rows<Integers<StoredDeposit>>(`${selectDeposits} WHERE uid = ? AND txid = ?`)
  const deposit = first<Integers<StoredDeposit>>(`${selectDeposits} WHERE txid = ? AND position = ?`)
  const entries = rows<Integers<StoredEntry>>(`${selectEntries} ORDER BY id`)
  const entriesAbove = rows<Integers<StoredEntry>>(`${selectEntries} WHERE id > ? ORDER BY id`)
  const entry = first<Integers<StoredEntry>>(`${selectEntries} WHERE uid = ? AND cuy = ? AND type = ? AND osn = ?`)
  const entriesOf = rows<Integers<StoredEntry>>(`${selectEntries} WHERE uid = ? ORDER BY id DESC`)
  const wallets = rows<Integers<StoredWallet>>('SELECT uid, cuy, balance FROM wallet')
  const creditedSince = count(selectCredited)
  const toDeposit = (row: Integers<StoredDeposit>): StoredDeposit => ({ ...row, amount: BigInt(row.amount) })
  const toEntry = (row: Integers<StoredEntry>): StoredEntry => {
    return { ...row, amount: BigInt(row.amount), balance: BigInt(row.balance) }
  }
  return {
    countDeposits: count('SELECT count(*) AS n FROM deposit'),
    countEntries: count('SELECT count(*) AS n FROM flow'),
    deposits: () => deposits().map(toDeposit),
    depositsOf: (uid: Uid, txid: string) => depositsOf(uid, txid).map(toDeposit),
    outcomeOf: (txid: string, position: number) => deposit(txid, position)?.outcome,
    /** The sum that was credited to a caller in one currency at or after a time. */
    creditedSince: (uid: Uid, cuy: number, since: number) => BigInt(creditedSince(uid, cuy, since)),
    entries: () => entries().map(toEntry),
    /** The entries with higher ids, oldest first. */
    entriesAbove: (id: number) => entriesAbove(id).map(toEntry),
    entryOf(uid: number, cuy: number, type: number, osn: string) {
      const row = entry(uid, cuy, type, osn)
      return row === undefined ? undefined : toEntry(row)
    },
    /** The caller's entries, newest first. */
    entriesOf: (uid: Uid) => entriesOf(uid).map(toEntry),
    wallets: () => wallets().map((wallet): StoredWallet => ({ ...wallet, balance: BigInt(wallet.balance) })),
  }
}

/** An event. */
export interface StoredEventRow {
  readonly id: number
  readonly type: string
  readonly uid: number
  readonly entryId: number | null
  readonly txid: string | null
  readonly position: number | null
  readonly reason: string | null
}

function eventReads({ rows, count }: Queries) {
  const events = rows<StoredEventRow>(
    'SELECT id, type, uid, entry_id AS entryId, txid, position, reason FROM event ORDER BY id',
  )
  const refusals = rows<{ txid: string; position: number; uid: number; outcome: string }>(
    'SELECT txid, position, uid, reason AS outcome FROM refusal',
  )
  return {
    events: () => events(),
    refusals: () => refusals(),
    newestEvent: count('SELECT coalesce(max(id), 0) AS n FROM event'),
    /** The events that endpoints have not received, those of all endpoints added up. */
    countUndelivered: count('SELECT count(*) AS n FROM webhook JOIN event ON event.id > webhook.position'),
  }
}

function reconciliationReads({ rows, first, count }: Queries) {
  const totals = rows<{ kind: 'in' | 'out' | 'pending'; raw: string }>(selectTotals)
  const difference = first<{ fees: string; confirmed: string }>(selectDifference)
  const unfinished = count(countUnfinished)
  return {
    totals(address: Address, cuy: number): StoredTotals {
      const sums = { in: 0n, out: 0n, pending: 0n }
      for (const { kind, raw } of totals(address, cuy)) sums[kind] += BigInt(raw)
      return { received: sums.in, sent: sums.out, pending: sums.pending }
    },
    difference(address: Address, cuy: number): StoredDifference {
      const row = difference(address, cuy)
      return { fees: BigInt(row?.fees ?? 0), confirmed: BigInt(row?.confirmed ?? 0) }
    },
    changes: rows<StoredChange>(selectChanges),
    lease: first<Pick<StoredScan, 'lease' | 'leaseUntil'>>(
      'SELECT lease, lease_until AS leaseUntil FROM reconciliation_lease',
    ),
    /** Whether each currency was compared after a time, and nothing is left to examine or to report. */
    isReconciled: (since: number) => unfinished(since) === 0,
  }
}
