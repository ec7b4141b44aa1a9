import { beforeEach, describe, expect, it } from 'vitest'
import {
  a,
  b,
  c,
  expectRefusal,
  insert,
  or,
  recorded,
  rescan,
  run,
  type State,
  step,
  storeRows,
  t2,
  t3,
  t4,
  transfer,
} from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows() // the address `a` holds 150
})

const both = async () => [await recorded(a), await recorded(b)]

describe('what is recorded of an address', () => {
  it.each([
    ['seen', 150n],
    ['held', 200n],
    ['refused', 200n],
    ['credited', 200n],
    ['moved', 200n],
  ] as const)('counts what is %s as it must: %s', async (state, sum) => {
    await run(transfer(state))
    expect(await both()).toEqual([sum, null])
  })

  it.each(['IGNORE', 'REPLACE', 'FAIL'])('is counted under OR %s', async (policy) => {
    await run(or(policy, transfer('credited')), or(policy, step(t3, 'credited', { raw: `'70'` })))
    expect(await both()).toEqual([220n, null])
  })

  it('is changed by movements, which leave no row', async () => {
    const movement = { cuy: '1', sign: '-1', raw: `'${'9'.repeat(78)}'`, height: '90', moved_at: '10' }
    const values = [a, c].map((address) => Object.values({ ...movement, address: `unhex('${address}')` }).join(', '))
    await run(`INSERT INTO movement (cuy, sign, raw, height, moved_at, address) VALUES (${values.join('), (')})`)
    expect([await recorded(a), await recorded(c)]).toEqual([150n - (10n ** 78n - 1n), null])
    expect(await db.prepare('SELECT * FROM movement').raw()).toEqual([])
  })

  it('moves from one own address to another', async () => {
    await run(transfer('moved', { from_address: `'${a}'`, to_address: `'${b}'`, raw: `'120'` }))
    expect(await both()).toEqual([30n, 120n])
    await run(transfer('moved', { position: '1', native: '0', from_address: `'${a}'`, to_address: `'${a}'` }))
    expect(await both()).toEqual([30n, 120n])
  })

  it('goes below zero where more leaves than has arrived since the first block', async () => {
    await run(transfer('moved', { from_address: `'${a}'`, to_address: `'${c}'`, raw: `'151'` }))
    expect(await both()).toEqual([-1n, null])
    expect(await recorded(c)).toBe(null)
  })

  it.each([
    ['held', {}, [150n, null]],
    ['held', { raw: `'80'` }, [180n, null]],
    ['credited', { raw: `'20'` }, [120n, null]],
    ['moved', { from_address: `'${b}'` }, [150n, -50n]],
    ['held', { to_address: `'${b}'`, uid: '2' }, [100n, 50n]],
  ] as [State, Record<string, string>, unknown][])(
    'follows the facts of a step to %s with %o',
    async (state, changes, sums) => {
      await run(step(t3, state, changes))
      expect(await both()).toEqual(sums)
    },
  )

  it('keeps what is counted in one currency apart from another', async () => {
    await run(step(t3, 'held', { cuy: '2', native: '0' }))
    expect(await recorded(a)).toBe(100n)
    const other = await db.prepare(`SELECT part_6 FROM holding WHERE cuy = 2 AND address = '${a}'`).first('part_6')
    expect(other).toBe(50)
  })

  it('is exact for amounts of 78 digits', async () => {
    const largest = 2n ** 256n - 1n
    await run(
      transfer('held', { raw: `'${largest}'` }),
      step(t3, 'moved', { from_address: `'${a}'`, to_address: `'${b}'`, raw: `'${largest}'` }),
    )
    expect(await both()).toEqual([100n, largest])
  })

  it('is due a minute after a change, and not later by a further one', async () => {
    const due = async () => (await db.prepare('SELECT due_at, changed_height FROM holding').raw())[0]
    await run('UPDATE stored_holding SET due_at = 99999999')
    await run(transfer('held', { height: '95', changed_at: '1000' }))
    expect(await due()).toEqual([61_000, 95])
    await run(transfer('held', { height: '93', position: '1', native: '0', changed_at: '2000' }))
    expect(await due()).toEqual([61_000, 95])
  })

  it('does not change by a step that counts the same', async () => {
    await run('UPDATE stored_holding SET due_at = 99999999', rescan(), step(t2, 'held'), step(t3, 'credited'))
    expect(await db.prepare('SELECT due_at FROM holding').first('due_at')).toBe(99_999_999)
  })
})

describe('a holding', () => {
  const row = { cuy: '1', address_id: '2', due_at: '5' }
  it.each([
    ['stored twice', insert('stored_holding', { ...row, address_id: '1' }), 'UNIQUE constraint failed'],
    ['of currency 0', insert('stored_holding', { ...row, cuy: '0' }), 'holding_cuy'],
    ['of no address', insert('stored_holding', { ...row, address_id: '0' }), 'holding_address_id'],
    [
      'with a balance below 0',
      `UPDATE stored_holding SET balance = '-4', read_from = 1, read_to = 2`,
      'holding_balance',
    ],
    ['with a balance of an unknown height', `UPDATE stored_holding SET balance = '4'`, 'holding_read'],
    [
      'with a reading that ends before it starts',
      `UPDATE stored_holding SET balance = '4', read_from = 3, read_to = 2`,
      'holding_read_to',
    ],
    ['with a reading without a balance', 'UPDATE stored_holding SET read_from = 1, read_to = 2', 'holding_read'],
    [
      'with a difference with a fraction',
      `UPDATE stored_holding SET difference = '1.5', differing = 1`,
      'holding_difference',
    ],
    [
      'with a difference of minus zero',
      `UPDATE stored_holding SET difference = '-0', differing = 1`,
      'holding_difference',
    ],
    ['with a difference that no reading found', `UPDATE stored_holding SET difference = '5'`, 'holding_difference'],
    ['with readings of no difference', 'UPDATE stored_holding SET differing = 1', 'holding_difference'],
    ['with an accepted difference that is no number', `UPDATE stored_holding SET accepted = '--5'`, 'holding_accepted'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it('keeps a comparison', async () => {
    await run(`UPDATE stored_holding SET balance = '0', read_from = 3, read_to = 9, accepted = '-12', accepted_sent = 3,
      differing = 2, difference = '-7'`)
    expect(await recorded(a)).toBe(150n)
  })
})

it('a transfer between strangers makes no holding', async () => {
  await run(transfer('moved', { to_address: `'${c}'`, txid: `'${t4}'` }))
  expect(await db.prepare('SELECT count(*) AS n FROM holding').first('n')).toBe(1)
})
