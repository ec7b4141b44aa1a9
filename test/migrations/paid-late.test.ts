import { beforeEach, describe, expect, it } from 'vitest'
import {
  balance,
  cancel,
  end,
  expectNo,
  found,
  move,
  nothingFound,
  open,
  paid,
  sign,
  signed,
  stateOf,
  stick,
  types,
  unknown,
} from './payout-rows.ts'
import { correction, gap, rescan, run, storeRows, t1, t4 } from './rows.ts'

let db: D1Database
beforeEach(async () => {
  db = await storeRows()
})

describe('a transaction that has succeeded after its payout had gone on', () => {
  const failed = [...signed, found('failed', `'[]'`, 0), stick('failed')]
  const late = (moved = paid()) => end(`ended = 'late', height = 104, succeeded = 1, moved = ${moved}`)
  const countedSum = () => db.prepare('SELECT total(amount) AS sum FROM payout_hour WHERE uid = 0').first('sum')

  it('counts for the limits of the day, also where its payout is cancelled', async () => {
    await run(...failed, cancel)
    expect(await countedSum()).toBe(0)
    await run(late())
    expect([await countedSum(), await stateOf(), await balance()]).toEqual([20, 'cancelled', 50])
    expect((await types()).filter((type) => type === 'cancelled')).toHaveLength(1)
  })

  it('counts with its receipt, if that is read later', async () => {
    await run(...failed, cancel, late(`'[]'`))
    expect(await countedSum()).toBe(0)
    await run(end(`moved = ${paid()}`))
    expect(await countedSum()).toBe(20)
  })

  it('counts where its payout is cancelled afterwards', async () => {
    await run(...failed, late(), end(`excused = 'x'`))
    await expectNo(cancel, 'only a person')
    await run(cancel.replace('counted = 0', 'counted = 1'))
    expect(await countedSum()).toBe(20)
  })

  const expired = [end('past_height = 105'), end(`ended = 'expired'`), move(`state = 'approved', attempts = 1`)]
  const second = open({ txid: `'${t1}'`, reference: '105' })
  const isHeldBack = (id: number) =>
    db.prepare('SELECT held_back FROM payout_transaction WHERE id = ?').bind(id).first('held_back')

  it('holds back for good what was handed in before it was known', async () => {
    await run(...signed, ...expired, second, sign.replace(t4, t1), late())
    expect([await isHeldBack(1), await isHeldBack(2)]).toEqual([0, 1])
    await run(end(`excused = 'x'`))
    await expectNo('UPDATE payout_transaction SET sends = 1 WHERE id = 2', 'may not be sent now')
    await expectNo('UPDATE payout_transaction SET held_back = 0 WHERE id = 2', 'and for good')
  })

  it('lets nothing be handed in until it is excused, and holds nothing back that comes then', async () => {
    await run(...signed, ...expired, late())
    await expectNo(second, 'not to be signed')
    await run(end(`excused = 'x'`), second, end(`moved = moved`))
    expect(await isHeldBack(2)).toBe(0)
  })

  it('nor the bytes of a transaction that a block had before', async () => {
    await run(...signed, ...expired, late(), unknown({ txid: `'${t1}'` }))
    await run(rescan({ from_height: '90', to_height: '105', next_height: '90' }))
    const bytes = `payout_id = 1, bytes = 'ab', reference = 80, expires_at = 900`
    const taken = end(`ended = NULL, ${bytes}, ${nothingFound}`, 2)
    await expectNo(taken, 'not to be signed')
    await run(end(`excused = 'x'`), taken)
  })

  it('is the only one that holds others back', async () => {
    await run(...signed)
    await expectNo('UPDATE payout_transaction SET held_back = 1', 'only a late one')
  })
})

describe('while an earlier transaction of the payout may be in a block that is not read again', () => {
  // The second one was found in a block below the one past the expiration of the first one.
  const again = { txid: `'${t1}'`, reference: '100' }
  beforeEach(async () => {
    await run(...signed, end('past_height = 105'), end(`ended = 'expired'`), move(`state = 'approved', attempts = 1`))
    await run(rescan({ from_height: '101', to_height: '105', next_height: '101' }), open(again), sign.replace(t4, t1))
    await run(correction(101), 'UPDATE scan SET height = 104, finalized = 125')
    await run(end(`ended = 'failed', height = 103, succeeded = 0, moved = '[]'`, 2))
    await run(move(`state = 'stuck', reason = 'failed', attempts = 2, height = 103`))
  })
  const passed = ['UPDATE scan SET height = 105', end('past_height = 105')]

  it('its money does not go back before it is read', async () => {
    await expectNo(cancel, 'may not be given back now')
    await run(...passed)
    await run(cancel)
  })

  it('and goes back where an operator has closed blocks that were asked for again: they were read before', async () => {
    await run(...passed, rescan({ from_height: '102', to_height: '104', next_height: '102' }))
    await run(
      `UPDATE rescan SET finished_at = 30, closed = 'not needed' WHERE finished_at IS NULL AND kind = 'request'`,
    )
    const isOpen = 'SELECT count(*) AS open FROM rescan WHERE finished_at IS NULL'
    expect(await db.prepare(isOpen).first('open')).toBe(0)
    await run(cancel)
  })

  it('nor while its block is a gap, also one that an operator has closed', async () => {
    await run(...passed, gap(102))
    await expectNo(cancel, 'may not be given back now')
    await run(`UPDATE rescan SET finished_at = 30, closed = 'not needed' WHERE kind = 'gap'`)
    await expectNo(cancel, 'may not be given back now')
    await run(`UPDATE rescan SET next_height = to_height + 1, finished_at = 30 WHERE finished_at IS NULL`)
    await run(cancel)
  })
})
