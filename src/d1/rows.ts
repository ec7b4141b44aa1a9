import type { BlockHeight } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Movement, Pending, Refusal, Sighting } from '../deposits/deposit.ts'
import type { PendingRecord } from '../deposits/pending-deposits.ts'
import type { Amount } from '../common/amount.ts'
import type { Entry } from '../ledger/entry.ts'
import type { ScanState } from '../scan/scan-store.ts'
import type { scans } from './scan-tables.ts'
import type { deposits, flows, movements, pendingDeposits, refusals, sightings } from './tables.ts'

type PendingRow = typeof pendingDeposits.$inferSelect

/** A deposit in a list for the database, which sets `created_at` and, where the wallet is full, the outcome. */
export type IncomingDeposit = Omit<typeof deposits.$inferSelect, 'created_at'>
type SightingRow = typeof sightings.$inferSelect
type RefusalRow = typeof refusals.$inferSelect
type MovementRow = typeof movements.$inferSelect

/** The scan's row. A CHECK excludes null for `height`. */
export type ScanRow = typeof scans.$inferSelect & { readonly height: BlockHeight }

/** A ledger entry's row. */
export type FlowRow = typeof flows.$inferSelect

/** An amount as stored. */
export function readAmount(stored: number): Amount {
  return BigInt(stored) as Amount // safe: the column's CHECK is the bound
}

/** A ledger entry as stored. */
export function readFlow(row: FlowRow): Entry {
  const { id, uid, wallet_id: wid, osn, type, cuy, mark, created_at: createdAt, posted_by: by } = row
  return {
    id,
    uid,
    wid,
    osn,
    type,
    cuy,
    amount: readAmount(row.amount),
    balance: readAmount(row.balance),
    mark,
    createdAt,
    by,
  }
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

/** A refusal as stored. */
export function readRefusal(row: RefusalRow): Refusal {
  const { cuy, uid, contract_type: type } = row
  const reason = type === null ? ({ kind: 'failed' } as const) : ({ kind: 'other-contract', type } as const)
  return { ...readPlace(row), cuy, uid, ...readTransfer(row), reason }
}

/** A sighting as stored. */
export function readSighting(row: SightingRow): Sighting {
  const { cuy, uid, decimals, seconds } = row
  return { ...readPlace(row), cuy, uid, ...readTransfer(row), decimals, seconds }
}

const neverEnded = 0 as UnixMs

/** The state of the scan as stored. */
export function readScan(row: ScanRow): ScanState {
  return {
    position: { height: row.height, hash: row.hash },
    finalized: row.finalized,
    finalizedAt: row.finalized_at,
    advancedAt: row.advanced_at,
    caughtUpAt: row.caught_up_at,
    triedAt: row.tried_at,
    problem: row.problem,
    endedAt: row.lease === '' ? row.lease_until : neverEnded,
    leaseUntil: row.lease === '' ? neverEnded : row.lease_until,
    halted: row.halted,
  }
}

/** A deposit for the database. */
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

/** A pending deposit for the database. */
export function writePending(pending: Pending): Omit<PendingRow, 'id' | 'reason_at' | 'since' | 'next_try'> {
  const { cuy, uid, reason } = pending
  return { ...writePlace(pending), cuy, uid, ...writeTransfer(pending), reason }
}

/** A refusal for the database. */
export function writeRefusal(refusal: Refusal): Omit<RefusalRow, 'created_at'> {
  const { cuy, uid, reason } = refusal
  const type = reason.kind === 'failed' ? null : reason.type
  return { ...writePlace(refusal), cuy, uid, ...writeTransfer(refusal), reason: reason.kind, contract_type: type }
}

/** A sighting for the database. */
export function writeSighting(sighting: Sighting): Omit<SightingRow, 'seen_at'> {
  const { cuy, uid, decimals, seconds } = sighting
  return { ...writePlace(sighting), cuy, uid, ...writeTransfer(sighting), decimals, seconds }
}

/** A movement for the database. */
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
