import { beforeEach, describe, expect, it } from 'vitest'
import { transferSteps } from '../../src/worker/deposits/transitions.ts'
import {
  b,
  c,
  contents,
  correction,
  decision,
  eventsAfter,
  expectRefusal,
  gap,
  max,
  or,
  rescan,
  run,
  type State,
  states,
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

const other = { txid: `'${t4}'`, position: '7', native: '0' }

describe('a transfer', () => {
  it('that is credited creates wallet, entry and event, and updates the balance', async () => {
    await run(transfer('credited', { ...other, amount: '7' }), transfer('credited', { uid: '2', to_address: `'${b}'` }))
    expect(await db.prepare('SELECT * FROM wallet').raw()).toEqual([
      [1, 1, 1, 57, 2, 4],
      [2, 2, 1, 50, 1, 5],
    ])
    expect(await db.prepare('SELECT * FROM flow').raw()).toEqual([
      [1, 1, 1, 1, 1, t1, 50, 50, 'deposit', 10, '', 1, 1],
      [4, 1, 1, 1, 1, `${t4}:7`, 7, 57, 'deposit', 10, '', 2, 2],
      [5, 2, 2, 1, 1, t4, 50, 50, 'deposit', 10, '', 1, 1],
    ])
    expect(await eventsAfter(3)).toEqual([
      { id: 4, type: 'deposit.credited', uid: 1, created_at: 10, entry_id: 4 },
      { id: 5, type: 'deposit.credited', uid: 2, created_at: 10, entry_id: 5 },
    ])
  })

  it('of TRX that a contract sent has an entry of its own beside that of the transaction', async () => {
    await run(transfer('credited', { position: '-1' }), transfer('credited', { position: '-13' }), transfer('credited'))
    expect(await db.prepare('SELECT osn FROM flow WHERE id > 1').raw()).toEqual([[`${t4}:i0`], [`${t4}:i12`], [t4]])
    expect((await eventsAfter(3)).map(({ type }) => type)).toEqual(Array(3).fill('deposit.credited'))
    await expectRefusal(transfer('credited', { position: '-1' }), 'transfer: already stored')
  })

  it('that was seen is credited by a step, with the facts of the step', async () => {
    await run(transfer('seen', { height: '101', raw: `'60'` }), step(t4, 'credited', { height: '99' }))
    expect(await db.prepare(`SELECT amount, osn FROM flow WHERE id > 1`).raw()).toEqual([[50, t4]])
    expect((await eventsAfter(3)).map(({ type }) => type)).toEqual(['deposit.seen', 'deposit.credited'])
  })

  it.each([
    ['stored twice', transfer('held', { txid: `'${t3}'` }), 'transfer: already stored'],
    ['replaced', or('REPLACE', transfer('credited', { txid: `'${t3}'` })), 'transfer: already stored'],
    ['replaced by its id', or('REPLACE', transfer('held', { id: '1' })), 'transfer: already stored'],
    ['credited twice', transfer('credited', { txid: `'${t1}'` }), 'transfer: already stored'],
    [
      'credited twice, by OR IGNORE',
      or('IGNORE', transfer('credited', { txid: `'${t1}'` })),
      'transfer: already stored',
    ],
    [
      'credited by an upsert',
      `${transfer('held', { txid: `'${t3}'` })} ON CONFLICT DO UPDATE SET state = 'credited', amount = 9`,
      'transfer: already stored',
    ],
    ['that starts as dropped', transfer('dropped'), 'transfer: only what was seen is dropped'],
    ['deleted', `DELETE FROM stored_transfer WHERE txid = unhex('${t3}')`, 'transfer: only a correction deletes'],
    [
      'with another key',
      `UPDATE stored_transfer SET version = version + 1, position = 1, native = 0 WHERE txid = unhex('${t3}')`,
      'its key must not change',
    ],
    [
      'with the key of another',
      `UPDATE OR REPLACE stored_transfer SET id = 1 WHERE id = 3`,
      'transfer: its key must not change',
    ],
    [
      'with another time',
      `UPDATE stored_transfer SET created_at = 9 WHERE txid = unhex('${t3}')`,
      'its key must not change',
    ],
    ['of TRX at the position of a log', transfer('held', { position: '1' }), 'transfer_native'],
    [
      'of a token at the position of what a contract sent',
      transfer('held', { position: '-1', native: '0' }),
      'transfer_native',
    ],
    ['of 0', transfer('held', { raw: `'0'` }), 'transfer_raw'],
    ['of an amount in hex', transfer('held', { raw: `'0x32'` }), 'transfer_raw'],
    ['of a negative amount', transfer('held', { raw: `'-50'` }), 'transfer_raw'],
    ['of an amount with 79 digits', transfer('held', { raw: `'${'9'.repeat(79)}'` }), 'transfer_raw'],
    ['of currency 0', transfer('held', { cuy: '0' }), 'transfer_cuy'],
    ['with a txid of 31 bytes', transfer('held', { txid: `'${t4.slice(2)}'` }), 'transfer_txid'],
    [
      'with a txid that is no hex',
      transfer('held', { txid: `'0x${t4.slice(2)}'` }),
      'NOT NULL constraint failed: stored_transfer.txid',
    ],
    ['in an unknown state', transfer('held', { state: `'lost'` }), 'transfer_state'],
    ['held without a reason', transfer('held', { reason: 'NULL' }), 'transfer_reason'],
    ['held with the reason of a refused one', transfer('held', { reason: `'dust'` }), 'transfer_reason'],
    ['refused with the reason of a held one', transfer('refused', { reason: `'retired'` }), 'transfer_reason'],
    ['credited with a reason', transfer('credited', { reason: `'dust'` }), 'transfer_reason'],
    ['credited with the amount 0', transfer('credited', { amount: '0' }), 'transfer_amount'],
    ['credited with a negative amount', transfer('credited', { amount: '-1' }), 'transfer_amount'],
    ['held with an amount', transfer('held', { amount: '5' }), 'transfer_amount'],
    ['held without a caller', transfer('held', { uid: 'NULL' }), 'transfer: to_address does not belong'],
    ['moved with a caller', transfer('moved', { uid: '1' }), 'transfer_uid'],
    ['seen without its seconds', transfer('seen', { height: '130', seconds: 'NULL' }), 'event_seconds'],
    ['with a position with a fraction', transfer('held', { position: '1.5', native: '0' }), 'cannot store REAL value'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it.each(['held', 'refused', 'credited', 'moved'] as const)(
    'that is %s above the finalized height is refused',
    async (state) => {
      await expectRefusal(transfer(state, { height: '121' }), 'transfer: its block is not final')
      await expectRefusal(or('IGNORE', transfer(state, { height: '121' })), 'transfer: its block is not final')
      await run(transfer('seen', { height: '121' }))
      await expectRefusal(step(t4, state), 'transfer: its block is not final')
    },
  )

  it.each(['seen', 'held', 'refused', 'credited'] as const)(
    'that is %s belongs to the caller of its address, and to none before the height at its issue',
    async (state) => {
      const mine = { height: state === 'seen' ? '130' : '90' }
      const wrong = 'transfer: to_address does not belong to this caller'
      await expectRefusal(transfer(state, { ...mine, to_address: `'${b}'` }), wrong)
      await expectRefusal(or('IGNORE', transfer(state, { ...mine, to_address: `'${c}'` })), wrong)
      await expectRefusal(step(t3, state === 'seen' ? 'held' : state, { to_address: `'${b}'` }), wrong)
      const early = 'transfer: final before its address was issued'
      await expectRefusal(transfer(state, { height: '80' }), early)
      await expectRefusal(step(t3, state === 'seen' ? 'held' : state, { height: '80' }), early)
    },
  )

  it('is not credited while the scan is halted, by any step', async () => {
    await run(`UPDATE scan SET halted = 'forked'`)
    for (const sql of [transfer('credited'), step(t3, 'credited')]) {
      await expectRefusal(sql, 'transfer: the scan is halted')
      await expectRefusal(or('IGNORE', sql), 'transfer: the scan is halted')
    }
    await run(transfer('held'), transfer('refused', other))
  })

  it('that does not fit into its wallet is not credited', async () => {
    const amount = { amount: `${max - 49n}` }
    await expectRefusal(transfer('credited', amount), 'flow_balance')
    await expectRefusal(or('REPLACE', transfer('credited', amount)), 'flow_balance')
    await expectRefusal(or('IGNORE', transfer('credited', amount)), 'credit: its entry was not created')
    await expectRefusal(or('IGNORE', step(t3, 'credited', amount)), 'credit: its entry was not created')
  })

  it('with a time in microseconds, or by a clock that is more than a minute ahead, is not credited', async () => {
    for (const time of [`unixepoch('subsec') * 1000000`, `unixepoch('subsec') * 1000 + 90000`]) {
      const late = { changed_at: `CAST(${time} AS INTEGER)` }
      await expectRefusal(transfer('credited', late), 'flow: created_at must not be in the future')
    }
  })
})

/**
 * Whether a transfer may take this step because blocks were read, without an operator's request or
 * correction, and without a decision.
 */
const isAllowed = (from: State, to: State) =>
  (transferSteps[from][to] ?? []).some((condition) => condition === 'read' || condition === 'passed')

describe('the steps of a transfer', () => {
  const all = Object.keys(states) as State[]

  const begin = async (state: State) => {
    if (state === 'dropped') await run(transfer('seen'), step(t4, 'dropped'))
    else await run(transfer(state))
  }

  it.each(all.flatMap((from) => all.map((to) => [from, to] as const)))('%s → %s', async (from, to) => {
    await begin(from)
    const before = await contents()
    if (isAllowed(from, to)) {
      await run(step(t4, to))
      expect(await contents()).not.toEqual(before)
    } else {
      await expectRefusal(step(t4, to), 'transfer: no such step')
      await expectRefusal(or('REPLACE', step(t4, to)), 'transfer: no such step')
      await expectRefusal(or('IGNORE', step(t4, to)), 'transfer: no such step')
    }
  })

  it.each(all)('a refused one that is asked for again becomes %s only if the table says so', async (to) => {
    await begin('refused')
    await run(rescan())
    if (transferSteps.refused[to]?.includes('asked-again')) await run(step(t4, to))
    else await expectRefusal(step(t4, to), 'transfer: no such step')
  })

  it.each(all)('a refused one that a person credits after all becomes %s only if the table says so', async (to) => {
    const review = (word: string) => ({ review: `'${word}'` })
    await run(transfer('held', { reason: `'review'`, ...review('open') }), decision({ decision: `'refuse'` }))
    await run(step(t4, 'refused', { reason: `'review'`, ...review('refuse') }), decision())
    const next = step(t4, to, review('credit'))
    if (transferSteps.refused[to]?.includes('decided')) await run(next)
    else await expectRefusal(next, 'transfer: no such step')
  })

  it.each(all)(
    'after a correction below its block, one that is held or refused becomes %s as the table says',
    async (to) => {
      for (const from of ['held', 'refused'] as const) {
        const txid = from === 'held' ? t3 : t2
        await run(`DROP TRIGGER correction_lowers_the_scan`, correction(85), 'DROP TRIGGER scan_never_goes_back')
        await run('UPDATE scan SET finalized = 85, height = 85')
        const isFinal = to !== 'seen' && to !== 'dropped'
        const next = step(txid, to, { height: isFinal ? '84' : '90' })
        const isAllowed = (transferSteps[from][to] ?? []).some((why) => why === 'corrected' || why === 'read')
        if (isAllowed) await run(next)
        else await expect(db.prepare(next).run()).rejects.toThrow(/transfer: no such step|its block is not read yet/)
        db = await storeRows()
      }
    },
  )

  describe('that are possible for a credited one', () => {
    const found = (changes: string) =>
      `UPDATE stored_transfer SET version = version + 1, changed_at = 12, ${changes} WHERE txid = unhex('${t1}')`
    const another = [
      'raw = 60',
      'amount = 60',
      'cuy = 2',
      `to_address = unhex('${b}'), uid = 2`,
      `from_address = unhex('${b}')`,
    ]

    it('are none but to another block, while it is sought', async () => {
      await expectRefusal(found('height = 89'), 'transfer: no such step')
      await expectRefusal(
        `UPDATE stored_transfer SET sought = 1 WHERE txid = unhex('${t1}')`,
        'transfer: only what is read again is sought',
      )
      await run(transfer('credited', { position: '-1' }), transfer('credited', { height: '96' }), rescan())
      expect(await db.prepare('SELECT txid FROM transfer WHERE sought = 1').raw()).toEqual([[t1]])
      for (const one of another) {
        await expectRefusal(found(one), 'transfer: no such step')
        await expectRefusal(or('IGNORE', found(one)), 'transfer: no such step')
      }
      await expectRefusal(found('height = 121'), 'transfer: its block is not final')
      const entries = await db.prepare('SELECT * FROM stored_flow').raw()
      const events = await eventsAfter(0)
      await run(found('height = 89'))
      expect(await db.prepare(`SELECT height, sought FROM transfer WHERE txid = '${t1}'`).raw()).toEqual([[89, 1]])
      expect(await db.prepare('SELECT * FROM stored_flow').raw()).toEqual(entries)
      expect(await eventsAfter(0)).toEqual(events)
    })
  })

  it('names the version that it was decided about', async () => {
    await expectRefusal(step(t3, 'held', { version: 'version' }), 'transfer: another version was decided about')
    await expectRefusal(step(t3, 'credited', { version: 'version + 2' }), 'transfer: another version was decided about')
    await expectRefusal(or('IGNORE', step(t3, 'credited', { version: '7' })), 'transfer: another version')
  })

  it('a refused one is decided again where an unfinished requested rescan covers its block', async () => {
    await run(rescan({ from_height: '91', next_height: '91' }), gap(90))
    await expectRefusal(step(t2, 'credited'), 'transfer: no such step')
    await run(rescan())
    await expectRefusal(step(t2, 'seen'), 'transfer: no such step')
    await expectRefusal(step(t2, 'dropped'), 'transfer: no such step')
    await run(step(t2, 'held'), step(t2, 'refused', { reason: `'below-minimum'` }))
    await run(`UPDATE rescan SET next_height = 91 WHERE id = 3`)
    await expectRefusal(step(t2, 'credited'), 'transfer: no such step')
  })

  it('one that was seen above the position is not dropped', async () => {
    await run(transfer('seen', { height: '101' }))
    await expectRefusal(step(t4, 'dropped'), 'transfer: its block is not read yet')
  })

  it('one that is decided is not seen again but after a correction', async () => {
    await run(correction(95))
    await expectRefusal(step(t3, 'seen'), 'transfer: no such step')
    await run(correction(85))
    expect(await db.prepare(`SELECT state FROM transfer WHERE txid = '${t3}'`).first('state')).toBe('seen')
  })
})
