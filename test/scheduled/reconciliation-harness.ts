import { formatBase58 } from '../../src/addresses/address.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { err, ok } from '../../src/common/result.ts'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import { createReconciliationStore } from '../../src/d1/reconciliation-store.ts'
import { noAmount } from '../../src/ledger/amount.ts'
import { nativeAsset, trc20Asset } from '../../src/ledger/asset.ts'
import { type Currency, indexCurrencies } from '../../src/ledger/currencies.ts'
import type { ScanStep } from '../../src/ledger/ledger-store.ts'
import { type ReconcileParts, reconcile } from '../../src/reconciliation/reconcile.ts'
import { addressAt, block, cuy, deposit, height, issue, movement, ms, startScan, txid } from '../d1/entries.ts'
import { usdt } from '../support/chain-builder.ts'
import { freshDatabase } from '../support/database.ts'

const trx: Currency = { cuy: cuy(1), symbol: 'TRX', asset: nativeAsset, decimals: 6, scale: 6, minDeposit: 0n }
const token: Currency = { cuy: cuy(2), symbol: 'USDT', asset: trc20Asset(usdt), decimals: 6, scale: 6, minDeposit: 0n }

/** Blocks in a minute. */
const minuteBlocks = 20
const minuteMs = 60_000
export const dayMs = 86_400_000
/** The address at an index as an alarm names it. */
export const named = (index: number) => formatBase58(addressAt(index))
/** One TRX in sun. */
export const oneTrx = 1_000_000n

type Row = Record<string, unknown>
type Line = readonly [what: string, fields: Row]

/** Reconciliation over real D1, with a scan that is told what it finds and a node that is told what addresses hold. */
export async function openBooks({ addresses }: { readonly addresses: number }) {
  const db = await freshDatabase()
  const writer = createLedgerWriter(db)
  const owners = Array.from({ length: addresses }, () => 1)
  if (addresses > 0) await issue(db, owners)
  await startScan(writer)
  const held = new Map<string, bigint>()
  const alarms: Line[] = []
  const infos: Line[] = []
  const asked: { cuy: number; count: number }[] = []
  const trouble = new Map<number, ChainFailure>()
  const time = { now: 10_000_000_000 }
  let position = 100
  let transactions = 0

  const parts: ReconcileParts = {
    chain: {
      async balances(wanted, asset) {
        const number = asset.kind === 'native' ? 1 : 2
        asked.push({ cuy: number, count: wanted.length })
        const failure = trouble.get(number)
        if (failure !== undefined) return err(failure)
        return ok(wanted.map((address) => held.get(`${number} ${address}`) ?? 0n))
      },
    },
    reader: createLedgerReader(db),
    store: createReconciliationStore(db),
    currencies: indexCurrencies([trx, token]),
    clock: { now: () => ms(time.now), sleep: async () => {}, random: () => 0 },
    log: {
      info: (what, fields) => infos.push([what, fields]),
      warn: () => {},
      error: () => {},
      alarm: (what, fields) => alarms.push([what, fields]),
    },
  }
  const nextPlace = () => {
    transactions += 1
    return { txid: txid(transactions), block: block(position + 1) }
  }
  /** The scan stores the next `blocks`; what it found stands in the first of them. */
  const scan = async (
    found: Partial<Pick<ScanStep, 'deposits' | 'pending' | 'movements'>> = {},
    blocks = minuteBlocks,
  ) => {
    const to = block(position + blocks)
    await writer.append({
      after: height(position),
      to,
      finalized: to.height,
      deposits: [],
      pending: [],
      movements: [],
      lease: 'a',
      at: ms(time.now),
      ...found,
    })
    position += blocks
  }
  const tick = (changes: Partial<ReconcileParts> = {}) => reconcile({ ...parts, ...changes })
  /** Minutes with a scan and a tick each. */
  const minutes = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      time.now += minuteMs
      await scan()
      await tick()
    }
  }
  await scan()
  return {
    db,
    writer,
    parts,
    alarms,
    infos,
    asked,
    trouble,
    time,
    scan,
    tick,
    minutes,
    /** A day without ticks, then as many minutes as a difference takes to be confirmed, and some more. */
    async day() {
      time.now += dayMs
      await minutes(20)
    },
    /** What the node shows of an address. */
    hold: (number: number, index: number, units: bigint) => held.set(`${number} ${addressAt(index)}`, units),
    /** A deposit in the next block, as the scan stores it. */
    paid: (number: number, index: number, raw: bigint) =>
      deposit({
        ...nextPlace(),
        cuy: cuy(number),
        native: number === 1,
        to: addressAt(index),
        raw,
        outcome: 'below-minimum', // so that raw amounts of any size fit; what was credited is not what is compared
        amount: noAmount,
      }),
    /** A transfer from one of our addresses, to another one of ours where `to` is given. */
    sent(number: number, from: number, raw: bigint, to: number | null = null) {
      const place = { ...nextPlace(), cuy: cuy(number), raw }
      const out = movement({ ...place, address: addressAt(from) })
      return to === null ? [out] : [out, movement({ ...place, address: addressAt(to), direction: 'in' })]
    },
    /** By currency, oldest first. */
    runs: async () => (await db.prepare('SELECT * FROM reconciliation ORDER BY cuy, id').all<Row>()).results,
    differences: async () => (await db.prepare('SELECT * FROM difference').all<Row>()).results,
    baselines: async () => (await db.prepare('SELECT * FROM baseline').all<Row>()).results,
  }
}

export const surplus = 'reconciliation-surplus'
export const shortfall = 'reconciliation-shortfall'
/** The alarm of a difference, as `openBooks` collects it. */
export const alarm = (kind: string, number: number, index: number, amount: bigint) => [
  kind,
  { address: named(index), cuy: number, amount: amount.toString() },
]
