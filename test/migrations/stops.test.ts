import { beforeEach, describe, expect, it } from 'vitest'
import { facts, mayGoOnBy, steps } from '../support/contract-11.ts'
import { correction, decision, expectRefusal, run, step, storeRows, t1, t4, transfer } from './rows.ts'

// What is known to be wrong stops the same steps in the database as in the service. The steps of
// payouts are tried with each fact in test/payouts/leaving.test.ts, those of deposits here and in
// test/deposits/stops.test.ts.

let db: D1Database
beforeEach(async () => {
  db = await storeRows()
})

it('the view of facts and steps is the table of the contract', async () => {
  const { results } = await db.prepare('SELECT fact, step FROM stopped_step').all()
  const stopped = facts.flatMap((fact) => steps.filter((one) => !mayGoOnBy(fact, one)).map((one) => `${fact} ${one}`))
  expect(results.map((row) => `${row.fact} ${row.step}`).toSorted()).toEqual(stopped.toSorted())
})

describe('while the chain is known to be forked', () => {
  const halt = `UPDATE scan SET halted = 'chain-forked'`
  const held = transfer('held', { reason: `'review'`, review: `'open'` })

  it('nothing is credited', async () => {
    await run(held, halt)
    await expectRefusal(transfer('credited', { txid: `'${'5'.repeat(64)}'` }), 'the scan is halted')
    await expectRefusal(step(t4, 'credited', { review: 'review' }), 'the scan is halted')
  })

  it('nobody decides to credit, and who refuses is not stopped', async () => {
    await run(held, halt)
    await expectRefusal(decision(), 'the scan is halted')
    await run(decision({ decision: `'refuse'` }))
  })

  it('nothing that a correction has put in doubt is found again', async () => {
    await run(correction(80), halt)
    const found = `UPDATE stored_transfer SET sought = 0 WHERE txid = unhex('${t1}')`
    expect(await db.prepare(`SELECT sought FROM transfer WHERE txid = '${t1}'`).first('sought')).toBe(1)
    await expectRefusal(found, 'the scan is halted')
    await run('UPDATE scan SET halted = NULL', found)
  })
})
