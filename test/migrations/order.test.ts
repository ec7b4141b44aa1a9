import { beforeEach, describe, expect, it } from 'vitest'
import { type OrderState, orderStates } from '../../src/worker/common/order-states.ts'
import {
  address,
  c,
  contents,
  expectRefusal,
  flow,
  insert,
  or,
  posting,
  run,
  step,
  storeRows,
  t4,
  transfer,
  type Values,
} from './rows.ts'

// Address 3, `c`, is for orders of caller 1. All times are small: an order is made at 1000, expires
// at 2000, and holds its address a day longer.

let db: D1Database
beforeEach(async () => {
  db = await storeRows()
  await run(address({ uid: '1', for_orders: '1' }))
})

const day = 86_400_000
const order = (changes: Values = {}) =>
  insert('payment_order', {
    ...{ uid: '1', cuy: '1', reference: `'A'`, amount: '100', at_least: '80', address_id: '3', after_height: '120' },
    ...{
      until: '2000',
      take: '0',
      mark: `''`,
      posted_by: `'shop'`,
      created_at: '1000',
      held_until: String(2000 + day),
    },
    ...changes,
  })
const belongs = (changes: Values = {}) =>
  insert('order_deposit', {
    order_id: '1',
    transfer_id: '(SELECT max(id) + 1 FROM stored_transfer)',
    made_at: '1500',
    ...changes,
  })
const final = 'UPDATE scan SET finalized = 130'
/** The deposit of so many sun in the transaction of this digit, which the order counts. */
const count = (digit: string, amount: number, changes: Values = {}) => [
  final,
  belongs(),
  transfer('credited', {
    ...{
      txid: `'${digit.repeat(64)}'`,
      height: '125',
      to_address: `'${c}'`,
      raw: `'${amount}'`,
      amount: String(amount),
    },
    ...{ changed_at: '3000', ...changes },
  }),
]
const expire = `UPDATE payment_order SET state = 'expired', ended_at = 2000`
const cancel = `UPDATE payment_order SET state = 'cancelled', ended_at = iif(ended_at IS NULL, 1500, 3000),
  cancelled_by = 'shop', held_until = iif(ended_at IS NULL, 1500 + ${day}, held_until)`
/** An order's state and what is credited for it. */
const read = async () =>
  (await db.prepare(`SELECT state || ' ' || credited AS said FROM payment_order`).first<string>('said')) ?? ''

describe('an order takes these steps and no others', () => {
  const begin: Readonly<Record<OrderState | 'short', readonly string[]>> = {
    open: [order()],
    partly: [order(), ...count('5', 10)],
    paid: [order(), ...count('5', 80)],
    expired: [order(), expire],
    short: [order(), ...count('5', 10), expire],
    cancelled: [order(), cancel],
  }
  const attempts = {
    'a deposit of 20': count('6', 20),
    'a deposit of 90': count('7', 90),
    'its end passes': [expire],
    'it is cancelled': [cancel],
    'it opens again': [
      `UPDATE payment_order SET state = 'open', credited = 0, newest_entry = 0, ended_at = NULL, cancelled_by = NULL`,
    ],
  } as const
  const no = 'refused'
  // Written by hand, from what an order promises: it asks for 100, and 80 are enough. `short` has
  // expired with 10. A deposit is never refused: where the order does not count it, it stays as it
  // is, and the money is in the wallet.
  const table: Readonly<Record<keyof typeof begin, Readonly<Record<keyof typeof attempts, string>>>> = {
    open: {
      'a deposit of 20': 'partly 20',
      'a deposit of 90': 'paid 90',
      'its end passes': 'expired 0',
      'it is cancelled': 'cancelled 0',
      'it opens again': no,
    },
    partly: {
      'a deposit of 20': 'partly 30',
      'a deposit of 90': 'paid 100',
      'its end passes': 'expired 10',
      'it is cancelled': no,
      'it opens again': no,
    },
    paid: {
      'a deposit of 20': 'paid 100',
      'a deposit of 90': 'paid 170',
      'its end passes': no,
      'it is cancelled': no,
      'it opens again': no,
    },
    expired: {
      'a deposit of 20': 'expired 20',
      'a deposit of 90': 'paid 90',
      'its end passes': no,
      'it is cancelled': 'cancelled 0',
      'it opens again': no,
    },
    short: {
      'a deposit of 20': 'expired 30',
      'a deposit of 90': 'paid 100',
      'its end passes': no,
      'it is cancelled': no,
      'it opens again': no,
    },
    cancelled: {
      'a deposit of 20': 'cancelled 0',
      'a deposit of 90': 'cancelled 0',
      'its end passes': no,
      'it is cancelled': no,
      'it opens again': no,
    },
  }
  const rows = Object.entries(table).flatMap(([from, row]) =>
    Object.entries(row).map(([attempt, becomes]) => [from, attempt, becomes] as const),
  )

  it.each(rows)('%s: %s → %s', async (from, attempt, becomes) => {
    await run(...begin[from as keyof typeof begin]) // safe: a key of the table
    const [before, said] = [await contents(), await read()]
    expect(said.split(' ')[0]).toBe(from === 'short' ? 'expired' : from)
    const attempted = run(...attempts[attempt as keyof typeof attempts]) // safe: a key of the table
    if (becomes !== no) {
      await attempted
      expect(await read()).toBe(becomes)
      return
    }
    await expect(attempted).rejects.toThrow(/order: |CHECK constraint failed: payment_order/)
    expect(await contents()).toEqual(before)
  })

  it.each(orderStates.flatMap((from) => orderStates.map((to) => [from, to] as const)))(
    '%s → %s is refused without a deposit, or the whole step',
    async (from, to) => {
      await run(...begin[from])
      const before = await contents()
      await expect(run(`UPDATE payment_order SET state = '${to}', credited = 99`)).rejects.toThrow(
        /order: |CHECK constraint failed: payment_order/,
      )
      expect(await contents()).toEqual(before)
    },
  )
})

describe('a new order', () => {
  it.each([
    ['at an address of another user', order({ uid: '2' }), 'not for orders of its user'],
    ['at an address that users are shown', order({ address_id: '1' }), 'not for orders of its user'],
    ['of the owner of reserved addresses', order({ uid: '9007199254740991' }), 'not for orders of its user'],
    ['that is paid', order({ state: `'paid'`, ended_at: '5' }), 'it begins as open'],
    ['that something is credited for', order({ credited: '5', newest_entry: '1' }), 'payment_order_state'],
    [
      'that lasts for 31 days',
      order({ until: String(1000 + 31 * day), held_until: String(1000 + 32 * day) }),
      'it begins as open',
    ],
    ['that holds its address for less than a day', order({ held_until: '2001' }), 'it begins as open'],
    ['that counts blocks which are final', order({ after_height: '119' }), 'it begins as open'],
    ['that asks for nothing', order({ amount: '0', at_least: '0' }), 'payment_order_amount'],
    ['that is paid by more than it asks for', order({ at_least: '101' }), 'payment_order_at_least'],
    ['that has ended', order({ until: '1000' }), 'it begins as open'],
    ['without a reference', order({ reference: `''` }), 'payment_order_reference'],
    ['with a long way back', order({ return_to: `'${'x'.repeat(501)}'` }), 'payment_order_return_to'],
    ['of a backend without a name', order({ posted_by: `''` }), 'payment_order_posted_by'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
    await expectRefusal(or('REPLACE', sql), why)
  })

  it('that is older than the newest final block is put back with the height that it had', async () => {
    await run(order({ after_height: '119', created_at: '3' }))
    expect(await db.prepare('SELECT after_height FROM payment_order').first('after_height')).toBe(119)
  })

  it('has a reference of its own, and no address that another one holds', async () => {
    await run(order())
    const later = { address_id: '4', reference: `'B'` }
    await run(address({ id: '4', uid: '1', address: `'${'d'.repeat(40)}'`, for_orders: '1' }))
    await expectRefusal(or('REPLACE', order({ ...later, reference: `'A'` })), 'already asked for')
    await expectRefusal(or('REPLACE', order({ ...later, id: '1' })), 'already asked for')
    await expectRefusal(order({ reference: `'B'` }), 'its address is held')
    const after = {
      reference: `'C'`,
      until: String(3000 + day),
      created_at: String(1999 + day),
      held_until: String(3000 + 2 * day),
    }
    await expectRefusal(order(after), 'its address is held')
    await run(order({ ...after, created_at: String(2000 + day) }))
  })

  it('that takes has the key of its entry to itself', async () => {
    await run(posting([{ uid: 1, cuy: 1, type: 4, osn: 'A', amount: -1, mark: '' }]))
    await expectRefusal(order({ take: '1' }), 'an entry has its key')
    await run(order(), address({ id: '4', uid: '1', address: `'${'d'.repeat(40)}'`, for_orders: '1' }))
    await run(order({ take: '1', reference: `'B'`, address_id: '4' }))
    await expectRefusal(posting([{ uid: 1, cuy: 1, type: 4, osn: 'B', amount: -1, mark: '' }]), 'an order has its key')
    await run(posting([{ uid: 1, cuy: 1, type: 2, osn: 'B', amount: -1, mark: '' }]))
  })

  it('is one of at most 1,000 that hold an address', async () => {
    const n = 'WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1003)'
    await run(
      `${n} INSERT INTO stored_address SELECT i, 1, unhex(printf('%040x', i)), 120, 5, NULL, 1 FROM n`,
      `${n} INSERT INTO payment_order (uid, cuy, reference, amount, at_least, address_id, after_height, until, take,
          mark, posted_by, created_at, held_until)
        SELECT 1, 1, i, 5, 5, i, 120, 2000, 0, '', 'shop', 1000, 2000 + ${day} FROM n`,
    )
    await expectRefusal(order(), 'its user has too many')
    await run(order({ created_at: String(2000 + day), until: String(2001 + day), held_until: String(2001 + 2 * day) }))
  })
})

describe('of an order', () => {
  const set = (changes: string) => `UPDATE payment_order SET ${changes}`
  it.each([
    ['what was asked for changes', set('amount = 90'), 'what was asked for must not change'],
    ['something is credited without an entry', set(`state = 'partly', credited = 5, newest_entry = 1`), 'no such step'],
    ['more is credited', set('credited = 11'), 'no such step'],
    ['a deposit counts twice', set('credited = 20, newest_entry = newest_entry + 1'), 'only the newest entry'],
    ['less is credited', set(`state = 'open', credited = 0, newest_entry = 0`), 'no such step'],
    ['the hold ends sooner', set(`state = 'expired', ended_at = 2000, held_until = 2001`), 'it ends once'],
    ['the end comes before its time', set(`state = 'expired', ended_at = 1999`), 'it ends once'],
    ['the money is taken', set('taken = 1'), 'no such step'],
    ['something credited is cancelled', cancel, 'no such step'],
    ['it is deleted', 'DELETE FROM payment_order', 'rows are never deleted'],
    ['a deposit is forgotten', 'DELETE FROM order_deposit', 'it is credited'],
    ['a deposit gets another block', 'UPDATE order_deposit SET made_at = 1600', 'only its block changes'],
  ])('%s: refused', async (_, sql, why) => {
    await run(order({ take: '1' }), ...count('5', 10))
    await expectRefusal(sql, why)
  })

  it('no deposit is before it, after its hold, of another order or already credited', async () => {
    await run(order())
    await expectRefusal(belongs({ made_at: '1000' }), 'not made while the order held its address')
    await expectRefusal(belongs({ made_at: String(2000 + day) }), 'not made while the order held its address')
    await expectRefusal(belongs({ transfer_id: '1' }), 'not a transfer that may count')
    await expectRefusal(belongs({ order_id: '2' }), 'not made while the order held its address')
    await run(
      order({
        reference: `'B'`,
        created_at: String(2000 + day),
        until: String(2001 + day),
        held_until: String(2001 + 2 * day),
      }),
    )
    await run(belongs(), transfer('seen', { txid: `'${t4}'`, height: '125', to_address: `'${c}'` }))
    await expectRefusal(
      belongs({ order_id: '2', transfer_id: '4', made_at: String(2100 + day) }),
      'another order has it',
    )
  })

  it('late and taken are what blocks and the wallet say', async () => {
    await run(order({ take: '1' }), final)
    await run(belongs(), transfer('seen', { txid: `'${t4}'`, height: '125', to_address: `'${c}'`, raw: `'80'` }))
    await run(step(t4, 'credited', { amount: '80', changed_at: '3000' }))
    expect(await db.prepare('SELECT state, late, taken, credited FROM payment_order').first()).toEqual({
      ...{ state: 'paid', late: 0, taken: 1, credited: 80 },
    })
    expect(await db.prepare('SELECT balance FROM wallet WHERE uid = 1 AND cuy = 1').first('balance')).toBe(50)
  })

  it('a recharge names no order but that of its deposit', async () => {
    await run(order())
    await expectRefusal(flow({ type: '1', osn: 'NULL', transfer_id: '1', mark: `'1'`, posted_by: `''` }), 'flow: ')
  })
})

it('an event about an order says what is stored of it', async () => {
  await run(order())
  const event = (type: string, about: string) =>
    insert('stored_event', {
      id: '(SELECT id + 1 FROM last_event)',
      type: `'${type}'`,
      uid: '1',
      created_at: '5',
      about,
    })
  await expectRefusal(event('order.paid', `'[1,"paid",0,[]]'`), 'it must report an order')
  await expectRefusal(event('order.partly', `'[1,"open",0,[]]'`), 'it must report an order')
  await expectRefusal(event('order.paid', 'NULL'), 'it must report an order')
})
