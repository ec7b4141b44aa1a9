import { beforeEach, describe, expect, it } from 'vitest'
import {
  b,
  c,
  contents,
  entry,
  expectRefusal,
  insert,
  noNames,
  or,
  personName,
  posting,
  rescan,
  run,
  storeRows,
  t1,
  t2,
  t4,
  type Values,
} from './rows.ts'

// The scan is at block 100 of 120. Payout 1 is of 20 of user 1, with a fee of 1, and waits.

let db: D1Database
beforeEach(async () => {
  db = await storeRows()
})

const asked = {
  uid: '1',
  cuy: '1',
  osn: `'p'`,
  amount: '20',
  fee: '1',
  to_address: `'${c}'`,
  contract: `''`,
  raw: `'20'`,
  mark: `''`,
  posted_by: `'shop'`,
  created_at: '20',
  changed_at: '20',
}
const payout = (changes: Values = {}) => insert('payout', { ...asked, ...changes })
const open = (changes: Values = {}) =>
  insert('payout_transaction', {
    txid: `'${t4}'`,
    address: `'${b}'`,
    payout_id: '1',
    bytes: `'ab'`,
    reference: '110',
    expires_at: '900',
    changed_at: '21',
    next_send: '21',
    ...changes,
  })
const unknown = (changes: Values = {}) =>
  insert('payout_transaction', {
    txid: `'${t4}'`,
    address: `'${b}'`,
    height: '90',
    succeeded: '1',
    moved: `'[]'`,
    ended: `'unknown'`,
    changed_at: '21',
    next_send: '21',
    ...changes,
  })
const move = (set: string) => `UPDATE payout SET changed_at = 30, ${set} WHERE id = 1`
const end = (set: string) => `UPDATE payout_transaction SET changed_at = 30, ${set} WHERE id = 1`
const approve = move(`state = 'approved', approved_by = 'office', approved_at = 30`)
const cancel = move(`state = 'cancelled', cancelled_by = 'office', why = 'x'`)
const paid = (raw = 20) => `'[{"contract":"","to":"${c}","raw":"${raw}"}]'`
const found = (ended: string, moved = paid(), succeeded = 1) =>
  end(`ended = '${ended}', height = 99, succeeded = ${succeeded}, moved = ${moved}`)
const stateOf = async () => db.prepare('SELECT state FROM payout WHERE id = 1').first('state')
const balance = async () => db.prepare('SELECT balance FROM wallet WHERE id = 1').first('balance')

/** Refuses a statement, and what SQLite offers to get around a rule. */
async function expectNo(sql: string, why: string) {
  await expectRefusal(sql, why)
  const before = await contents()
  for (const policy of ['REPLACE', 'IGNORE', 'ABORT']) {
    await db
      .prepare(or(policy, sql))
      .run()
      .catch(() => null)
    expect([policy, await contents()]).toEqual([policy, before])
  }
}

it('a payout takes its money with the statement that stores it, and gives it back when it is cancelled', async () => {
  await run(payout())
  expect([await stateOf(), await balance()]).toEqual(['waiting', 29])
  await run(cancel)
  expect([await stateOf(), await balance()]).toEqual(['cancelled', 50])
  const { results } = await db.prepare(`SELECT type, amount FROM flow WHERE osn = 'p' ORDER BY id`).all()
  expect(results).toEqual([
    { type: 2, amount: -20 },
    { type: 4, amount: -1 },
    { type: 5, amount: 21 },
  ])
})

it('a person approves and cancels under the e-mail address, and posts nothing: the refund is that of who asked', async () => {
  const person = `'${personName}'`
  await run(payout(), move(`state = 'approved', approved_by = ${person}, approved_at = 30`))
  await run(move(`state = 'cancelled', cancelled_by = ${person}, why = 'x'`))
  const { results } = await db.prepare(`SELECT posted_by FROM flow WHERE osn = 'p' AND type = 5`).all()
  expect(results).toEqual([{ posted_by: 'shop' }])
  await expectNo(payout({ osn: `'q'`, posted_by: person }), 'payout_posted_by')
})

it.each(noNames)('%s cancels nothing', async (name) => {
  await run(payout())
  await expectNo(move(`state = 'cancelled', cancelled_by = '${name}', why = 'x'`), 'payout_cancelled_by')
})

it('within the limits of its row it is approved by them', async () => {
  const limits = { limit_each: '20', limit_day: '25', limit_user: '20' }
  await run(payout(limits))
  expect(await stateOf()).toBe('approved')
  await run(payout({ ...limits, osn: `'q'`, amount: '6', raw: `'6'`, fee: '0' }))
  expect(await db.prepare('SELECT state FROM payout WHERE id = 2').first('state')).toBe('waiting')
})

it.each([
  ['that has moved something counts', paid(7), 'waiting'],
  ['that has moved nothing does not count', `'[]'`, 'approved'],
])('for the limits of a day a cancelled payout with a transaction %s', async (_, moved, next) => {
  const limits = { limit_each: '20', limit_day: '25', limit_user: '30' }
  await run(
    payout(limits),
    open(),
    found('other', moved),
    move(`state = 'cancelled', cancelled_by = 'office', why = 'x', reason = NULL, moved = NULL`),
  )
  await run(payout({ ...limits, osn: `'q'`, amount: '6', raw: `'6'`, fee: '0' }))
  expect(await db.prepare('SELECT state FROM payout WHERE id = 2').first('state')).toBe(next)
})

describe('a payout is refused', () => {
  it.each<[string, Values, string]>([
    ['of more than there is', { amount: '50' }, 'flow_balance'],
    ['that begins as approved', { state: `'approved'`, approved_by: `''`, approved_at: '20' }, 'it begins as waiting'],
    ['with a transaction at once', { txid: `'${t4}'`, expires_at: '9' }, 'it begins as waiting'],
    ['that has tries left from before', { attempts_max: '9' }, 'it begins as waiting'],
    ['of nothing', { amount: '0' }, 'payout_amount'],
    ['with a negative fee', { fee: '-1' }, 'payout_fee'],
    ['to an address of a user', { to_address: `'${b}'` }, 'its money would stay here'],
    ['of half a unit', { amount: '1.5' }, 'cannot store REAL'],
    ['with another day than its limit', { limit_each: '5' }, 'payout_limit_day'],
  ])('%s', async (_, changes, why) => {
    await expectRefusal(payout(changes), why)
  })

  it('under a key that an entry has, and an entry under its key', async () => {
    await run(posting([entry({ type: 5, osn: 'p', amount: 1 })]))
    await expectRefusal(payout(), 'an entry has its key')
    await run(payout({ osn: `'q'` }))
    await expectNo(posting([entry({ type: 5, osn: 'q', amount: 21 })]), 'a payout has its key')
    for (const type of [2, 4]) await expectNo(posting([entry({ type, osn: 'q', amount: -1 })]), 'already exists')
    await run(
      payout({ osn: `'r'`, amount: '1', raw: `'1'`, fee: '0' }),
      posting([entry({ type: 4, osn: 'r', amount: -1 })]),
    )
  })

  it('a second time, under another id, or in the place of another one', async () => {
    await run(payout())
    await expectNo(payout(), 'already asked for')
    await expectNo(payout({ id: '1', osn: `'q'` }), 'already asked for')
  })
})

describe('what was asked for is never changed', () => {
  it.each([
    'amount = 21',
    'fee = 0',
    `to_address = '${b}'`,
    `raw = '21'`,
    `contract = '${c}'`,
    `osn = 'q'`,
    'uid = 2',
    `mark = 'x'`,
    `posted_by = 'x'`,
    'limit_each = 9, limit_day = 9',
  ])('%s', async (set) => {
    await run(payout())
    await expectNo(move(`state = 'approved', approved_by = 'office', approved_at = 30, ${set}`), 'must not change')
  })

  it('nor deleted, nor its transaction', async () => {
    await run(payout(), approve, open())
    await expectRefusal('DELETE FROM payout', 'rows are never deleted')
    await expectRefusal('DELETE FROM payout_transaction', 'rows are never deleted')
  })
})

describe('a step that is not allowed is refused', () => {
  it('by the name that has asked for it', async () => {
    await run(payout())
    const sql = move(`state = 'approved', approved_by = 'shop', approved_at = 30`)
    await expectNo(sql, 'payout_approved_by')
  })

  it('by limits that it is not within', async () => {
    await run(payout())
    await expectNo(move(`state = 'approved', approved_by = '', approved_at = 30`), 'not within its limits')
  })

  it.each(['signed', 'paid', 'stuck'])('from waiting to %s', async (state) => {
    await run(payout())
    await expectNo(move(`state = '${state}', txid = '${t4}', expires_at = 9, height = 9`), '')
  })

  it('to cancelled while it is signed, or once it is paid', async () => {
    await run(payout(), approve, open())
    await expectNo(cancel, 'no such step')
    await run(found('paid'))
    expect(await stateOf()).toBe('paid')
    await expectNo(cancel, 'no such step')
    await expectNo(approve, 'no such step')
  })

  it('from cancelled to anything', async () => {
    await run(payout(), cancel)
    for (const sql of [approve, cancel]) await expectNo(sql, 'no such step')
    await expectRefusal(open(), 'not to be signed')
  })

  it('from signed without its transaction', async () => {
    await run(payout(), approve, open())
    await expectNo(move(`state = 'paid', height = 99`), 'its transaction says otherwise')
    await expectNo(move(`state = 'approved', attempts = 1`), 'its transaction says otherwise')
    await expectNo(move(`state = 'stuck', reason = 'failed', attempts = 1`), 'its transaction says otherwise')
  })
})

describe('a transaction is refused', () => {
  it.each<[string, Values, string]>([
    ['of a payout that waits', {}, 'not to be signed'],
    ['of none, with bytes', { payout_id: '7' }, 'not to be signed'],
    ['that refers to a block that is not final', { reference: '121' }, 'reference block is not final'],
    ['that has ended at once', { ended: `'paid'`, height: '99', succeeded: '1', moved: `'[]'` }, ''],
    ['that was sent before', { sends: '1' }, 'it begins open'],
  ])('%s', async (_, changes, why) => {
    await run(payout())
    if (why !== 'not to be signed') await run(approve)
    await expectRefusal(open(changes), why)
  })

  it('beside another one that can be mined; the same one twice; one transaction of two payouts', async () => {
    await run(payout(), approve, payout({ osn: `'q'`, amount: '5', raw: `'5'` }), open())
    await run(
      `UPDATE payout SET changed_at = 30, state = 'approved', approved_by = 'office', approved_at = 30 WHERE id = 2`,
    )
    await expectNo(open({ txid: `'${t1}'` }), 'not to be signed')
    await expectNo(open({ payout_id: '2' }), 'already stored')
    await expectNo(open(), 'already stored')
  })

  it('that nobody names, in a block that is not final', async () => {
    await expectRefusal(unknown({ height: '121' }), 'its block is not final')
  })
})

it('a request that has the blocks of a transaction is enough for them; where an operator ends it, the part that is needed goes on', async () => {
  await run(payout(), approve, rescan({ from_height: '90', to_height: '100', next_height: '90' }))
  await run(open({ reference: '95' }))
  const kinds = async () => {
    const { results } = await db.prepare('SELECT kind, next_height AS at FROM rescan WHERE finished_at IS NULL').all()
    return results.map(({ kind, at }) => `${kind} ${at}`)
  }
  expect(await kinds()).toEqual(['request 90'])
  await run(`UPDATE rescan SET finished_at = 31, closed = 'not needed' WHERE finished_at IS NULL`)
  expect(await kinds()).toEqual(['payout 96'])
})

describe('an end that blocks do not show is refused', () => {
  beforeEach(() => run(payout(), approve, open({ reference: '90' })))

  it.each([
    ['paid, by another amount', found('paid', paid(21)), 'it has ended otherwise'],
    ['paid, by nothing', found('paid', `'[]'`), 'it has ended otherwise'],
    ['other, although it has paid', found('other'), 'it has ended otherwise'],
    ['paid, although it has failed', found('paid', paid(), 0), ''],
    ['failed, although it has succeeded', found('failed'), 'it has ended otherwise'],
    [
      'in a block that is not read',
      end(`ended = 'failed', height = 101, succeeded = 0, moved = '[]'`),
      'block is not read',
    ],
    ['expired, and no block is past it', end(`ended = 'expired'`), 'it can still be in a block'],
    [
      'expired by a block that is found with it',
      end(`ended = 'expired', past_height = 100`),
      'it can still be in a block',
    ],
    ['late, although it is open', found('late'), 'no such step'],
    ['other bytes', end(`bytes = 'cd'`), 'its bytes must not change'],
    ['another expiration', end('expires_at = 5'), 'its bytes must not change'],
    ['another payout', end('payout_id = 2'), 'its bytes must not change'],
  ])('%s', async (_, sql, why) => {
    await expectNo(sql, why)
  })

  it('expired while a block of its life is still to be read', async () => {
    await run(end('past_height = 100'))
    const gap = `SELECT count(*) AS open FROM rescan WHERE kind = 'payout' AND finished_at IS NULL`
    expect(await db.prepare(gap).first('open')).toBe(1) // those above the reference block, which were read before
    await expectNo(end(`ended = 'expired'`), 'it can still be in a block')
    await run(`UPDATE rescan SET finished_at = 30, closed = 'not needed'`) // an operator: the part that it needs goes on
    expect(await db.prepare(gap).first('open')).toBe(1)
    await expectNo(end(`ended = 'expired'`), 'it can still be in a block')
    await run(`UPDATE rescan SET next_height = to_height + 1, finished_at = 30 WHERE finished_at IS NULL`)
    await run(rescan({ from_height: '80', to_height: '90', next_height: '80' })) // below its life
    await run(end(`ended = 'expired'`))
    expect(await stateOf()).toBe('approved')
  })

  it('while the scan is halted', async () => {
    await run(`UPDATE scan SET halted = 'chain-forked'`)
    await expectNo(found('paid'), 'the scan is halted')
  })

  it('what has paid is never open again without a correction, and never ends otherwise', async () => {
    await run(found('paid'))
    await expectNo(end('ended = NULL, height = NULL, succeeded = NULL, moved = NULL'), 'only a correction')
    await expectNo(end(`ended = 'failed', succeeded = 0`), 'no such step')
    await expectNo(end('height = 98'), 'what was found must not change')
  })

  it('three that have expired are the end: no fourth one without a person', async () => {
    for (const [i, txid] of [t4, t1, t2].entries()) {
      if (i > 0) await run(open({ txid: `'${txid}'`, reference: '100' }))
      const one = `WHERE txid = '${txid}'`
      await run(`UPDATE rescan SET next_height = to_height + 1, finished_at = 30 WHERE finished_at IS NULL`)
      await run(`UPDATE scan SET height = height + 1, finalized = finalized + 1`)
      await run(`UPDATE payout_transaction SET past_height = (SELECT height FROM scan) ${one}`)
      await run(`UPDATE payout_transaction SET changed_at = 31, ended = 'expired' ${one}`)
    }
    const row = await db.prepare('SELECT state, reason, attempts FROM payout').first()
    expect(row).toEqual({ state: 'stuck', reason: 'expired', attempts: 3 })
    await expectRefusal(open({ txid: `'${'5'.repeat(64)}'` }), 'not to be signed')
  })
})

it('an excuse is of a transaction that stops payouts, and of no other one', async () => {
  await run(payout(), approve, open(), unknown({ txid: `'${t1}'` }))
  await expectRefusal(end(`excused = 'x'`), 'payout_transaction_excused')
  await run(`UPDATE payout_transaction SET excused = 'the office', changed_at = 30 WHERE id = 2`)
  await expectRefusal(`UPDATE payout_transaction SET excused = '' WHERE id = 2`, 'payout_transaction_excused')
})
