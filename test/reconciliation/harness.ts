import { type Alarms, createAlarms } from '../../src/worker/alarms/alarms.ts'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import type { ChainFailure } from '../../src/worker/chain/chain.ts'
import { err, ok } from '../../src/worker/common/result.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { systemClock } from '../../src/worker/platform/clock.ts'
import type { LogFields, Logger } from '../../src/worker/platform/logger.ts'
import {
  type ComparedScan,
  type CompareParts,
  compareHoldings,
} from '../../src/worker/reconciliation/compare-holdings.ts'
import { currencies } from '../support/currencies.ts'
import { freshDatabase } from '../support/database.ts'

/** The blocks of a minute: one every three seconds. */
const minuteBlocks = 20
const minuteMs = 60_000
export const dayMs = 86_400_000
export const oneTrx = 1_000_000n
/** A made-up address for each index. */
export const addressAt = (index: number) => (index + 0xa0).toString(16).padStart(40, '0') as Address
/** The address as alarms show it, in Base58Check. */
export const shown = (index: number) => formatBase58(addressAt(index))
const stranger = 'f'.repeat(40) as Address

/**
 * A transfer that the scan stores. `from` and `to` are indices of issued addresses; null is a
 * stranger.
 */
export interface Moved {
  readonly cuy: number
  readonly raw: bigint
  readonly from: number | null
  readonly to: number | null
}

type Row = Record<string, unknown>
type Log = (readonly [name: string, fields: LogFields])[]

/** Reconciliation over real D1. The test sets what the scan finds and what the node answers. */
export async function startReconciliation({ addresses }: { readonly addresses: number }) {
  const db = await freshDatabase()
  const state = { now: 10_000_000_000, height: 100, halted: null as string | null, transactions: 0 }
  const node = createNode()
  const [raised, infos]: [Log, Log] = [[], []]
  const logger: Logger = {
    info: (event, fields) => infos.push([event, fields]),
    warn: () => undefined,
    error: () => undefined,
    alarm: (kind, fields) => raised.push([kind, fields]),
  }
  const clock = { ...systemClock, now: () => state.now as UnixMs }
  const alarms: Alarms = createAlarms({ db: writable(db), clock, logger })
  const parts: CompareParts = { chain: node.chain, currencies, clock, logger, alarms, db: writable(db) }
  const scanned = (): ComparedScan => ({
    height: state.height as BlockHeight,
    finalized: state.height as BlockHeight,
    finalizedAt: state.now as UnixMs,
    halted: state.halted,
  })
  await issue(db, addresses)
  await beginScan(db, state.now)
  const store = createScan(db, state)
  const slice = (changes: Partial<CompareParts> = {}, scan: Partial<ComparedScan> = {}) =>
    compareHoldings({ ...parts, ...changes }, { ...scanned(), ...scan })
  /** Compares until nothing is due, at most thirty slices. */
  const tick = async (...changes: Parameters<typeof slice>) => {
    for (let slices = 0; slices < 30; slices += 1) {
      const end = await slice(...changes)
      if (!end.ok || end.value === 'done') return end
    }
    throw new Error('it does not end')
  }
  return {
    db,
    state,
    parts,
    raised,
    infos,
    slice,
    tick,
    store,
    alarms,
    ...node,
    /**
     * Lets `count` minutes pass, each with a scan and a comparison of both currencies. The scan of
     * the first minute finds `found`.
     */
    async minutes(count: number, found: readonly Moved[] = []) {
      for (let i = 0; i < count; i += 1) {
        state.now += minuteMs
        await store(i === 0 ? found : [])
        await tick()
        await tick() // the tick before compared only one of the two currencies
      }
    },
    /**
     * Lets `minutes` pass without a transfer, with a scan and a comparison of both currencies every
     * three minutes.
     */
    async wait(minutes: number) {
      for (let passed = 0; passed < minutes; passed += 3) {
        state.now += 3 * minuteMs
        state.height += 2 * minuteBlocks
        await store()
        await tick()
        await tick() // the tick before compared only one of the two currencies
      }
    },
    holdings: async () => (await db.prepare('SELECT * FROM holding ORDER BY cuy, address').all<Row>()).results,
    raisedRows: async () => (await db.prepare('SELECT kind, subject FROM alarm').raw()).map((row) => row.join(' ')),
  }
}

const hash = (height: number) => height.toString(16).padStart(64, 'b')

/** Stores a scan that stands at block 100. */
async function beginScan(db: D1Database, now: number): Promise<void> {
  await db
    .prepare(
      `INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at)
      VALUES (1, 100, ?1, 100, 0, ?2, ?2, ?2, ?2)`,
    )
    .bind(hash(100), now)
    .run()
}

async function issue(db: D1Database, count: number): Promise<void> {
  const insert = db.prepare(
    'INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (?1 + 1, 1, unhex(?2), 0, 0)',
  )
  if (count > 0) await db.batch(Array.from({ length: count }, (_, index) => insert.bind(index, addressAt(index))))
}

/**
 * A node with the balances that the test sets (0 where none is set), or with a failure for one
 * currency.
 */
function createNode() {
  const balances = new Map<string, bigint>()
  const queries: { cuy: number; addresses: readonly Address[] }[] = []
  const failures = new Map<number, ChainFailure>()
  const chain: CompareParts['chain'] = {
    async balances(wanted, asset) {
      const cuy = asset.kind === 'native' ? 1 : 2
      queries.push({ cuy, addresses: wanted })
      const failure = failures.get(cuy)
      return failure === undefined ? ok(wanted.map((one) => balances.get(`${cuy} ${one}`) ?? 0n)) : err(failure)
    },
  }
  const setBalance = (cuy: number, index: number, units: bigint) => balances.set(`${cuy} ${addressAt(index)}`, units)
  return { chain, queries, failures, setBalance }
}

/** Stores the blocks of the next minute; `found` is in the first of them. */
function createScan(db: D1Database, state: { now: number; height: number; transactions: number }) {
  const insert = db.prepare(
    `INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state,
      reason, amount, created_at, changed_at)
    VALUES (unhex(?1), ?2, ?3, ?4, ?5, unhex(?6), unhex(?7), ?8, ?9, ?10, ?11, 0, ?12, ?12)`,
  )
  const sent = db.prepare('INSERT INTO sent (txid, address, height, cuy) VALUES (?1, ?2, ?3, 1)')
  return async (found: readonly Moved[] = [], at = state.height + 1) => {
    state.height += minuteBlocks
    const statements = found.flatMap(({ cuy, raw, from, to }) => {
      state.transactions += 1
      const txid = state.transactions.toString(16).padStart(64, '0')
      const [sender, recipient] = [from, to].map((index) => (index === null ? stranger : addressAt(index)))
      // A transfer that is refused as `below-minimum` may have any raw amount.
      const decided = from === null ? [1, 'refused', 'below-minimum'] : [null, 'moved', null]
      const [uid, kind, reason] = decided
      const place = [txid, cuy === 1 ? 0 : 1, at, cuy, uid, sender, recipient, String(raw)]
      const transfer = insert.bind(...place, cuy === 1 ? 1 : 0, kind, reason, state.now)
      return from === null ? [transfer] : [transfer, sent.bind(txid, sender, at)]
    })
    await db.batch([
      db
        .prepare('UPDATE scan SET height = ?1, hash = ?2, finalized = ?1, finalized_at = ?3, advanced_at = ?3')
        .bind(state.height, hash(state.height), state.now),
      ...statements,
    ])
  }
}

/** A stranger pays `raw` to the issued address `to`. */
export const paid = (cuy: number, to: number, raw: bigint): Moved => ({ cuy, raw, from: null, to })
/** The issued address `from` sends `raw`, to a stranger if `to` is null. */
export const sent = (cuy: number, from: number, raw: bigint, to: number | null = null): Moved => ({
  cuy,
  raw,
  from,
  to,
})

export const surplus = 'reconciliation-surplus'
export const shortfall = 'reconciliation-shortfall'
/** An alarm in the form in which the harness lists it in `raised`. */
export const alarm = (kind: string, cuy: number, index: number, amount: bigint) => [
  kind,
  { address: shown(index), cuy, amount: amount.toString() },
]
