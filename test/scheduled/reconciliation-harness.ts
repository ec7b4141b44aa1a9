import { formatBase58 } from '../../src/chain/address.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { err, ok } from '../../src/common/result.ts'
import { createStores } from '../../src/d1/stores.ts'
import type { Deposit } from '../../src/deposits/deposit.ts'
import { noAmount } from '../../src/common/amount.ts'
import type { LogFields, Logger } from '../../src/platform/logger.ts'
import { type ReconcileParts, reconcile } from '../../src/reconciliation/reconcile.ts'
import type { ScanStep } from '../../src/scan/scan-store.ts'
import type { Stores } from '../../src/services.ts'
import { addressAt, block, cuy, deposit, issue, movement, ms, startScan, step, txid } from '../d1/fixtures.ts'
import { currencies } from '../support/currencies.ts'
import { freshDatabase } from '../support/database.ts'

/** Blocks in a minute. */
const minuteBlocks = 20
const minuteMs = 60_000
/** A day in milliseconds. */
export const dayMs = 86_400_000
/** The address at an index as an alarm shows it. */
export const shown = (index: number) => formatBase58(addressAt(index))
/** One TRX in sun. */
export const oneTrx = 1_000_000n

type Row = Record<string, unknown>
type Time = { now: number }

/** Reconciliation over real D1, with a scan and a node whose results the test decides. */
export async function startReconciliation({ addresses }: { readonly addresses: number }) {
  const db = await freshDatabase()
  const stores = createStores(db, () => {})
  if (addresses > 0) await issue(db, new Array(addresses).fill(1))
  await startScan(stores.scanStore)
  const time: Time = { now: 10_000_000_000 }
  const { chain, ...node } = createNode()
  const { logger, ...log } = createLog()
  const { scan, ...transfers } = createScan(stores, time)
  const parts: Omit<ReconcileParts, 'lease'> = {
    chain,
    scanStore: stores.scanStore,
    reconciliation: stores.reconciliation,
    currencies,
    clock: { now: () => ms(time.now), sleep: async () => {}, random: () => 0 },
    logger,
  }
  let ticks = 0
  const tick = (changes: Partial<ReconcileParts> = {}) => {
    ticks += 1
    return reconcile({ ...parts, lease: `tick ${ticks}`, ...changes })
  }
  /** Minutes with a scan and a tick each. */
  const minutes = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      time.now += minuteMs
      await scan()
      await tick()
    }
  }
  const rows = async (sql: string) => (await db.prepare(sql).all<Row>()).results
  await scan()
  return {
    ...{ db, stores, parts, time, scan, tick, minutes },
    ...node,
    ...log,
    ...transfers,
    /** A day without ticks, then more minutes than a difference takes to be confirmed. */
    async day() {
      time.now += dayMs
      await minutes(20)
    },
    /** By currency, oldest first. */
    runs: () => rows('SELECT * FROM reconciliation ORDER BY cuy, id'),
    openDifferences: () => rows('SELECT * FROM open_difference'),
    movedAddresses: () => rows('SELECT * FROM moved_address ORDER BY cuy, oldest_height'),
    acceptedDifferences: () => rows('SELECT * FROM accepted_difference'),
  }
}

/** A node that returns the balances that were set, all 0 at first, or the failure of a currency. */
function createNode() {
  const balances = new Map<string, bigint>()
  const queries: { cuy: number; count: number }[] = []
  const failures = new Map<number, ChainFailure>()
  const chain: ReconcileParts['chain'] = {
    async balances(wanted, asset) {
      const number = asset.kind === 'native' ? 1 : 2
      queries.push({ cuy: number, count: wanted.length })
      const failure = failures.get(number)
      if (failure !== undefined) return err(failure)
      return ok(wanted.map((address) => balances.get(`${number} ${address}`) ?? 0n))
    },
  }
  const setBalance = (number: number, index: number, units: bigint) =>
    balances.set(`${number} ${addressAt(index)}`, units)
  return { chain, queries, failures, setBalance }
}

function createLog() {
  const alarms: (readonly [kind: string, fields: LogFields])[] = []
  const infos: (readonly [event: string, fields: LogFields])[] = []
  const logger: Logger = {
    info: (event, fields) => infos.push([event, fields]),
    warn: () => {},
    error: () => {},
    alarm: (kind, fields) => alarms.push([kind, fields]),
  }
  return { alarms, infos, logger }
}

/** What a scan finds, and what of it is proven at once. */
type Found = Pick<ScanStep, 'candidates' | 'movements'> & { readonly deposits: readonly Deposit[] }

function createScan({ scanStore, deposits: depositStore }: Stores, time: Time) {
  let position = 100
  let transactions = 0
  const nextPlace = () => {
    transactions += 1
    return { txid: txid(transactions), block: block(position + 1) }
  }
  return {
    /** Stores the next minute's blocks. What was found is in the first of them. */
    async scan({ deposits = [], ...found }: Partial<Found> = {}) {
      const [after, to] = [block(position).height, block(position + minuteBlocks)]
      await scanStore.append(step({ after, to, finalized: to.height, at: ms(time.now), ...found }))
      await depositStore.credit(deposits, ms(time.now))
      position = to.height
    },
    /** A deposit in the next block, as the scan stores it. It is below the minimum, so that any raw amount fits. */
    deposited: (number: number, index: number, raw: bigint) =>
      deposit({
        ...nextPlace(),
        cuy: cuy(number),
        native: number === 1,
        to: addressAt(index),
        raw,
        outcome: 'below-minimum',
        amount: noAmount,
      }),
    /** A transfer from an address of the service, to another one where `to` is given. */
    sent(number: number, from: number, raw: bigint, to: number | null = null) {
      const place = { ...nextPlace(), cuy: cuy(number), raw }
      const out = movement({ ...place, address: addressAt(from) })
      return to === null ? [out] : [out, movement({ ...place, address: addressAt(to), direction: 'in' })]
    },
  }
}

export const surplus = 'reconciliation-surplus'
export const shortfall = 'reconciliation-shortfall'
/** The alarm of a difference, as `startReconciliation` collects it. */
export const alarm = (kind: string, number: number, index: number, amount: bigint) => [
  kind,
  { address: shown(index), cuy: number, amount: amount.toString() },
]
