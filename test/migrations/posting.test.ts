import { beforeEach, describe, expect, it } from 'vitest'
import { writable } from '../../src/worker/d1/database.ts'
import { withoutTriggers } from '../d1/fixtures.ts'
import { contents, entry, expectRefusal, max, or, posting, run, step, storeRows, t1, t3 } from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

const present = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
const transfer = (uid: number, amount: number, changes = {}) => entry({ type: 3, uid, amount, ...changes })

describe('a posting', () => {
  it('creates its entries in their order, updates the wallets and leaves no row', async () => {
    const list = [
      entry({ type: 4, osn: 'order 7', amount: -50, mark: 'two cups' }),
      entry({ type: 5, osn: 'order 7', amount: 20 }),
      entry({ type: 3, osn: 'gift', amount: -20 }),
      entry({ uid: 2, type: 3, osn: 'gift', amount: 20 }),
    ]
    await db.prepare(posting(list)).run()
    expect(await db.prepare('SELECT * FROM flow WHERE id > 1').raw()).toEqual([
      [4, 1, 1, 1, 4, 'order 7', -50, 0, 'two cups', 20, 'shop', 2, 1],
      [5, 1, 1, 1, 5, 'order 7', 20, 20, '', 20, 'shop', 3, 1],
      [6, 1, 1, 1, 3, 'gift', -20, 0, '', 20, 'shop', 4, 1],
      [7, 2, 2, 1, 3, 'gift', 20, 20, '', 20, 'shop', 1, 1],
    ])
    expect(await db.prepare('SELECT * FROM wallet').raw()).toEqual([
      [1, 1, 1, 0, 4, 6],
      [2, 2, 1, 20, 1, 7],
    ])
    expect(await db.prepare('SELECT * FROM posting').raw()).toEqual([])
  })

  it('numbers its entries in each wallet, and those of each type', async () => {
    const list = [1, 2, 3].flatMap((i) => [entry({ osn: `a${i}`, type: 5 }), entry({ osn: `b${i}` })])
    await db.prepare(posting(list)).run()
    await db.prepare(posting([entry({ osn: 'a4', type: 5 })])).run()
    expect(await db.prepare('SELECT osn, number, type_number FROM flow WHERE id > 1').raw()).toEqual([
      ...[1, 2, 3].flatMap((i) => [
        [`a${i}`, 2 * i, i],
        [`b${i}`, 2 * i + 1, i],
      ]),
      ['a4', 8, 4],
    ])
  })

  it('with an older time than the newest entry gets the time of that entry', async () => {
    await db.prepare(posting([entry()], { created_at: '1' })).run()
    expect(await db.prepare('SELECT created_at FROM flow WHERE id > 1').first('created_at')).toBe(10)
  })

  it('and a credit get the time of the newest entry after the clock has stepped back', async () => {
    await withoutTriggers(writable(db), [`UPDATE stored_flow SET created_at = ${present} + 600000`])
    await run(posting([entry(), entry({ osn: 'y' })]), step(t3, 'credited'))
    const times = await db.prepare('SELECT created_at - (SELECT min(created_at) FROM flow) FROM flow').raw()
    expect(times.flat()).toEqual([0, 0, 0, 0])
    const later = { created_at: `(SELECT max(created_at) + 1 FROM flow)` }
    await expectRefusal(posting([entry({ osn: 'z' })], later), 'flow: created_at must not be in the future')
  })

  it.each([
    ['of the whole balance', posting([entry({ type: 2, amount: -50 })])],
    ['up to 2^53 − 1', posting([entry({ amount: Number(max) - 50 })])],
    ['within a minute of the present', posting([entry()], { created_at: `${present} + 50000` })],
    ['of a transfer between two others', posting([entry({ uid: 2 }), transfer(2, -5), transfer(3, 5)])],
    ['of an osn that another type has', posting([entry({ type: 5, osn: t1 })])],
  ])('%s is stored', async (_, sql) => {
    const before = await contents()
    await db.prepare(sql).run()
    expect(await contents()).not.toEqual(before)
  })

  it.each([
    ['of more than the balance', [entry({ type: 2, amount: -51 })], 'flow_balance'],
    ['of more than the balance in between', [entry({ amount: -51 }), entry({ osn: 'y', amount: 51 })], 'flow_balance'],
    ['of money that a wallet does not have yet', [entry({ uid: 9, amount: -1 })], 'flow_balance'],
    ['of a balance above 2^53 − 1', [entry({ amount: Number(max) - 49 })], 'flow_balance'],
    ['of an amount above 2^53 − 1', [entry({ amount: 9_007_199_254_740_992 })], 'flow_'],
    ['of the amount 0', [entry({ amount: 0 })], 'flow_type'],
    ['of type 2 with a positive amount', [entry({ type: 2 })], 'flow_type'],
    ['of type 4 with a positive amount', [entry({ type: 4 })], 'flow_type'],
    ['of type 5 with a negative amount', [entry({ type: 5, amount: -5 })], 'flow_type'],
    ['of an unknown type', [entry({ type: 6 })], 'flow_type'],
    ['of a fraction', [entry({ amount: 5.5 })], 'cannot store REAL value in INTEGER column stored_flow.amount'],
    [
      'of a text for an amount',
      [entry({ amount: '5 TRX' })],
      'cannot store TEXT value in INTEGER column stored_flow.amount',
    ],
    ['without an amount', [entry({ amount: null })], 'flow: balance must be'],
    ['without an osn', [entry({ osn: '' })], 'flow_osn'],
    ['of an osn with another character than printable ASCII', [entry({ osn: 'é' })], 'flow_osn'],
    ['of caller 0', [entry({ uid: 0 })], 'wallet_uid'],
    ['of a key that is stored', [entry({ type: 1, osn: t1, amount: 50 })], 'posting: type 1 is for deposits'],
    ['of a type as text', [entry({ osn: 'y', type: '9' }), entry()], 'flow: numbers must follow'],
    ['of type 1 as text', [entry({ type: '1', osn: t3 })], 'posting: type 1 is for deposits'],
    ['of a key twice', [entry(), entry()], 'flow: already exists'],
    ['of a transfer without its other side', [transfer(1, -5)], 'posting: transfers must sum to zero'],
    ['of a transfer that creates money', [transfer(1, -5), transfer(2, 6)], 'posting: transfers must sum to zero'],
    [
      'of a transfer to another currency',
      [transfer(1, -5), transfer(2, 5, { cuy: 2 })],
      'posting: transfers must sum to zero',
    ],
    ['of an unbalanced transfer with its type as text', [transfer(1, 5, { type: '3' })], 'posting: transfers must sum'],
    [
      'of a transfer under two osns',
      [transfer(1, -5), transfer(2, 5, { osn: 'y' })],
      'posting: transfers must share an osn',
    ],
    ...[2, 4, 5, 9, 3].map((type): [string, object[], string] => [
      `of type ${type} to the owner of reserved addresses, or another one than a transfer from it,`,
      [
        entry({ uid: Number(max), type, amount: type === 2 || type === 4 ? -5 : 5 }),
        ...(type === 3 ? [transfer(1, -5)] : []),
      ],
      'flow: the owner of reserved addresses only gives, in transfers',
    ]),
    ['that is no list', { 0: entry() }, 'posting: an entry was not created'],
    ['that is no list of objects', [7], 'wallet.uid'],
  ])('%s is refused whole', async (_, list, why) => {
    const entries = Array.isArray(list) ? [entry({ uid: 2, osn: 'first' }), ...list] : list
    await expectRefusal(posting(entries), why)
  })

  it('of a stored key is refused', async () => {
    await db.prepare(posting([entry()])).run()
    await expectRefusal(posting([entry({ amount: 1 })]), 'flow: already exists')
    await expectRefusal(or('REPLACE', posting([entry({ amount: 1 })])), 'flow: already exists')
  })

  it.each([
    ['without a name', `''`],
    ['with a name of 65 characters', `'${'x'.repeat(65)}'`],
    ['with a space in its name', `'the shop'`],
    ['with another letter in its name', `'café'`],
  ])('%s is refused', async (_, name) => {
    await expectRefusal(posting([entry()], { posted_by: name }), 'flow_posted_by')
  })

  it.each([
    ['more than a minute in the future', `${present} + 61000`],
    ['in microseconds', `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`],
  ])('%s is refused', async (_, created_at) => {
    await expectRefusal(posting([entry()], { created_at }), 'flow: created_at must not be in the future')
    await expectRefusal(or('IGNORE', posting([entry()], { created_at })), 'flow: created_at must not be in the future')
  })

  it.each([
    ['an overdraft', [entry({ type: 2, amount: -51 })]],
    ['the amount 0', [entry({ amount: 0 })]],
    ['a balance above 2^53 − 1', [entry({ amount: Number(max) - 49 })]],
  ])('with %s is not stored in part under OR IGNORE', async (_, list) => {
    await expectRefusal(
      or('IGNORE', posting([entry({ uid: 2, osn: 'first' }), ...list])),
      'posting: an entry was not created',
    )
  })
})
