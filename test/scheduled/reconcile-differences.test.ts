import { describe, expect, it } from 'vitest'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { readingsNeeded } from '../../src/reconciliation/judge-reading.ts'
import { addressAt, block, deposit, ms, pending, txid } from '../d1/entries.ts'
import { alarm, dayMs, named, oneTrx, openBooks, shortfall, surplus } from './reconciliation-harness.ts'

describe('a surplus', () => {
  it('of TRX that a contract sent is told once, with its address, after three looks', async () => {
    const books = await openBooks({ addresses: 2 })
    books.hold(1, 1, 12n * oneTrx)
    await books.scan({ deposits: [books.paid(1, 1, 5n * oneTrx)] })
    await books.tick()
    expect(await books.differences()).toMatchObject([{ address: addressAt(1), looks: 0, held: '12000000' }])
    for (let looks = 1; looks < readingsNeeded; looks += 1) {
      await books.minutes(4)
      expect(await books.differences()).toMatchObject([{ looks, amount: '7000000' }])
    }
    expect(books.alarms).toEqual([])
    await books.minutes(4)
    expect(books.alarms).toEqual([alarm(surplus, 1, 1, 7n * oneTrx)])
    expect(await books.differences()).toEqual([])
    await books.day()
    await books.day()
    expect(books.alarms).toHaveLength(1)
    expect((await books.runs()).filter(({ cuy }) => cuy === 1)).toMatchObject([
      { differing: 1 },
      { differing: 1 },
      { differing: 1 },
    ])
  })

  it('that grows is looked at anew and told with its new amount', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(1, 0, 7n)
    await books.minutes(20)
    books.hold(1, 0, 10n)
    await books.day()
    await books.day()
    expect(books.alarms).toEqual([alarm(surplus, 1, 0, 7n), alarm(surplus, 1, 0, 10n)])
  })

  it('counts with the smallest amount that was seen', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(2, 0, 9n)
    await books.minutes(2)
    books.hold(2, 0, 4n)
    await books.minutes(4)
    books.hold(2, 0, 6n)
    await books.minutes(6)
    expect(books.alarms).toEqual([alarm(surplus, 2, 0, 4n)])
  })

  it('that is gone at the next look was none', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(1, 0, 7n)
    await books.minutes(2)
    books.hold(1, 0, 0n)
    await books.minutes(20)
    expect(books.alarms).toEqual([])
    expect(await books.differences()).toEqual([])
  })

  it('that is credited later is resolved, without an alarm', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(1, 0, 7n)
    await books.minutes(20)
    await books.writer.credit([deposit({ txid: txid(999), block: block(3), raw: 7n })], ms(books.time.now))
    await books.day()
    expect(books.alarms).toEqual([alarm(surplus, 1, 0, 7n)])
    expect(books.infos).toContainEqual(['reconciliation-resolved', { address: named(0), cuy: 1, amount: '0' }])
    expect(await books.baselines()).toMatchObject([{ known: '0', told: 1 }])
  })

  it('is told by the next tick where a tick was killed before it could', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(1, 0, 7n)
    const killed = new Error('killed')
    const log = {
      ...books.parts.log,
      alarm: () => {
        throw killed
      },
    }
    let deaths = 0
    for (let i = 0; i < 20; i += 1) {
      books.time.now += 60_000
      await books.scan()
      await books.tick({ log }).catch((cause: unknown) => {
        expect(cause).toBe(killed)
        deaths += 1
      })
    }
    expect(deaths).toBeGreaterThan(0)
    expect(books.alarms).toEqual([])
    await books.minutes(3)
    expect(books.alarms).toEqual([alarm(surplus, 1, 0, 7n)])
  })

  it('on very many addresses does not stop the run', async () => {
    const books = await openBooks({ addresses: 60 })
    for (let index = 0; index < 60; index += 1) books.hold(2, index, 1n)
    await books.minutes(8)
    expect(await books.runs()).toMatchObject([{ addresses: 60 }, { addresses: 60, held: '60', differing: 60 }])
    await books.minutes(40)
    const told = books.alarms.map(([, fields]) => fields.address)
    expect(told).toHaveLength(60)
    expect(new Set(told).size).toBe(60)
    expect(Math.max(...books.asked.map(({ count }) => count))).toBeLessThanOrEqual(20)
  })
})

describe('what is under way', () => {
  it('is no difference: a deposit that is not final yet', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(1, 0, 5n * oneTrx)
    await books.tick()
    expect(await books.differences()).toHaveLength(1)
    await books.scan({ deposits: [books.paid(1, 0, 5n * oneTrx)] })
    const before = books.asked.length
    await books.minutes(4)
    expect(await books.differences()).toEqual([])
    expect(books.asked).toHaveLength(before) // judged by the books alone
    expect(books.alarms).toEqual([])
  })

  it('is no difference on an address that is paid every minute', async () => {
    const books = await openBooks({ addresses: 1 })
    for (let i = 1; i <= 30; i += 1) {
      books.hold(1, 0, BigInt(i + 1) * oneTrx) // always one deposit ahead of the scan
      books.time.now += 60_000
      await books.scan({ deposits: [books.paid(1, 0, oneTrx)] })
      await books.tick()
      if (i % 10 === 0) books.time.now += dayMs
    }
    expect(books.alarms).toEqual([])
  })

  it('is no loss: a transfer of ours that is not final yet', async () => {
    const books = await openBooks({ addresses: 1 })
    await books.scan({ deposits: [books.paid(2, 0, 50n)] })
    books.hold(2, 0, 0n)
    await books.minutes(2)
    await books.scan({ movements: books.sent(2, 0, 50n) })
    await books.minutes(20)
    expect(books.alarms).toEqual([])
    expect(await books.differences()).toEqual([])
  })

  it('is no surplus: TRX that nobody can tell from TRC-10 yet; once it is refused, nothing is missing either', async () => {
    const books = await openBooks({ addresses: 2 })
    const one = { ...pending({ block: block(101), raw: 5n }), txid: txid(500) }
    const fake = { ...pending({ block: block(101), raw: 8n, to: addressAt(1) }), txid: txid(501) }
    await books.scan({ pending: [one, fake] })
    books.hold(1, 0, 5n)
    await books.minutes(20)
    expect(books.alarms).toEqual([])
    await books.writer.removePending([fake])
    await books.day()
    expect(books.alarms).toEqual([])
    await books.writer.removePending([one]) // a mistake: the money is there
    await books.day()
    expect(books.alarms).toEqual([alarm(surplus, 1, 0, 5n)])
  })
})

describe('collecting funds', () => {
  it('is no loss: the fee that it burnt is put down to it, and later differences are measured from there', async () => {
    const books = await openBooks({ addresses: 1 })
    await books.scan({ deposits: [books.paid(1, 0, 100n * oneTrx)] })
    await books.scan({ movements: books.sent(1, 0, 98n * oneTrx) })
    books.hold(1, 0, oneTrx) // 1 TRX was burnt
    await books.minutes(20)
    expect(books.alarms).toEqual([])
    expect(await books.baselines()).toMatchObject([{ fees: '-1000000', sent: 1, known: '0' }])
    expect(books.asked.filter((one) => one.cuy === 1)).toHaveLength(1) // a fee costs no further look
    await books.day()
    expect(books.alarms).toEqual([])
    books.hold(1, 0, oneTrx - 1n)
    await books.day()
    expect(books.alarms).toEqual([alarm(shortfall, 1, 0, 1n)])
  })

  it('of tokens is no loss, nor is the TRX that it burnt', async () => {
    const books = await openBooks({ addresses: 1 })
    await books.scan({ deposits: [books.paid(2, 0, 70n), books.paid(1, 0, 30n * oneTrx)] })
    await books.scan({ movements: [...books.sent(2, 0, 70n), ...books.sent(1, 0, 0n)] })
    books.hold(1, 0, 3n * oneTrx)
    await books.minutes(20)
    await books.day()
    expect(books.alarms).toEqual([])
    expect(await books.runs()).toMatchObject([
      { cuy: 1, recorded: '30000000', held: '3000000' },
      { cuy: 1, differing: 0 },
      { cuy: 2, recorded: '0', held: '0', differing: 0 },
      { cuy: 2, differing: 0 },
    ])
  })

  it('explains no more than one fee for each transaction', async () => {
    const books = await openBooks({ addresses: 2 })
    await books.scan({ deposits: [books.paid(1, 0, 900n * oneTrx), books.paid(1, 1, 900n * oneTrx)] })
    await books.scan({
      movements: [...books.sent(1, 0, oneTrx), ...books.sent(1, 1, oneTrx), ...books.sent(1, 1, oneTrx)],
    })
    books.hold(1, 0, 899n * oneTrx - 201n * oneTrx)
    books.hold(1, 1, 898n * oneTrx - 400n * oneTrx)
    await books.minutes(20)
    expect(books.alarms).toEqual([alarm(shortfall, 1, 0, 201n * oneTrx)])
  })

  it('that burnt nothing leaves no allowance behind in which a later loss could hide', async () => {
    const books = await openBooks({ addresses: 1 })
    await books.scan({ deposits: [books.paid(1, 0, 500n * oneTrx)] })
    await books.scan({ movements: books.sent(1, 0, 400n * oneTrx) })
    await books.scan()
    await books.scan()
    books.hold(1, 0, 100n * oneTrx)
    await books.minutes(1)
    expect(await books.baselines()).toMatchObject([{ fees: '0', sent: 1, known: '0' }])
    books.hold(1, 0, 99n * oneTrx)
    await books.day()
    expect(books.alarms).toEqual([alarm(shortfall, 1, 0, oneTrx)])
  })

  it('into another address of ours changes no sum', async () => {
    const books = await openBooks({ addresses: 2 })
    await books.scan({ deposits: [books.paid(2, 0, 70n), books.paid(1, 0, 30n * oneTrx)] })
    await books.scan({ movements: [...books.sent(2, 0, 70n, 1), ...books.sent(1, 0, 20n * oneTrx, 1)] })
    books.hold(2, 1, 70n)
    books.hold(1, 0, 9n * oneTrx)
    books.hold(1, 1, 20n * oneTrx)
    await books.minutes(20)
    expect(books.alarms).toEqual([])
    expect(await books.runs()).toMatchObject([
      { cuy: 1, recorded: '30000000', held: '29000000' },
      { cuy: 2, recorded: '70', held: '70', differing: 0 },
    ])
  })
})

describe('a shortfall', () => {
  it('without an outgoing transfer is told, in any currency', async () => {
    const books = await openBooks({ addresses: 3 })
    await books.scan({ deposits: [books.paid(1, 1, 5n * oneTrx), books.paid(2, 2, 40n)] })
    books.hold(1, 1, 4n * oneTrx)
    books.hold(2, 2, 15n)
    await books.minutes(20)
    await books.day()
    expect(books.alarms).toHaveLength(2)
    expect(books.alarms).toContainEqual(alarm(shortfall, 1, 1, oneTrx))
    expect(books.alarms).toContainEqual(alarm(shortfall, 2, 2, 25n))
  })

  it('of a token is never put down to fees', async () => {
    const books = await openBooks({ addresses: 1 })
    await books.scan({ deposits: [books.paid(2, 0, 40n)] })
    await books.scan({ movements: books.sent(2, 0, 10n) })
    books.hold(2, 0, 29n)
    await books.minutes(20)
    expect(books.alarms).toEqual([alarm(shortfall, 2, 0, 1n)])
  })
})

it('compares amounts of any size to the last digit', async () => {
  const books = await openBooks({ addresses: 1 })
  const large = 10n ** 30n + 1n
  const deposits = Array.from({ length: 1500 }, () => books.paid(2, 0, large))
  await books.scan({ deposits })
  books.hold(2, 0, 1500n * large + 1n)
  await books.minutes(20)
  expect(books.alarms).toEqual([alarm(surplus, 2, 0, 1n)])
  expect((await books.runs()).find(({ cuy }) => cuy === 2)).toMatchObject({
    recorded: '1500000000000000000000000000001500',
    held: '1500000000000000000000000000001501',
  })
})

it('never moves a balance', async () => {
  const books = await openBooks({ addresses: 1 })
  books.hold(1, 0, 7n)
  await books.minutes(20)
  expect(books.alarms).toHaveLength(1)
  expect(await createLedgerReader(books.db).balances(deposit().uid)).toEqual([])
})
