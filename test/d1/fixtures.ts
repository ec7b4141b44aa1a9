import type { Address } from '../../src/chain/address.ts'
import type { BlockHash, BlockHeight, BlockRef, Txid } from '../../src/chain/block.ts'
import type { CurrencyId, Uid } from '../../src/common/ids.ts'
import type { UnixMs } from '../../src/common/time.ts'
import type { Deposit, Movement, Pending, Sighting } from '../../src/deposits/deposit.ts'
import type { Amount } from '../../src/common/amount.ts'
import type { EntryFilter } from '../../src/ledger/ledger-reader.ts'
import type { ScanStep, ScanStore } from '../../src/scan/scan-store.ts'

/** A caller. */
export const uid = (n: number) => n as Uid
/** A currency: 1 is TRX. */
export const cuy = (n: number) => n as CurrencyId
/** An amount in smallest units. */
export const amount = (n: bigint) => n as Amount
/** An instant. */
export const ms = (n: number) => n as UnixMs
/** A height. */
export const height = (n: number) => n as BlockHeight
/** The address at an index. It takes the place of derivation, which no store depends on. */
export const addressAt = (index: number) => (index + 0xa0).toString(16).padStart(40, '0') as Address
/** The n-th transaction. */
export const txid = (n: number) => n.toString(16).padStart(64, '0') as Txid
/** The block at a height. */
export const block = (n: number): BlockRef => ({ height: height(n), hash: `b${txid(n).slice(1)}` as BlockHash })

const sender = 'f'.repeat(40) as Address

/** A credited TRX deposit of 5 units to caller 1 at address 0, with changes. */
export function deposit(changes: Partial<Deposit> = {}): Deposit {
  return {
    txid: txid(1),
    position: 0,
    block: block(101),
    cuy: cuy(1),
    native: true,
    uid: uid(1),
    from: sender,
    to: addressAt(0),
    raw: 5n,
    outcome: 'credited',
    amount: amount(5n),
    ...changes,
  }
}

/** A pending TRX deposit of caller 1, with changes. */
export function pending(changes: Partial<Pending> = {}): Pending {
  return {
    txid: txid(1),
    position: 0,
    block: block(101),
    cuy: cuy(1),
    uid: uid(1),
    from: sender,
    to: addressAt(0),
    raw: 5n,
    reason: 'api-unavailable',
    ...changes,
  }
}

/** A sighting of a transfer to address 0, with changes. */
export function sighting(changes: Partial<Sighting> = {}): Sighting {
  return {
    ...{ txid: txid(1), position: 0, block: block(130), cuy: cuy(1), uid: uid(1), from: sender, to: addressAt(0) },
    ...{ raw: 5n, decimals: 6, seconds: 57 },
    ...changes,
  }
}

/** A movement out of address 0, with changes. */
export function movement(changes: Partial<Movement> = {}): Movement {
  return {
    txid: txid(1),
    position: 0,
    block: block(101),
    cuy: cuy(1),
    address: addressAt(0),
    direction: 'out',
    raw: 5n,
    ...changes,
  }
}

/** The step from block 100 to block 101 at time 2000 by the scan with lease `a`, with changes. */
export function step(changes: Partial<ScanStep> = {}): ScanStep {
  return {
    after: height(100),
    to: block(101),
    finalized: height(101),
    candidates: [],
    movements: [],
    unreadable: [],
    lease: 'a',
    at: ms(2000),
    ...changes,
  }
}

/** No filter. */
export const noFilter: EntryFilter = { cuy: null, wid: null, type: null, osn: null, from: null, to: null }

/** A scan that is at block 100 since time 1000. Lease `a` is valid until time 50000. */
export async function startScan(scanStore: ScanStore): Promise<void> {
  await scanStore.start(block(100), ms(1000))
  await scanStore.acquireLease('a', ms(1000), ms(50_000))
}

/** Issues address `i` to `owners[i]`. */
export async function issue(db: D1Database, owners: readonly number[]): Promise<void> {
  const insert = db.prepare(
    `INSERT INTO address (derivation_index, uid, address, issued_height, created_at)
    VALUES (?1, ?2, ?3, coalesce((SELECT finalized FROM scan), 0), 0)`,
  )
  await db.batch(owners.map((owner, index) => insert.bind(index, owner, addressAt(index))))
}
