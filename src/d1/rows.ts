import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Movement, Pending, Sighting } from '../deposits/deposit.ts'
import type { Amount } from '../ledger/amount.ts'
import type { CurrencyId } from '../ledger/currencies.ts'
import type { Flow, FlowId, FlowType, Uid, WalletId } from '../ledger/entry.ts'
import type { PendingRecord, ScanState } from '../ledger/ledger-store.ts'
import type { deposits, movements, pendingDeposits, scans, sightings } from './tables.ts'

type PendingRow = typeof pendingDeposits.$inferSelect

/** What a list of deposits says of each; `created_at` and, where the wallet is full, the outcome are the database's. */
export type IncomingDeposit = Omit<typeof deposits.$inferSelect, 'created_at'>
/** What a list of pending deposits says of each. */
export type IncomingPending = Omit<PendingRow, 'since' | 'next_try'>
type SightingRow = typeof sightings.$inferSelect
type MovementRow = typeof movements.$inferSelect

/** The scan's row. */
export type ScanRow = typeof scans.$inferSelect

/** A ledger entry's columns in the order that `flows` selects them. */
export type FlowRow = readonly [
  id: FlowId,
  uid: Uid,
  wid: WalletId,
  osn: string,
  type: FlowType,
  cuy: CurrencyId,
  amount: number,
  balance: number,
  mark: string,
  createdAt: UnixMs,
]

/** An amount as stored. */
export function readAmount(stored: number): Amount {
  return BigInt(stored) as Amount // safe: the column's CHECK is the bound
}

/** A ledger entry as stored. */
export function readFlow(row: FlowRow): Flow {
  const [id, uid, wid, osn, type, cuy, amount, balance, mark, createdAt] = row
  return { id, uid, wid, osn, type, cuy, amount: readAmount(amount), balance: readAmount(balance), mark, createdAt }
}

/** A deposit as stored. */
export function readDeposit(row: typeof deposits.$inferSelect): Deposit {
  const { cuy, native, uid, outcome } = row
  return { ...readPlace(row), cuy, native, uid, ...readTransfer(row), outcome, amount: readAmount(row.amount) }
}

/** A pending deposit as stored. */
export function readPending(row: PendingRow): PendingRecord {
  const { cuy, uid, reason, since } = row
  return { ...readPlace(row), cuy, uid, ...readTransfer(row), reason, since }
}

/** A sighting as stored. */
export function readSighting(row: SightingRow): Sighting {
  return { ...readPlace(row), cuy: row.cuy, to: row.to_address }
}

/** Where the scan is, as stored. */
export function readScan(row: ScanRow): ScanState {
  return {
    position: { height: row.height, hash: row.hash },
    finalized: row.finalized,
    finalizedAt: row.finalized_at,
    advancedAt: row.advanced_at,
    caughtUpAt: row.caught_up_at,
    triedAt: row.tried_at,
    problem: row.trouble,
    unconfirmedReadAt: row.tail_read_at,
    leaseUntil: row.lease_until,
    halted: row.halted,
  }
}

/** A deposit as it is handed to the database. */
export function writeDeposit(deposit: Deposit): IncomingDeposit {
  const { cuy, native, uid, outcome } = deposit
  return {
    ...writePlace(deposit),
    cuy,
    native,
    uid,
    ...writeTransfer(deposit),
    outcome,
    amount: Number(deposit.amount),
  }
}

/** A pending deposit as it is handed to the database. */
export function writePending(pending: Pending): IncomingPending {
  const { cuy, uid, reason } = pending
  return { ...writePlace(pending), cuy, uid, ...writeTransfer(pending), reason }
}

/** A sighting as it is handed to the database. */
export function writeSighting(sighting: Sighting): SightingRow {
  return { ...writePlace(sighting), cuy: sighting.cuy, to_address: sighting.to }
}

/** A movement as it is handed to the database. */
export function writeMovement(movement: Movement): MovementRow {
  const { cuy, address, direction, raw } = movement
  return { ...writePlace(movement), cuy, address, direction, raw: raw.toString() }
}

type Place = Pick<SightingRow, 'txid' | 'position' | 'height' | 'block_hash'>
type Transfer = Pick<PendingRow, 'from_address' | 'to_address' | 'raw'>

function readPlace({ txid, position, height, block_hash }: Place): CreditKey & Pick<Sighting, 'block'> {
  return { txid, position, block: { height, hash: block_hash } }
}

function writePlace({ txid, position, block }: CreditKey & Pick<Sighting, 'block'>): Place {
  return { txid, position, height: block.height, block_hash: block.hash }
}

function readTransfer({ from_address, to_address, raw }: Transfer): Pick<Pending, 'from' | 'to' | 'raw'> {
  return { from: from_address, to: to_address, raw: BigInt(raw) }
}

function writeTransfer({ from, to, raw }: Pick<Pending, 'from' | 'to' | 'raw'>): Transfer {
  return { from_address: from, to_address: to, raw: raw.toString() }
}
