import { beforeAll, describe, it } from 'vitest'
import { expectRefusal, flow, or, storeRows, type Values } from './rows.ts'

// Each test tries a write that the database must refuse. A refused write changes no row, so all
// tests share one database.
beforeAll(async () => {
  await storeRows()
})

const recharge = (changes: Values) =>
  flow({ type: '1', osn: 'NULL', posted_by: `''`, amount: '50', balance: '100', type_number: '2', ...changes })

describe('a flow', () => {
  it.each([
    ['changed', 'UPDATE stored_flow SET mark = mark', 'flow: rows are never changed'],
    [
      'changed by OR REPLACE',
      `UPDATE OR REPLACE stored_flow SET amount = 60, balance = 60`,
      'flow: rows are never changed',
    ],
    [
      'changed by an upsert',
      `${flow({ id: '1' })} ON CONFLICT (id) DO UPDATE SET amount = 60`,
      'flow: ids must increase',
    ],
    ['deleted', 'DELETE FROM stored_flow WHERE id = 1', 'flow: rows are never deleted'],
    ['replaced by its id', or('REPLACE', flow({ id: '1' })), 'flow: ids must increase'],
    ['with an id below the newest one, by OR IGNORE', or('IGNORE', flow({ id: '0' })), 'flow: ids must increase'],
    ['with the number of another', flow({ number: '1' }), 'flow: numbers must follow'],
    ['with a number that leaves a gap', flow({ number: '3' }), 'flow: numbers must follow'],
    ['with another number among its type', flow({ type_number: '2' }), 'flow: numbers must follow'],
    ['of a deposit again', or('REPLACE', recharge({ transfer_id: '1' })), 'flow: already exists'],
    ['of a wallet that does not exist', flow({ wallet_id: '9' }), 'flow: balance must be'],
    ['whose balance is not the sum', flow({ balance: '56' }), 'flow: balance must be'],
    ['whose balance is not the sum, under OR REPLACE', or('REPLACE', flow({ balance: '56' })), 'flow: balance must be'],
    ['whose balance is not the sum, under OR IGNORE', or('IGNORE', flow({ balance: '56' })), 'flow: balance must be'],
    ['that is older than the entry before it', flow({ created_at: '9' }), 'flow: created_at must not decrease'],
    ['without an id', flow({ id: 'NULL' }), 'flow: ids must increase'],
    ['with the number of an event', flow({ id: '3' }), 'flow: ids must increase'],
    ['of a recharge without its transfer', recharge({}), 'flow: a recharge requires its credited transfer'],
    ['of a recharge with an osn of its own', recharge({ transfer_id: '1', osn: `'x'` }), 'flow: already exists'],
    [
      'of a recharge without a transfer',
      recharge({ transfer_id: '9' }),
      'flow: a recharge requires its credited transfer',
    ],
    [
      'of a recharge for a transfer that was refused',
      recharge({ transfer_id: '2' }),
      'flow: a recharge requires its credited transfer',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })
})

describe('a wallet', () => {
  it.each([
    ['with another balance', 'UPDATE wallet SET balance = 51', 'wallet: only a new entry changes it'],
    [
      'with another balance, by OR REPLACE',
      'UPDATE OR REPLACE wallet SET balance = 51',
      'wallet: only a new entry changes it',
    ],
    [
      'with no balance, by OR REPLACE',
      'UPDATE OR REPLACE wallet SET balance = NULL',
      'wallet: only a new entry changes it',
    ],
    [
      'with no newest entry, by OR REPLACE',
      'UPDATE OR REPLACE wallet SET newest_entry = NULL, entry_count = entry_count + 1',
      'wallet: only a new entry changes it',
    ],
    ['with a negative balance', 'UPDATE wallet SET balance = -1', 'wallet: only a new entry changes it'],
    [
      'with another number of entries',
      'UPDATE wallet SET entry_count = entry_count + 1',
      'wallet: only a new entry changes it',
    ],
    ['with another owner', 'UPDATE wallet SET uid = 2', 'wallet: only a new entry changes it'],
    ['with another id', 'UPDATE OR REPLACE wallet SET id = 7', 'wallet: only a new entry changes it'],
    [
      'by an upsert',
      'INSERT INTO wallet (uid, cuy) VALUES (1, 1) ON CONFLICT (uid, cuy) DO UPDATE SET balance = 9',
      'wallet: already exists',
    ],
    [
      'that starts with a balance',
      'INSERT INTO wallet (uid, cuy, balance) VALUES (2, 1, 5)',
      'wallet: must start empty',
    ],
    [
      'that starts with entries',
      'INSERT INTO wallet (uid, cuy, entry_count) VALUES (2, 1, 5)',
      'wallet: must start empty',
    ],
    ['with an id below 1', 'INSERT INTO wallet (id, uid, cuy) VALUES (-1, 2, 1)', 'wallet_id'],
    ['that exists already', 'INSERT INTO wallet (uid, cuy) VALUES (1, 1)', 'wallet: already exists'],
    ['replaced by its owner', 'INSERT OR REPLACE INTO wallet (uid, cuy) VALUES (1, 1)', 'wallet: already exists'],
    ['replaced by its id', 'INSERT OR REPLACE INTO wallet (id, uid, cuy) VALUES (1, 2, 1)', 'wallet: already exists'],
    ['of caller 0', 'INSERT INTO wallet (uid, cuy) VALUES (0, 1)', 'wallet_uid'],
    [
      'of a caller with a fraction',
      'INSERT INTO wallet (uid, cuy) VALUES (1.5, 1)',
      'cannot store REAL value in INTEGER column wallet.uid',
    ],
    ['deleted', 'DELETE FROM wallet', 'wallet: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })
})
