import { beforeEach, describe, expect, it } from 'vitest'
import { a, address, b, deposit, expectRefusal, or, pending, refusal, rescan, storeRows, t1, t4 } from './rows.ts'

let db: D1Database
const run = (sql: string) => db.prepare(sql).run()
const correction = (finalized: string) =>
  `INSERT INTO correction (finalized, reason, created_at) VALUES (${finalized}, 'a node lied', 9)`

beforeEach(async () => {
  db = await storeRows()
})

describe('a refusal', () => {
  it.each([
    ['stored twice', refusal(), 'refusal: already stored'],
    ['stored twice, by OR REPLACE', or('REPLACE', refusal({ uid: '1' })), 'refusal: already stored'],
    ['of a deposit', refusal({ txid: `'${t1}'` }), 'refusal: it is a deposit'],
    ["of another caller's address", refusal({ position: '1', uid: '2' }), 'refusal: to_address does not belong'],
    ['with an unknown reason', refusal({ position: '1', reason: `'ugly'` }), 'refusal_reason'],
    ['of another type without it', refusal({ position: '1', reason: `'other-contract'` }), 'refusal_contract_type'],
    ['changed', `UPDATE refusal SET reason = 'failed'`, 'refusal: rows are never changed'],
    ['deleted', 'DELETE FROM refusal', 'refusal: only a requested rescan'],
    ['that becomes pending again', pending({ txid: `'${t4}'` }), 'pending: already found worthless'],
  ])('%s is refused', async (_, sql, why) => {
    await run(refusal())
    await expectRefusal(sql, why)
  })

  it('removes its pending row', async () => {
    await run(pending({ txid: `'${t4}'` }))
    await run(refusal())
    expect(await db.prepare(`SELECT count(*) AS n FROM pending WHERE txid = '${t4}'`).first('n')).toBe(0)
  })

  it.each([
    ['deleted by a requested rescan of its block', rescan(), 0],
    ['kept by a rescan of other blocks', rescan({ from_height: '91', next_height: '91' }), 1],
    ['kept by a gap', rescan({ kind: `'gap'`, from_height: '90', next_height: '90', to_height: '90' }), 1],
  ])('is %s', async (_, sql, left) => {
    await run(refusal())
    await run(sql)
    expect(await db.prepare('SELECT count(*) AS n FROM refusal').first('n')).toBe(left)
  })
})

describe('a rescan', () => {
  it.each([
    ['above the position', rescan({ to_height: '101' }), 'rescan: blocks above the position are not read yet'],
    ['without blocks', rescan({ from_height: '96', next_height: '96' }), 'rescan_from_height'],
    ['that starts in the middle', rescan({ next_height: '90' }), 'rescan: must start at its first block'],
    ['without a reason', rescan({ reason: `''` }), 'rescan_reason'],
    ['of an unknown kind', rescan({ kind: `'whim'` }), 'rescan_kind'],
    ['replaced', or('REPLACE', rescan({ id: '1' })), 'rescan: already exists'],
    ['with another reason', `UPDATE rescan SET reason = 'other'`, 'rescan: only its progress changes'],
    ['with other blocks', 'UPDATE rescan SET to_height = 96', 'rescan: only its progress changes'],
    ['that goes back', 'UPDATE rescan SET next_height = 84', 'rescan: next_height must not decrease'],
    ['that ends early', 'UPDATE rescan SET finished_at = 5', 'rescan_finished_at'],
    ['deleted', 'DELETE FROM rescan', 'rescan: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await run(rescan())
    await expectRefusal(sql, why)
  })

  it('cannot be changed after its end', async () => {
    await run(rescan())
    await run('UPDATE rescan SET next_height = 96, finished_at = 5')
    await expectRefusal('UPDATE rescan SET next_try = 9', 'rescan: a finished one must not change')
  })
})

describe('a correction', () => {
  it('lowers the finalized height, the position and the heights of issue, and ends the lease', async () => {
    await run(address())
    await run(`UPDATE scan SET lease = 'x', lease_until = 99`)
    await run(correction('90'))
    expect(await db.prepare('SELECT height, hash, finalized, lease, corrected_by FROM scan').first()).toEqual({
      height: 90,
      hash: null,
      finalized: 90,
      lease: '',
      corrected_by: 1,
    })
    expect(await db.prepare('SELECT issued_height FROM address ORDER BY id').raw()).toEqual([[80], [80], [90]])
  })

  it('keeps a position that is not above it', async () => {
    await run(correction('110'))
    expect(await db.prepare('SELECT height, hash, finalized FROM scan').first()).toEqual({
      height: 100,
      hash: t1,
      finalized: 110,
    })
  })

  it('can be followed by a lower one', async () => {
    await run(correction('110'))
    await run(correction('90'))
    expect(await db.prepare('SELECT finalized FROM scan').first('finalized')).toBe(90)
  })

  it.each([
    ['that is not below the finalized height', correction('118'), 'correction: finalized must be below'],
    ['without a reason', correction('90').replace('a node lied', ''), 'correction_reason'],
    [
      'replaced',
      or('REPLACE', correction('90').replace('(finalized', '(id, finalized').replace('(90', '(1, 90')),
      'correction: already exists',
    ],
    ['changed', 'UPDATE correction SET finalized = 5', 'correction: rows are never changed'],
    ['deleted', 'DELETE FROM correction', 'correction: rows are never deleted'],
    ['that is applied twice', 'UPDATE scan SET corrected_by = 1, finalized = 90', 'scan: finalized must not decrease'],
    ['that does not exist', 'UPDATE scan SET corrected_by = 7, finalized = 90', 'scan: corrected_by must be'],
    [
      'by hand to a height of issue',
      `UPDATE address SET issued_height = 5 WHERE address = '${a}'`,
      'address: rows are never changed',
    ],
    [
      'that raises a height of issue',
      `UPDATE address SET issued_height = 118 WHERE address = '${b}'`,
      'address: rows are never changed',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await run(correction('118'))
    await expectRefusal(sql, why)
  })

  it('before the start of the scan is refused', async () => {
    await expectRefusal(correction('120'), 'correction: finalized must be below')
  })

  it('leaves deposits as they are', async () => {
    await run(correction('50'))
    await expectRefusal(deposit(), 'deposit: credit key already stored')
  })
})
