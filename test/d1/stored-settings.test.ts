import { beforeEach, describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { selectKept, storeDecimals, storeOperators } from '../../src/worker/ledger/kept-settings.ts'
import {
  type CurrencyMeaning,
  type DataMeaning,
  findDifferences,
  rememberSettings,
} from '../../src/worker/ledger/stored-settings.ts'
import {
  addressAt,
  column,
  credited,
  cuy,
  height,
  held,
  measure,
  ms,
  numbers,
  openDatabase,
  refused,
  seen,
  stranger,
  transfer,
  txid,
  withoutTriggers,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

const chain = { name: 'TRON_CHAIN_ID', value: '0x1' }
const usdtContract = 'ab'.repeat(20) as Address
const trx: CurrencyMeaning = { cuy: cuy(1), contract: null, decimals: 6, scale: 6 }
const usdt: CurrencyMeaning = { cuy: cuy(2), contract: usdtContract, decimals: 6, scale: 4 }
const usdtText = `contract ${formatBase58(usdtContract)}, decimals 6, scale 4`
const meaning = (...currencies: readonly CurrencyMeaning[]): DataMeaning => ({ settings: [chain], currencies })

describe('the settings that data depends on', () => {
  it('are stored once, and new ones are added', async () => {
    await rememberSettings(db, meaning(trx))
    const { stored } = await rememberSettings(db, meaning(trx, usdt))
    expect(stored.map(({ name, value }) => ({ name, value }))).toEqual([
      { name: 'CURRENCIES.1', value: 'TRX, decimals 6, scale 6' },
      { name: 'CURRENCIES.2', value: usdtText },
      chain,
    ])
    expect(findDifferences(meaning(trx, usdt), stored)).toEqual([])
  })

  it('change nothing where one differs', async () => {
    await rememberSettings(db, { settings: [chain], currencies: [] })
    const other = {
      settings: [
        { ...chain, value: '0x2' },
        { name: 'TRON_XPUB', value: 'x' },
      ],
      currencies: [trx],
    }
    const { stored } = await rememberSettings(db, other)
    expect(stored).toEqual([{ ...chain, used: true }])
    expect(findDifferences(other, stored)).toEqual([{ setting: chain.name, stored: '0x1', configured: '0x2' }])
  })

  it.each([
    ['contract', { contract: addressAt(8) }],
    ['contract, which is TRX', { contract: null }],
    ['decimals', { decimals: 7 }],
    ['scale', { scale: 6 }],
  ])('change nothing where a currency has another %s', async (_, changes) => {
    await rememberSettings(db, meaning(usdt))
    const key = { name: 'TRON_XPUB', value: 'x' }
    const other = { settings: [chain, key], currencies: [trx, { ...usdt, ...changes }] }
    const { stored } = await rememberSettings(db, other)
    expect(stored).toEqual([
      { name: 'CURRENCIES.2', value: usdtText, used: false },
      { ...chain, used: true },
    ])
    expect(findDifferences(other, stored)).toMatchObject([{ setting: 'CURRENCIES.2', stored: usdtText }])
  })

  it.each([
    ['a credit', credited()],
    ['a held transfer', held()],
    ['a refused transfer', refused],
    ['a transfer that was seen', seen()],
  ])('include a currency with %s', async (_, verdict) => {
    await rememberSettings(db, meaning(trx, usdt))
    expect(findDifferences(meaning(trx), (await rememberSettings(db, meaning(trx))).stored)).toEqual([])
    await storeTransfers(db, [transfer(verdict, { cuy: cuy(2), native: false })], ms(10))
    const missing = [{ setting: 'CURRENCIES.2', stored: usdtText, configured: 'missing' }]
    expect(findDifferences(meaning(trx), (await rememberSettings(db, meaning(trx))).stored)).toEqual(missing)
  })

  it('cost a few rows, also for a currency that was removed without having been used', async () => {
    await rememberSettings(db, meaning(trx, usdt))
    await withoutTriggers(db, [
      `${numbers(100_000)} INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw,
        native, state, amount, created_at, changed_at)
      SELECT unhex(printf('%064x', i)), 0, 100, 1, 1, unhex('${stranger}'), unhex('${addressAt(0)}'), '5', 1, 'dropped',
        0, 5, 5
      FROM n`,
      `${numbers(1_000)} INSERT INTO wallet (uid, cuy) SELECT i, 1 FROM n`,
    ])
    const { result, rows } = await measure(db, (metered) => rememberSettings(metered, meaning(trx)))
    expect(result.stored).toContainEqual({ name: 'CURRENCIES.2', value: usdtText, used: false })
    expect(rows).toBeLessThan(40)
    expect(await column(db, `SELECT count(*) FROM transfer WHERE txid = '${txid(1)}'`)).toEqual([1])
  })
})

describe('operators', () => {
  const a = addressAt(5)
  const b = addressAt(6)

  it('are stored for good, each with the height from which it counts', async () => {
    expect((await selectKept(db)).operators).toEqual(new Map())
    await storeOperators(db, [a], [], height(100))
    await storeOperators(db, [a, b], [b], height(200))
    await storeOperators(db, [], [b], height(300))
    expect((await selectKept(db)).operators).toEqual(
      new Map([
        [a, 100],
        [b, 200],
      ]),
    )
    expect((await selectKept(db)).payers).toEqual(new Map([[b, 200]]))
  })

  it('are no setting of the configuration', async () => {
    await storeOperators(db, [a], [a], height(100))
    await storeDecimals(db, b, 6)
    expect((await rememberSettings(db, meaning())).stored).toEqual([{ ...chain, used: true }])
  })
})

it('the decimals of a contract stay as nodes have agreed on them first', async () => {
  const contract = 'ab'.repeat(20) as Address
  await storeDecimals(db, contract, 6)
  await storeDecimals(db, contract, 18)
  await storeDecimals(db, addressAt(7), 0)
  expect((await selectKept(db)).decimals).toEqual(
    new Map([
      [contract, 6],
      [addressAt(7), 0],
    ]),
  )
})
