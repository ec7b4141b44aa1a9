import { beforeEach, describe, expect, it } from 'vitest'
import {
  approve,
  approvedBy,
  at,
  balance,
  byRule,
  cancel,
  day,
  expectNo,
  found,
  limits,
  move,
  open,
  paid,
  pay,
  payer,
  payout,
  read,
  sign,
  signed,
  stateOf,
  types,
} from './payout-rows.ts'
import {
  a,
  b,
  c,
  entry,
  expectRefusal,
  insert,
  noNames,
  personName,
  posting,
  run,
  storeRows,
  t3,
  t4,
  type Values,
} from './rows.ts'

let db: D1Database
beforeEach(async () => {
  db = await storeRows()
})

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
  expect(await types()).toEqual(['waiting', 'cancelled'])
})

it('a person approves and cancels under the e-mail address, and posts nothing: the refund is that of who asked', async () => {
  await run(payout(), approve.replace('office', personName), cancel.replace('office', personName))
  const { results } = await db.prepare(`SELECT posted_by FROM flow WHERE osn = 'p' AND type = 5`).all()
  expect(results).toEqual([{ posted_by: 'shop' }])
  await expectNo(payout({ osn: `'q'`, posted_by: `'${personName}'` }), 'payout_posted_by')
})

it.each(noNames)('%s cancels nothing', async (name) => {
  await run(payout())
  await expectNo(cancel.replace('office', name), 'payout_cancelled_by')
})

it('each step keeps the sums of open states and of hours, and its event', async () => {
  const soon = { created_at: '31', changed_at: '31', approved_at: '31' }
  await run(...signed, found('paid'), pay, payout({ ...byRule, ...soon, osn: `'q'`, amount: '5', raw: `'5'` }))
  const sums = await db.prepare('SELECT * FROM payout_sum WHERE count <> 0 ORDER BY state').raw()
  expect(sums).toEqual([['approved', 1, 1, 5]])
  expect(await hours()).toEqual([
    [1, 0, 0, 25, 2],
    [1, 1, 0, 25, 2],
  ])
  expect(await types()).toEqual(['waiting', 'approved', 'signed', 'paid', 'approved'])
  expect(await db.prepare('SELECT count(*) AS rows FROM payout_effect').first('rows')).toBe(0)
})

const hours = () => db.prepare('SELECT * FROM payout_hour ORDER BY hour, uid').raw()

it('sums of hours before yesterday are removed, and none comes back in part', async () => {
  const small = { ...byRule, amount: '5', raw: `'5'`, fee: '0' }
  const times = (ms: number) => ({ created_at: String(ms), changed_at: String(ms), approved_at: String(ms) })
  const [first, last] = [at / 3_600_000, at / 3_600_000 + 49]
  const late = at + 49 * 3_600_000
  await run(payout(small), payout({ ...small, osn: `'q'` }))
  await run(payout({ ...small, ...times(late - 3_600_000), osn: `'r'` }))
  expect((await hours()).map(([, , hour]) => hour)).toEqual([first, first, last - 1, last - 1])
  await run(payout({ ...small, ...times(late), osn: `'s'` }))
  const kept = [
    [1, 0, last - 1, 5, 1],
    [1, 1, last - 1, 5, 1],
    [1, 0, last, 5, 1],
    [1, 1, last, 5, 1],
  ]
  expect(await hours()).toEqual(kept)
  await run(cancel.replace('changed_at = 30', `changed_at = ${late}`)) // it was approved in an hour that is removed
  expect(await hours()).toEqual(kept)
})

describe('a rule approves', () => {
  const second = (changes: Values = {}) =>
    payout({ ...byRule, osn: `'q'`, amount: '6', raw: `'6'`, fee: '0', ...changes })
  const outside = 'not within its limits'

  it.each<[string, Values, string | null]>([
    ['what is within all limits', { amount: '5', raw: `'5'` }, null],
    ['nothing beyond the sum of a day', {}, outside],
    ['what is within the sum of its user', { amount: '5', raw: `'5'`, limit_user: '25' }, null],
    ['nothing beyond the sum of its user', { amount: '5', raw: `'5'`, limit_user: '24' }, outside],
    ['nothing beyond the count of a day', { amount: '5', raw: `'5'`, limit_count: '1' }, outside],
    ['nothing below the least', { amount: '5', raw: `'5'`, limit_least: '6' }, outside],
    ['nothing without limits', Object.fromEntries(Object.keys(limits).map((name) => [name, 'NULL'])), outside],
    ['what is asked for a day later', later(day), null],
    ['nothing a millisecond before', later(day - 1), outside],
  ])('%s', async (_, changes, why) => {
    await run(payout(byRule))
    const sql = second(changes)
    if (why === null) await run(sql)
    else await expectNo(sql, why)
  })

  it('24 hours are exact beside the sums of whole hours', async () => {
    const half = 1_800_000
    await run(payout({ ...byRule, ...later(half) }))
    await expectNo(second(later(day + half - 1)), outside)
    await run(second(later(day + half)))
  })

  it.each([
    ['that may have moved something counts', '1', outside],
    ['that has moved nothing does not count', '0', null],
  ])('beside a cancelled one: one %s', async (_, counted, why) => {
    const moved = counted === '1' ? paid(7) : `'[]'`
    const step = `state = 'cancelled', cancelled_by = 'office', why = 'x', reason = NULL, moved = NULL, counted = ${counted}`
    const stuck = move(`state = 'stuck', reason = 'other', attempts = 1, height = 104, moved = ${moved}`)
    await run(payout(byRule), open(), sign, read, found('other', moved), stuck)
    if (counted === '1') await expectNo(move(step.replace('counted = 1', 'counted = 0')), 'who approved it')
    await run(move(step))
    const sql = second()
    if (why === null) await run(sql)
    else await expectNo(sql, why)
  })

  function later(ms: number): Values {
    return { created_at: String(at + ms), changed_at: String(at + ms), approved_at: String(at + ms) }
  }
})

describe('a payout is refused', () => {
  it.each<[string, Values, string]>([
    ['of more than there is', { amount: '50' }, 'flow_balance'],
    ['that begins as approved by a person', approvedBy(`'office'`), 'it begins as waiting'],
    ['that begins as signed', { state: `'signed'`, txid: `'${t4}'`, expires_at: '9' }, 'it begins as waiting'],
    ['with a transaction at once', { txid: `'${t4}'`, expires_at: '9' }, 'it begins as waiting'],
    ['that counts and waits', { counted: '1' }, 'it begins as waiting'],
    ['of a later version', { version: '2' }, 'it begins as waiting'],
    ['that has tries left from before', { attempts_max: '9' }, 'it begins as waiting'],
    ['of nothing', { amount: '0' }, 'payout_amount'],
    ['with a negative fee', { fee: '-1' }, 'payout_fee'],
    ['to an address of a user', { to_address: `'${b}'` }, 'its money would stay here'],
    ['of half a unit', { amount: '1.5' }, 'cannot store REAL'],
    ['with one limit alone', { limit_each: '5' }, 'payout_limit_least'],
    [
      'in a token whose decimals nobody has read',
      { contract: `'${a}'` },
      'the decimals of its token are not agreed on',
    ],
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

  it('with decimals that differ from the configured ones, and not with the agreed ones', async () => {
    await run(
      insert('stored_currency', { cuy: '2', contract: `'${a}'`, decimals: '6', scale: '6', stored_at: '1' }),
      insert('agreed_decimals', { contract: `'${a}'`, decimals: '8', stored_at: '1' }),
    )
    await run(posting([entry({ cuy: 2, osn: 'fund', amount: 50 })]))
    await expectNo(payout({ cuy: '2', contract: `'${a}'` }), 'not agreed on')
    await run('UPDATE stored_currency SET decimals = 8 WHERE cuy = 2')
    await run(insert('agreed_decimals', { contract: `'${c}'`, decimals: '8', stored_at: '1' }))
    await expectNo(payout({ cuy: '2', contract: `'${c}'` }), 'not agreed on') // the contract of another currency
    await run(payout({ cuy: '2', contract: `'${a}'` }))
  })
})

// The facts that keep money from leaving are compared with payouts/leaving.ts in
// test/payouts/leaving.test.ts.
describe('while money may not leave', () => {
  const act = (kind: string, changes: Values = {}) =>
    insert('issuer_act', {
      ...{ txid: `'${t3}'`, position: '0', height: '90', place: '0', cuy: '1', kind: `'${kind}'`, created_at: '5' },
      ...changes,
    })
  const facts: readonly (readonly [string, string])[] = [
    ['the scan is halted', `UPDATE scan SET halted = 'chain-forked'`],
    ['the database is an older copy', 'UPDATE scan SET restored_at = 9'],
    ['the token is paused', act('paused')],
    ['the token is replaced', act('deprecated', { address: `'${c}'` })],
    ['the token takes a fee', act('fee-set', { basis_points: `'10'`, raw: `'5'` })],
  ]

  it.each(facts)('no rule approves: %s', async (_, fact) => {
    await run(fact)
    await expectNo(
      payout(byRule),
      fact.includes('halted') ? 'it may not be asked for now' : 'its money may not leave now',
    )
  })

  it.each([...facts, ['the payout address is frozen', act('frozen', { address: `'${payer}'` })] as const])(
    'nothing is signed: %s',
    async (_, fact) => {
      await run(payout(), approve, fact)
      await expectNo(open(), 'its money may not leave now')
    },
  )

  it.each([
    ['another address is frozen', act('frozen', { address: `'${a}'` })],
    ['another currency is paused', act('paused', { cuy: '2' })],
    ['the token takes nothing any more', act('fee-set', { basis_points: `'0'`, raw: `'0'` })],
  ])('of something else, it is signed: %s', async (_, fact) => {
    await run(payout(), approve, fact, open(), sign)
  })

  it('with a fee, once an operator has confirmed it', async () => {
    await run(payout(), approve, act('fee-set', { basis_points: `'10'`, raw: `'5'` }))
    await expectNo(open(), 'its money may not leave now')
    await run(`UPDATE issuer_act SET confirmed_at = 6, confirmation = 'we bear it'`, open(), sign)
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
    'limit_each = 9, limit_least = 1, limit_day = 9, limit_count = 1',
  ])('%s', async (set) => {
    await run(payout())
    await expectNo(approve.replace('WHERE', `, ${set} WHERE`), 'must not change')
  })

  it('nor deleted, nor its transaction', async () => {
    await run(...signed)
    await expectRefusal('DELETE FROM payout', 'rows are never deleted')
    await expectRefusal('DELETE FROM payout_transaction', 'rows are never deleted')
  })
})
