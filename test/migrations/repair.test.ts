import { beforeEach, describe, expect, it } from 'vitest'
import {
  a,
  address,
  b,
  c,
  contents,
  correction,
  eventsAfter,
  expectRefusal,
  gap,
  insert,
  or,
  recorded,
  rescan,
  run,
  step,
  storeRows,
  t1,
  t2,
  t3,
  t4,
  transfer,
} from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

const statesOf = async () => (await db.prepare('SELECT state FROM transfer ORDER BY id').raw()).flat()

describe('a rescan', () => {
  it.each([
    ['above the position', rescan({ to_height: '101' }), 'rescan: blocks above the position are not read yet'],
    ['without blocks', rescan({ from_height: '96', next_height: '96' }), 'rescan_from_height'],
    ['that starts in the middle', rescan({ next_height: '90' }), 'rescan: must start at its first block'],
    ['that starts closed', rescan({ closed: `'x'` }), 'rescan: must start at its first block'],
    ['without a reason', rescan({ reason: `''` }), 'rescan_reason'],
    ['of an unknown kind', rescan({ kind: `'whim'` }), 'rescan_kind'],
    ['replaced', or('REPLACE', rescan({ id: '1' })), 'rescan: already exists'],
    ['with another reason', `UPDATE rescan SET reason = 'other'`, 'rescan: only its progress changes'],
    ['with another id', 'UPDATE OR REPLACE rescan SET id = 2', 'rescan: only its progress changes'],
    ['with more blocks', 'UPDATE rescan SET to_height = 96', 'rescan: it must not grow'],
    ['with receipts of several blocks', 'UPDATE rescan SET receipts = 5', 'rescan_receipts'],
    ['with unread transactions of several blocks', `UPDATE rescan SET unread = '[]'`, 'rescan_unread'],
    ['with tries that have no cause', 'UPDATE rescan SET attempts = 1', 'rescan_attempts'],
    ['that goes back', 'UPDATE rescan SET next_height = 86', 'rescan: next_height must not decrease'],
    ['that ends early', 'UPDATE rescan SET finished_at = 5', 'rescan_finished_at'],
    ['that is closed and goes on', `UPDATE rescan SET closed = 'lost'`, 'rescan_finished_at'],
    ['closed without a reason', `UPDATE rescan SET closed = '', finished_at = 5`, 'rescan_closed'],
    ['deleted', 'DELETE FROM rescan', 'rescan: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await run(rescan(), 'UPDATE rescan SET next_height = 87')
    await expectRefusal(sql, why)
  })

  it.each(['next_height = 96', `closed = 'the node has no history'`])(
    'cannot be changed after its end by %s',
    async (end) => {
      await run(rescan(), `UPDATE rescan SET ${end}, finished_at = 5`)
      await expectRefusal('UPDATE rescan SET next_try = 9', 'rescan: a finished one must not change')
    },
  )

  it('that is a gap grows with the blocks above it, up to the position', async () => {
    await run(gap(95), 'UPDATE rescan SET to_height = 97', `UPDATE rescan SET why = 'one transaction is unreadable'`)
    await expectRefusal('UPDATE rescan SET to_height = 101', 'rescan: it must not grow')
  })

  it.each([
    ['read', 'next_height = 98, finished_at = 12'],
    ['closed', `closed = 'lost', finished_at = 12`],
  ])('that is a gap drops what was seen in its blocks once it is %s', async (_, end) => {
    const seen = (height: number) =>
      transfer('seen', { txid: `'${String(height).padStart(64, '0')}'`, height: String(height) })
    await run(gap(95, 97), gap(98), seen(95), seen(97), seen(98), seen(101))
    await run('UPDATE rescan SET next_height = 96 WHERE id = 1')
    expect((await statesOf()).slice(3)).toEqual(['dropped', 'seen', 'seen', 'seen'])
    await run(`UPDATE rescan SET ${end} WHERE id = 1`)
    expect((await statesOf()).slice(3)).toEqual(['dropped', 'dropped', 'seen', 'seen'])
    expect((await eventsAfter(7)).map(({ type, created_at }) => [type, created_at])).toEqual([
      ['deposit.dropped', 5],
      ['deposit.dropped', 12],
    ])
  })
})

describe('a correction', () => {
  it('lowers the finalized height, the position and the heights of issue', async () => {
    await run(address(), correction(90))
    const columns = 'height, hash, finalized, finalized_time, finalized_at, corrected_by'
    expect(await db.prepare(`SELECT ${columns} FROM scan`).raw()).toEqual([[90, null, 90, 0, 9, 1]])
    expect(await db.prepare('SELECT issued_height FROM address ORDER BY id').raw()).toEqual([[80], [80], [90]])
  })

  it('keeps a position that is not above it', async () => {
    await run(correction(110))
    expect(await db.prepare('SELECT height, hash, finalized FROM scan').raw()).toEqual([[100, t1, 110]])
  })

  it('can be followed by a lower one', async () => {
    await run(correction(110), correction(90))
    expect(await db.prepare('SELECT finalized FROM scan').first('finalized')).toBe(90)
  })

  it('lets everything above it be decided anew but what is credited, with its sums', async () => {
    const sent = insert('sent', { txid: `'${t4}'`, address: `'${a}'`, height: '90', cuy: '1' })
    await run(transfer('moved', { from_address: `'${a}'`, to_address: `'${b}'` }), sent)
    expect([await recorded(a), await recorded(b)]).toEqual([100n, 50n])
    await run(correction(89))
    expect(await statesOf()).toEqual(['credited', 'seen', 'seen'])
    expect(await db.prepare('SELECT count(*) AS n FROM sent').first('n')).toBe(0)
    expect([await recorded(a), await recorded(b)]).toEqual([50n, 0n])
    const holding = await db.prepare(`SELECT sent, changed_height, read_to FROM holding WHERE address = '${a}'`).raw()
    expect(holding).toEqual([[0, 89, null]])
    expect(await eventsAfter(3)).toEqual([])
  })

  it('is followed by the same decision without another event, or by a drop', async () => {
    await run(correction(89), 'UPDATE scan SET finalized = 120', `UPDATE scan SET height = 100, hash = '${t1}'`)
    await run(step(t3, 'held', { height: '92' }), step(t2, 'dropped'), step(t2, 'credited', { height: '93' }))
    expect((await eventsAfter(3)).map(({ type }) => type)).toEqual(['deposit.dropped', 'deposit.credited'])
  })

  it('forgets readings that can include blocks above it', async () => {
    await run(`UPDATE stored_holding SET balance = '150', read_from = 90, read_to = 120`, correction(110))
    const columns = 'balance, read_from, read_to, changed_height'
    expect(await db.prepare(`SELECT ${columns} FROM holding`).raw()).toEqual([[null, null, null, 90]])
  })

  it.each([
    ['that is not below the finalized height', correction(118), 'correction: finalized must be below'],
    ['without a reason', correction(90).replace('a node lied', ''), 'correction_reason'],
    [
      'replaced',
      or('REPLACE', correction(90).replace('(finalized', '(id, finalized').replace('(90', '(1, 90')),
      'correction: ids must increase',
    ],
    ['changed', 'UPDATE correction SET finalized = 5', 'correction: rows are never changed'],
    ['deleted', 'DELETE FROM correction', 'correction: rows are never deleted'],
    ['that is applied twice', 'UPDATE scan SET corrected_by = 1, finalized = 90', 'scan: finalized must not decrease'],
    ['that does not exist', 'UPDATE scan SET corrected_by = 7, finalized = 90', 'scan: corrected_by must be'],
    [
      'by hand to a height of issue',
      `UPDATE stored_address SET issued_height = 5 WHERE address = unhex('${a}')`,
      'address: rows are never changed',
    ],
    [
      'that raises a height of issue',
      `UPDATE stored_address SET issued_height = 118 WHERE address = unhex('${b}')`,
      'address: rows are never changed',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await run(correction(118))
    await expectRefusal(sql, why)
  })

  it('leaves deposits as they are', async () => {
    await run(correction(50))
    await expectRefusal(transfer('credited', { txid: `'${t1}'` }), 'transfer: already stored')
    await expectRefusal(step(t1, 'seen'), 'transfer: no such step')
  })
})

describe('what moved, and what was sent', () => {
  const sent = (changes = {}) =>
    insert('sent', { txid: `'${t4}'`, address: `'${a}'`, height: '90', cuy: '1', ...changes })

  it.each([
    [
      'moved, deleted',
      `DELETE FROM stored_transfer WHERE txid = unhex('${t4}')`,
      'transfer: only a correction deletes',
    ],
    ['moved, as a deposit', step(t4, 'credited'), 'transfer: no such step'],
    ['sent, deleted', 'DELETE FROM sent', 'sent: only a correction deletes it'],
    ['sent, stored twice', sent(), 'sent: already stored'],
    ['sent, replaced', or('REPLACE', sent()), 'sent: already stored'],
    ['sent, from a foreign address', sent({ address: `'${c}'` }), 'sent: not an address of the service'],
    ['sent, above the finalized height', sent({ txid: `'${t3}'`, height: '121' }), 'sent: its block is not final'],
  ])('%s, is refused', async (_, sql, why) => {
    await run(transfer('moved'), sent())
    await expectRefusal(sql, why)
  })

  it('counts each transaction that an address has sent', async () => {
    await run(sent(), sent({ txid: `'${t3}'` }), sent({ txid: `'${t3}'`, address: `'${b}'`, height: '95' }))
    const columns = 'address, sent, changed_height, due_at'
    expect(await db.prepare(`SELECT ${columns} FROM holding ORDER BY address`).raw()).toEqual([
      [a, 2, 90, 60_005],
      [b, 1, 95, 60_005],
    ])
  })
})

it('a refused statement changes no row, whatever its conflict clause', async () => {
  const before = await contents()
  for (const policy of ['IGNORE', 'REPLACE', 'FAIL', 'ABORT', 'ROLLBACK']) {
    await expectRefusal(or(policy, transfer('credited', { height: '121' })), 'transfer: its block is not final')
  }
  expect(await contents()).toEqual(before)
})
