import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLocalDatabase, type LocalDatabase } from '../local-database.ts'

const [first, second] = ['1', '2'].map((digit) => digit.repeat(64))
let database: LocalDatabase
beforeAll(() => {
  database = createLocalDatabase()
  database.rows(`INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at,
    tried_at)
    VALUES (1, 100, '${'a'.repeat(64)}', 100, 5, 5, 5, 5, 5)`)
  for (const txid of [first, second]) {
    database.rows(`INSERT INTO payout_transaction (txid, address, height, succeeded, moved, ended, changed_at,
      next_send)
      VALUES ('${txid}', '${'b'.repeat(40)}', 90, 1, '[]', 'unknown', 5, 5)`)
  }
})
afterAll(() => database.remove())

const resume = (txid = '', reason = `the office's own`) =>
  database.operate('payouts', 'resume', '--txid', txid, '--reason', reason)

it('payouts resume excuses one transaction with a reason that is kept, and names the others that stop payouts', async () => {
  const { code, out } = await resume(first)
  expect([code, out]).toEqual([0, `Payouts are still stopped, by:\n  ${second}\n`])
  const again = await resume(first)
  expect([again.code, again.all]).toEqual([
    1,
    `Stopped: this transaction does not stop payouts\nWhat to do: name one that does:\n  ${second}.\n`.replace(
      'payouts\n',
      'payouts.\n',
    ),
  ])
  expect(await resume(second)).toMatchObject({
    code: 0,
    out: 'No other transaction stops payouts: they are offered to the signer again.\n',
  })
  expect(database.rows('SELECT excused FROM payout_transaction')).toEqual([
    { excused: `the office's own` },
    { excused: `the office's own` },
  ])
  expect((await resume(second)).all).toContain('What to do: nothing: no transaction stops them.')
})

it('payouts resume says what else still stops payouts', async () => {
  const third = '3'.repeat(64)
  database.rows(`INSERT INTO payout_transaction (txid, address, height, succeeded, moved, ended, changed_at, next_send)
    VALUES ('${third}', '${'b'.repeat(40)}', 90, 1, '[]', 'unknown', 5, 5)`)
  database.rows(`UPDATE scan SET restored_at = 5, halted = 'chain-forked'`)
  const { code, out } = await resume(third)
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      'No other transaction stops payouts, but they are still stopped:',
      expect.stringContaining('the nodes show another chain than before'),
      expect.stringContaining('an older copy of the database was restored'),
      '',
    ],
  ])
})

it.each([
  ['no txid', 'x', 'a reason', '--txid'],
  ['no reason', first, '', '--reason'],
])('payouts resume with %s is refused', async (_, txid, reason, option) => {
  const { code, all } = await resume(txid, reason)
  expect([code, all]).toEqual([2, expect.stringContaining(option)])
})
