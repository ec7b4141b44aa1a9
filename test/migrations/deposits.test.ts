import { beforeEach, describe, it } from 'vitest'
import {
  a,
  b,
  c,
  deposit,
  expectRefusal,
  insert,
  max,
  or,
  pending,
  place,
  sighting,
  storeRows,
  t1,
  t2,
  t3,
  t4,
} from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

describe('a deposit', () => {
  it.each([
    ['credited twice', deposit(), 'deposit: credit key already stored'],
    ['credited twice, by OR REPLACE', or('REPLACE', deposit({ amount: '60' })), 'deposit: credit key already stored'],
    ['credited twice, by OR IGNORE', or('IGNORE', deposit({ amount: '60' })), 'deposit: credit key already stored'],
    [
      'credited twice, by an upsert',
      `${deposit()} ON CONFLICT DO UPDATE SET amount = 60`,
      'deposit: credit key already stored',
    ],
    [
      'credited after it was stored uncredited',
      or('REPLACE', deposit({ txid: `'${t2}'` })),
      'deposit: credit key already stored',
    ],
    [
      'changed',
      `UPDATE deposit SET amount = 50, outcome = 'credited' WHERE txid = '${t2}'`,
      'deposit: rows are never changed',
    ],
    [
      'changed by OR REPLACE',
      `UPDATE OR REPLACE deposit SET txid = '${t1}' WHERE txid = '${t2}'`,
      'deposit: rows are never changed',
    ],
    ['deleted', 'DELETE FROM deposit', 'deposit: rows are never deleted'],
    [
      "to another caller's address",
      deposit({ txid: `'${t3}'`, to_address: `'${b}'` }),
      'deposit: to_address does not belong to this caller',
    ],
    [
      'to an address that was never issued',
      deposit({ txid: `'${t3}'`, to_address: `'${c}'` }),
      'deposit: to_address does not belong to this caller',
    ],
    [
      'in a block that was final before its address was issued',
      deposit({ txid: `'${t3}'`, height: '80' }),
      'deposit: final before its address was issued',
    ],
    [
      'in such a block, by OR IGNORE',
      or('IGNORE', deposit({ txid: `'${t3}'`, height: '79' })),
      'deposit: final before its address was issued',
    ],
    ['credited with the amount 0', deposit({ txid: `'${t3}'`, amount: '0' }), 'deposit_amount'],
    ['uncredited with an amount', deposit({ txid: `'${t3}'`, outcome: `'dust'` }), 'deposit_amount'],
    ['with an unknown outcome', deposit({ txid: `'${t3}'`, outcome: `'seen'`, amount: '0' }), 'deposit_outcome'],
    ['that does not fit into its wallet', deposit({ txid: `'${t3}'`, amount: `${max - 49n}` }), 'flow_balance'],
    [
      'that does not fit into its wallet, by OR IGNORE',
      or('IGNORE', deposit({ txid: `'${t3}'`, amount: `${max - 49n}` })),
      'deposit: its entry was not created',
    ],
    [
      'that does not fit into its wallet, by OR REPLACE',
      or('REPLACE', deposit({ txid: `'${t3}'`, amount: `${max - 49n}` })),
      'flow_balance',
    ],
    ['of TRX at another position than 0', deposit({ txid: `'${t3}'`, position: '1' }), 'deposit_native'],
    ['with the raw amount 0', deposit({ txid: `'${t3}'`, raw: `'0'` }), 'deposit_raw'],
    ['with a raw amount in hex', deposit({ txid: `'${t3}'`, raw: `'0x32'` }), 'deposit_raw'],
    ['with a negative raw amount', deposit({ txid: `'${t3}'`, raw: `'-50'` }), 'deposit_raw'],
    ['with a txid in upper case', deposit({ txid: `'${'A'.repeat(64)}'` }), 'deposit_txid'],
    ['with a txid that starts with 0x', deposit({ txid: `'0x${t3.slice(2)}'` }), 'deposit_txid'],
    [
      'with a position with a fraction',
      deposit({ txid: `'${t3}'`, native: '0', position: '1.5' }),
      'cannot store REAL value in INTEGER column deposit.position',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it('is refused while the scan is halted, credited or not', async () => {
    await db.prepare(`UPDATE scan SET halted = 'forked'`).run()
    for (const changes of [{}, { outcome: `'dust'`, amount: '0' }]) {
      await expectRefusal(deposit({ txid: `'${t3}'`, ...changes }), 'deposit: the scan is halted')
      await expectRefusal(or('IGNORE', deposit({ txid: `'${t3}'`, ...changes })), 'deposit: the scan is halted')
    }
  })

  it('that is decided cannot become pending', async () => {
    await expectRefusal(pending(), 'pending: already decided')
    await expectRefusal(or('REPLACE', pending()), 'pending: already decided')
  })
})

describe('a pending deposit', () => {
  it.each([
    [
      'in a block that was final before its address was issued',
      pending({ txid: `'${t4}'`, height: '80' }),
      'pending: final before its address was issued',
    ],
    ['with an unknown reason', pending({ txid: `'${t4}'`, reason: `'lost'` }), 'pending_reason'],
    ['of currency 0', pending({ txid: `'${t4}'`, cuy: '0' }), 'pending_cuy'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })
})

describe('a movement and a sighting', () => {
  it.each([['movement', { ...place, cuy: '0', address: `'${a}'`, direction: `'out'`, raw: `'5'` }]])(
    'a %s of currency 0 is refused',
    async (table, values) => {
      await expectRefusal(insert(table, values), `${table}_cuy`)
    },
  )

  it.each([
    ['of currency 0', { cuy: '0' }, 'sighting_cuy'],
    ['of 0', { raw: `'0'` }, 'sighting_raw'],
    ['of a caller 0', { uid: '0' }, 'sighting_uid'],
    ['with 256 decimals', { decimals: '256' }, 'sighting_decimals'],
  ])('a sighting %s is refused', async (_, changes, why) => {
    await expectRefusal(sighting(changes), why)
  })
})
