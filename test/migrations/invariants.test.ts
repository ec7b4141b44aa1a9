import { beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase } from '../support/database.ts'

const a = 'a'.repeat(40)
const b = 'b'.repeat(40)
const c = 'c'.repeat(40)
const t1 = '1'.repeat(64)
const t2 = '2'.repeat(64)
const t3 = '3'.repeat(64)
const max = 9_007_199_254_740_991n

let db: D1Database

/**
 * Callers 1 and 2 with an address each, the scan at block 100 of 120, and one credited deposit: wallet 1 of caller 1
 * in currency 1 holds 50 by flow 1. `t2` is a deposit that was too small.
 */
beforeEach(async () => {
  db = await freshDatabase()
  await db.batch(
    [
      `INSERT INTO address (idx, uid, hex, created_at) VALUES (0, 1, '${a}', 5), (1, 2, '${b}', 5)`,
      `INSERT INTO scan VALUES (1, 100, '${t1}', 120, 5, 5, 5, 5, NULL, 5, '', 0, NULL)`,
      deposit(),
      deposit({ txid: `'${t2}'`, outcome: `'dust'`, amount: '0' }),
      pending({ txid: `'${t3}'` }),
    ].map((sql) => db.prepare(sql)),
  )
})

type Values = Record<string, string>

const insert = (table: string, values: Values) =>
  `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`

const place = { txid: `'${t1}'`, position: '0', height: '90', block_hash: `'${t1}'`, cuy: '1' }
const transfer = { from_address: `'${c}'`, to_address: `'${a}'`, raw: `'50'` }

function deposit(changes: Values = {}): string {
  const credited = { outcome: `'credited'`, amount: '50', created_at: '10' }
  return insert('deposit', { ...place, native: '1', uid: '1', ...transfer, ...credited, ...changes })
}
function pending(changes: Values = {}): string {
  const undecided = { reason: `'no-api'`, since: '1', next_try: '1' }
  return insert('pending', { ...place, uid: '1', ...transfer, ...undecided, ...changes })
}
function flow(changes: Values = {}): string {
  const entry = { wallet: '1', uid: '1', cuy: '1', type: '3', osn: `'x'`, amount: '5', balance: '55', mark: `''` }
  return insert('flow', { ...entry, created_at: '20', ...changes })
}
function address(changes: Values = {}): string {
  return insert('address', { idx: '2', uid: '3', hex: `'${c}'`, created_at: '5', ...changes })
}
const scanRow = `INSERT INTO scan VALUES (1, 100, '${t1}', 120, 5, 5, 5, 5, NULL, 5, '', 0, NULL)`
const or = (policy: string, sql: string) => sql.replace(/^(INSERT|UPDATE)/, `$1 OR ${policy}`)

const tables = ['address', 'wallet', 'flow', 'deposit', 'pending', 'scan']
const contents = () =>
  Promise.all(tables.map(async (table) => (await db.prepare(`SELECT * FROM ${table}`).raw()).sort()))

/** The statement fails by the rule named `why`, or is skipped where it asked for that: the rows stay what they are. */
async function refuses(sql: string, why: string): Promise<void> {
  const before = await contents()
  const run = db.prepare(sql).run()
  if (why === 'skipped') await run
  else await expect(run).rejects.toThrow(why)
  expect(await contents()).toEqual(before)
}

describe('a good row', () => {
  it.each([
    ['a further deposit', deposit({ txid: `'${t3}'`, native: '0', position: '4' })],
    ['a withdrawal of all there is', flow({ type: '2', amount: '-50', balance: '0' })],
    ['a further address', address()],
    ['a wallet', 'INSERT INTO wallet (uid, cuy) VALUES (2, 1)'],
    ['a higher position', `UPDATE scan SET height = 101, hash = '${t2}'`],
  ])('%s is stored', async (_, sql) => {
    const before = await contents()
    await db.prepare(sql).run()
    expect(await contents()).not.toEqual(before)
  })

  it('makes the entry and moves the balance where it is a credited deposit', async () => {
    await db.prepare(deposit({ txid: `'${t3}'`, native: '0', position: '4', amount: '7' })).run()
    expect(await db.prepare('SELECT * FROM wallet').raw()).toEqual([[1, 1, 1, 57, 2, 2]])
    expect(await db.prepare('SELECT * FROM flow').raw()).toEqual([
      [1, 1, 1, 1, 1, t1, 50, 50, 'deposit', 10],
      [2, 1, 1, 1, 1, `${t3}:4`, 7, 57, 'deposit', 10],
    ])
    expect(await db.prepare('SELECT count(*) AS n FROM pending').first('n')).toBe(1)
  })
})

describe('a flow', () => {
  it.each([
    ['changed', 'UPDATE flow SET mark = mark', 'flow: rows are never changed'],
    ['changed by OR REPLACE', `UPDATE OR REPLACE flow SET amount = 60, balance = 60`, 'flow: rows are never changed'],
    ['changed by an upsert', `${flow({ id: '1' })} ON CONFLICT (id) DO UPDATE SET amount = 60`, 'flow: exists already'],
    ['deleted', 'DELETE FROM flow WHERE id = 1', 'flow: rows are never deleted'],
    ['replaced by its id', or('REPLACE', flow({ id: '1' })), 'flow: exists already'],
    [
      'replaced by its osn',
      or('REPLACE', flow({ type: '1', osn: `'${t1}'`, amount: '50', balance: '100' })),
      'flow: exists already',
    ],
    ['of another wallet or none', flow({ wallet: '9' }), 'plus its amount'],
    ["of somebody else's wallet", flow({ uid: '2' }), 'plus its amount'],
    ["of another currency than its wallet's", flow({ cuy: '2' }), 'plus its amount'],
    ['whose balance is not the sum', flow({ balance: '56' }), 'plus its amount'],
    ['whose balance is not the sum, under OR REPLACE', or('REPLACE', flow({ balance: '56' })), 'plus its amount'],
    ['whose balance is not the sum, under OR IGNORE', or('IGNORE', flow({ balance: '56' })), 'plus its amount'],
    ['with an id below an earlier one', flow({ id: '0' }), 'flow_id'],
    ['with a negative id', flow({ id: '-1' }), 'flow_id'],
    ['with an id past 2^53 − 1', flow({ id: '9007199254740992' }), 'flow_id'],
    ['before the entry before it', flow({ created_at: '9' }), 'flow: time does not run backwards'],
    ['that goes below zero', flow({ type: '2', amount: '-51', balance: '-1' }), 'flow_balance'],
    ['of nothing', flow({ amount: '0', balance: '50' }), 'flow_sign'],
    ['of type 2 with a plus', flow({ type: '2' }), 'flow_sign'],
    ['of type 4 with a plus', flow({ type: '4' }), 'flow_sign'],
    ['of type 5 with a minus', flow({ type: '5', amount: '-5', balance: '45' }), 'flow_sign'],
    ['of an unknown type', flow({ type: '6' }), 'flow_sign'],
    ['past 2^53 − 1', flow({ amount: `${max - 49n}`, balance: `${max + 1n}` }), 'flow_balance'],
    ['of more than 2^53 − 1', flow({ amount: `${max + 1n}`, balance: `${max + 51n}` }), 'flow_amount'],
    [
      'with a fraction',
      flow({ amount: '5.5', balance: '55.5' }),
      'cannot store REAL value in INTEGER column flow.amount',
    ],
    [
      'with a text for an amount',
      flow({ amount: `'5 TRX'`, balance: '55' }),
      'cannot store TEXT value in INTEGER column flow.amount',
    ],
    ['without an osn', flow({ osn: `''` }), 'flow_osn_length'],
    [
      'of a recharge without a deposit',
      flow({ type: '1', osn: `'${t3}'` }),
      'flow: a recharge needs its credited deposit',
    ],
    [
      'of a recharge for a deposit that was not credited',
      flow({ type: '1', osn: `'${t2}'` }),
      'flow: a recharge needs its credited deposit',
    ],
    [
      "of a recharge with another form of its deposit's osn",
      flow({ type: '1', osn: `'${t1}:0'` }),
      'flow: a recharge needs its credited deposit',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await refuses(sql, why)
  })

  it('with an id below an earlier one is refused also between two entries', async () => {
    await db.prepare(flow({ id: '10' })).run()
    await refuses(flow({ id: '5', osn: `'y'`, balance: '60' }), 'flow: ids grow')
  })

  it.each([
    ['below zero', { type: '2', amount: '-51', balance: '-1' }],
    ['of nothing', { amount: '0', balance: '50' }],
    ['past 2^53 − 1', { amount: `${max - 49n}`, balance: `${max + 1n}` }],
  ])('%s is not stored by OR IGNORE either', async (_, changes) => {
    await refuses(or('IGNORE', flow(changes)), 'skipped')
  })
})

describe('a wallet', () => {
  it.each([
    ['with another balance', 'UPDATE wallet SET balance = 51', 'wallet: follows its newest entry only'],
    [
      'with another balance, by OR REPLACE',
      'UPDATE OR REPLACE wallet SET balance = 51',
      'wallet: follows its newest entry only',
    ],
    [
      'with no balance, by OR REPLACE',
      'UPDATE OR REPLACE wallet SET balance = NULL',
      'wallet: follows its newest entry only',
    ],
    [
      'with no newest entry, by OR REPLACE',
      'UPDATE OR REPLACE wallet SET newest = NULL, flow_count = flow_count + 1',
      'wallet: follows its newest entry only',
    ],
    ['with a negative balance', 'UPDATE wallet SET balance = -1', 'wallet: follows its newest entry only'],
    [
      'with another number of entries',
      'UPDATE wallet SET flow_count = flow_count + 1',
      'wallet: follows its newest entry only',
    ],
    ['with another owner', 'UPDATE wallet SET uid = 2', 'wallet: follows its newest entry only'],
    ['with another id', 'UPDATE OR REPLACE wallet SET id = 7', 'wallet: follows its newest entry only'],
    [
      'by an upsert',
      'INSERT INTO wallet (uid, cuy) VALUES (1, 1) ON CONFLICT (uid, cuy) DO UPDATE SET balance = 9',
      'wallet: exists already',
    ],
    ['born rich', 'INSERT INTO wallet (uid, cuy, balance) VALUES (2, 1, 5)', 'wallet: starts at zero'],
    ['born with entries', 'INSERT INTO wallet (uid, cuy, flow_count) VALUES (2, 1, 5)', 'wallet: starts at zero'],
    ['born with an id below 1', 'INSERT INTO wallet (id, uid, cuy) VALUES (-1, 2, 1)', 'wallet_id'],
    ['born twice', 'INSERT INTO wallet (uid, cuy) VALUES (1, 1)', 'wallet: exists already'],
    ['replaced by its owner', 'INSERT OR REPLACE INTO wallet (uid, cuy) VALUES (1, 1)', 'wallet: exists already'],
    ['replaced by its id', 'INSERT OR REPLACE INTO wallet (id, uid, cuy) VALUES (1, 2, 1)', 'wallet: exists already'],
    ['of caller 0', 'INSERT INTO wallet (uid, cuy) VALUES (0, 1)', 'wallet_uid'],
    [
      'of a caller with a fraction',
      'INSERT INTO wallet (uid, cuy) VALUES (1.5, 1)',
      'cannot store REAL value in INTEGER column wallet.uid',
    ],
    ['deleted', 'DELETE FROM wallet', 'wallet: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await refuses(sql, why)
  })
})

describe('a deposit', () => {
  it.each([
    ['credited twice', deposit(), 'deposit: this credit key is known'],
    ['credited twice, by OR REPLACE', or('REPLACE', deposit({ amount: '60' })), 'deposit: this credit key is known'],
    ['credited twice, by OR IGNORE', or('IGNORE', deposit({ amount: '60' })), 'deposit: this credit key is known'],
    [
      'credited twice, by an upsert',
      `${deposit()} ON CONFLICT DO UPDATE SET amount = 60`,
      'deposit: this credit key is known',
    ],
    ['credited after it was not', or('REPLACE', deposit({ txid: `'${t2}'` })), 'deposit: this credit key is known'],
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
      "to somebody else's address",
      deposit({ txid: `'${t3}'`, to_address: `'${b}'` }),
      'deposit: not to an address of this caller',
    ],
    [
      'to an address that was never issued',
      deposit({ txid: `'${t3}'`, to_address: `'${c}'` }),
      'deposit: not to an address of this caller',
    ],
    ['credited with nothing', deposit({ txid: `'${t3}'`, amount: '0' }), 'deposit_amount'],
    ['uncredited with something', deposit({ txid: `'${t3}'`, outcome: `'dust'` }), 'deposit_amount'],
    ['with an unknown outcome', deposit({ txid: `'${t3}'`, outcome: `'seen'`, amount: '0' }), 'deposit_outcome'],
    ['that its wallet has no room for', deposit({ txid: `'${t3}'`, amount: `${max - 49n}` }), 'flow_balance'],
    [
      'with no room for it, by OR IGNORE',
      or('IGNORE', deposit({ txid: `'${t3}'`, amount: `${max - 49n}` })),
      'deposit: it was not credited',
    ],
    [
      'with no room for it, by OR REPLACE',
      or('REPLACE', deposit({ txid: `'${t3}'`, amount: `${max - 49n}` })),
      'flow_balance',
    ],
    ['of TRX at another position than 0', deposit({ txid: `'${t3}'`, position: '1' }), 'deposit_native'],
    ['of a raw amount of nothing', deposit({ txid: `'${t3}'`, raw: `'0'` }), 'deposit_raw'],
    ['of a raw amount in hex', deposit({ txid: `'${t3}'`, raw: `'0x32'` }), 'deposit_raw'],
    ['of a negative raw amount', deposit({ txid: `'${t3}'`, raw: `'-50'` }), 'deposit_raw'],
    ['with a txid in capitals', deposit({ txid: `'${'A'.repeat(64)}'` }), 'deposit_txid'],
    ['with a txid with 0x', deposit({ txid: `'0x${t3.slice(2)}'` }), 'deposit_txid'],
    [
      'with a position with a fraction',
      deposit({ txid: `'${t3}'`, native: '0', position: '1.5' }),
      'cannot store REAL value in INTEGER column deposit.position',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await refuses(sql, why)
  })

  it('that is decided is never pending', async () => {
    await refuses(pending(), 'pending: decided already')
    await refuses(or('REPLACE', pending()), 'pending: decided already')
  })
})

describe('an address', () => {
  it.each([
    ['issued twice', address({ hex: `'${a}'` }), 'address: issued already'],
    ['issued twice, by OR REPLACE', or('REPLACE', address({ hex: `'${a}'` })), 'address: issued already'],
    [
      'issued twice, by an upsert',
      `${address({ hex: `'${a}'` })} ON CONFLICT (hex) DO UPDATE SET uid = 3`,
      'address: issued already',
    ],
    ['at an index that is taken', address({ idx: '1' }), 'address: issued already'],
    ['at an index that is taken, by OR REPLACE', or('REPLACE', address({ idx: '1' })), 'address: issued already'],
    ['at an index that leaves a hole', address({ idx: '3' }), 'address: indices grow by one'],
    ['at a negative index', address({ idx: '-1' }), 'address: indices grow by one'],
    ['with an id that is taken', or('REPLACE', address({ id: '1' })), 'address: issued already'],
    ['with an id that is not its own', address({ id: '9' }), 'address_id'],
    ['with 0x in front', address({ hex: `'0x${c.slice(2)}'` }), 'address_hex_form'],
    ['with 41 in front', address({ hex: `'41${c}'` }), 'address_hex_form'],
    ['given to another caller', 'UPDATE address SET uid = 2 WHERE idx = 0', 'address: rows are never changed'],
    [
      'given to another caller by OR REPLACE',
      'UPDATE OR REPLACE address SET idx = 0, id = 1 WHERE idx = 1',
      'address: rows are never changed',
    ],
    ['deleted', 'DELETE FROM address WHERE idx = 1', 'address: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await refuses(sql, why)
  })
})

describe("the scan's row", () => {
  it.each([
    ['going back', 'UPDATE scan SET height = 99', 'scan: the position never goes back'],
    ['going back by OR REPLACE', 'UPDATE OR REPLACE scan SET height = 99', 'scan: the position never goes back'],
    ['at no height', 'UPDATE scan SET height = NULL', 'NOT NULL constraint failed: scan.height'],
    [
      'at no height, by OR REPLACE',
      'UPDATE OR REPLACE scan SET height = NULL',
      'NOT NULL constraint failed: scan.height',
    ],
    ['with another hash at its height', `UPDATE scan SET hash = '${t2}'`, 'scan: a block once stored keeps its hash'],
    ['with its hash taken away', 'UPDATE scan SET hash = NULL', 'scan: a block once stored keeps its hash'],
    ['at a new block without a hash', 'UPDATE scan SET height = 101, hash = NULL', 'scan: a stored block has a hash'],
    ['with a lower finalized height', 'UPDATE scan SET finalized = 119', 'scan: the finalized height never goes back'],
    ['above the finalized height', `UPDATE scan SET height = 121, hash = '${t2}'`, 'scan_height'],
    ['doubled', scanRow, 'scan: started already'],
    ['doubled under another id', scanRow.replace('(1,', '(2,'), 'scan: started already'],
    ['replaced', or('REPLACE', scanRow).replace('100', '50'), 'scan: started already'],
    ['moved by an upsert', `${scanRow} ON CONFLICT (id) DO UPDATE SET height = 50`, 'scan: started already'],
    ['deleted', 'DELETE FROM scan', 'scan: the row is never deleted'],
    ['renumbered', 'UPDATE scan SET id = 2', 'scan_one_row'],
  ])('%s is refused', async (_, sql, why) => {
    await refuses(sql, why)
  })
})

it('every table is STRICT', async () => {
  const lax = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND name NOT GLOB '*_*'`
  expect(await db.prepare(lax).raw()).toEqual([])
  expect(await db.prepare('SELECT count(*) AS n FROM pragma_table_list WHERE strict = 1').first('n')).toBe(12)
})
