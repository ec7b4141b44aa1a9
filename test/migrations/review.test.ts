import { beforeEach, describe, expect, it } from 'vitest'
import {
  contents,
  correction,
  decision,
  eventsAfter,
  expectRefusal,
  noNames,
  or,
  personName,
  rescan,
  run,
  step,
  storeRows,
  t3,
  t4,
  transfer,
  type Values,
} from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

const review = { reason: `'review'`, review: `'open'` }
const held = transfer('held', review)
const refusal = decision({ decision: `'refuse'` })
const refused = step(t4, 'refused', { reason: `'review'`, review: `'refuse'` })
const credited = step(t4, 'credited', { review: `'credit'` })
const unroomed = step(t4, 'held', { reason: `'wallet-full'`, review: `'credit'` })
const states = async () => await db.prepare(`SELECT state, reason, review FROM transfer WHERE txid = '${t4}'`).raw()

describe('a transfer that is held for review', () => {
  it.each([
    ['that does not say so', transfer('held', { reason: `'review'` }), 'transfer_review'],
    ['with another reason', transfer('held', { review: `'open'` }), 'transfer_review'],
    ['that is credited', transfer('credited', { review: `'open'` }), 'transfer_review'],
    [
      'that is refused already',
      transfer('refused', { reason: `'review'`, review: `'refuse'` }),
      'a new one is not decided',
    ],
    ['that is to be credited already', transfer('held', { review: `'credit'` }), 'a new one is not decided'],
    ['with an unknown word', transfer('held', { reason: `'review'`, review: `'maybe'` }), 'a new one is not decided'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
    await expectRefusal(or('REPLACE', sql), why)
  })

  const steps: readonly [string, string, string][] = [
    ['credited', step(t4, 'credited'), 'transfer_review'],
    ['credited as if it never was', step(t4, 'credited', { review: 'NULL' }), 'stays so until it is decided'],
    ['credited as if it was decided', step(t4, 'credited', { review: `'credit'` }), 'stays so until it is decided'],
    ['refused as dust', step(t4, 'refused'), 'transfer_review'],
    [
      'refused as if it was decided',
      step(t4, 'refused', { reason: `'review'`, review: `'refuse'` }),
      'stays so until it is decided',
    ],
    ['held for another reason', step(t4, 'held'), 'transfer_review'],
    ['held as if it never was', step(t4, 'held', { review: 'NULL' }), 'stays so until it is decided'],
  ]
  it.each(steps)('is not %s without a decision', async (_, sql, why) => {
    await run(held, rescan())
    await expectRefusal(sql, why)
    await expectRefusal(or('REPLACE', sql), why)
  })

  it('moves if it is no deposit at all, and takes other facts', async () => {
    await run(held, step(t4, 'held', { ...review, raw: `'60'` }), step(t4, 'moved', { review: `'open'` }))
    expect(await states()).toEqual([['moved', null, 'open']])
  })
})

describe('a decision', () => {
  it('credits, with the entry and its event', async () => {
    await run(held, decision(), credited)
    expect(await states()).toEqual([['credited', null, 'credit']])
    expect(await db.prepare('SELECT balance FROM wallet').raw()).toEqual([[100]])
    expect((await eventsAfter(3)).map(({ type, reason }) => [type, reason])).toEqual([
      ['deposit.held', 'review'],
      ['deposit.credited', undefined],
    ])
  })

  it('can be that of a person, by the e-mail address', async () => {
    await run(held, decision({ decided_by: `'${personName}'` }), credited)
    expect(await states()).toEqual([['credited', null, 'credit']])
  })

  it('refuses, with its event, and then credits', async () => {
    await run(held, refusal, refused)
    expect(await states()).toEqual([['refused', 'review', 'refuse']])
    expect((await eventsAfter(4)).map(({ type, reason }) => [type, reason])).toEqual([['deposit.refused', 'review']])
    await run(decision(), credited)
    expect(await states()).toEqual([['credited', null, 'credit']])
  })

  it('to credit it without room holds it for that', async () => {
    await run(held, decision(), unroomed)
    expect(await states()).toEqual([['held', 'wallet-full', 'credit']])
    await run(credited)
    expect(await states()).toEqual([['credited', null, 'credit']])
  })

  type Made = readonly [string, readonly string[], string, string]
  const made: readonly Made[] = [
    ['about nothing', [], decision(), 'decision: the transfer is not held for review'],
    ['about another transfer', [held], decision({ txid: `'${t3}'` }), 'decision: the transfer is not held for review'],
    ['about another position', [held], decision({ position: '1' }), 'decision: the transfer is not held for review'],
    ['made twice', [held, refusal], refusal, 'decision: already made'],
    [
      'to refuse what is credited',
      [held, decision(), credited],
      refusal,
      'decision: the transfer is not held for review',
    ],
    [
      'to refuse what is to be credited',
      [held, decision(), unroomed],
      refusal,
      'decision: the transfer is not held for review',
    ],
    ['about what is seen', [held, correction(85)], decision(), 'decision: the transfer is not held for review'],
    ['about what has moved', [held, step(t4, 'moved')], decision(), 'decision: the transfer is not held for review'],
    ['of another kind', [held], decision({ decision: `'wait'` }), 'decision_'],
    ['without a reason', [held], decision({ why: `''` }), 'decision_why'],
    ['with a long reason', [held], decision({ why: `'${'x'.repeat(201)}'` }), 'decision_why'],
    ['of nobody', [held], decision({ decided_by: `''` }), 'decision_decided_by'],
    ...noNames.map((name): Made => {
      return [`of ${name}`, [held], decision({ decided_by: `'${name}'` }), 'decision_decided_by']
    }),
  ]
  it.each(made)('%s is refused', async (_, before, sql, why) => {
    await run(...before)
    await expectRefusal(sql, why)
    await expectRefusal(or('REPLACE', sql), why)
  })

  it('is never changed or deleted', async () => {
    await run(held, refusal)
    const changes: Values = { why: `'x'`, decided_by: `'x'`, decision: `'credit'` }
    for (const [column, value] of Object.entries(changes)) {
      await expectRefusal(`UPDATE decision SET ${column} = ${value}`, 'decision: rows are never changed')
    }
    await expectRefusal('DELETE FROM decision', 'decision: rows are never deleted')
    await expectRefusal(`${refusal} ON CONFLICT DO UPDATE SET why = 'x'`, 'decision: already made')
  })

  it('stays with its transfer: that is not removed, and is decided as before when its block is read again', async () => {
    await run(
      held,
      refusal,
      refused,
      correction(85),
      'UPDATE scan SET finalized = 120',
      'UPDATE scan SET height = 100, tried_at = 1e9',
    )
    await run(step(t4, 'dropped', { review: `'refuse'` }))
    await expectRefusal(
      `DELETE FROM stored_transfer WHERE txid = unhex('${t4}')`,
      'transfer: only a correction deletes',
    )
    await expectRefusal(step(t4, 'credited', { review: `'refuse'` }), 'transfer_review')
    await expectRefusal(step(t4, 'credited', { review: 'NULL' }), 'stays so until it is decided')
    await run(step(t4, 'refused', { reason: `'review'`, review: `'refuse'` }))
    expect(await contents()).not.toEqual([])
  })
})
