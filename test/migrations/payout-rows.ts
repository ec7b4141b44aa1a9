import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { c, contents, expectRefusal, insert, or, t4, type Values } from './rows.ts'

// The scan is at block 100 of 120. Payout 1 pays 20 from the wallet of user 1, with a fee of 1, and
// waits for a person.

/** The address that payouts are paid from. It was never issued. */
export const payer = 'd'.repeat(40)
/** A day, in milliseconds. */
export const day = 86_400_000
/** When payout 1 is asked for. */
export const at = 20 * day

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
  created_at: String(at),
  changed_at: String(at),
  attempts_max: '3',
}
/** An INSERT of payout 1. `changes` replaces columns. */
export const payout = (changes: Values = {}) => insert('payout', { ...asked, ...changes })
/**
 * The columns of a payout that is approved at once. `limits` is `approved_by` in SQL: `''` if the
 * limits have approved it, else a person's name.
 */
export const approvedBy = (limits: string) => ({
  state: `'approved'`,
  approved_by: limits,
  approved_at: String(at),
  counted: '1',
})
/**
 * Limits that allow payouts of 1 to 20 each, and in a day at most 3 payouts with a sum of at most
 * 25.
 */
export const limits = { limit_least: '1', limit_each: '20', limit_day: '25', limit_count: '3' }
/** The columns of a payout that these limits have approved. */
export const byRule = { ...limits, ...approvedBy(`''`) }
/** An INSERT of the transaction of payout 1. `changes` replaces columns. */
export const open = (changes: Values = {}) =>
  insert('payout_transaction', {
    txid: `'${t4}'`,
    address: `'${payer}'`,
    payout_id: '1',
    bytes: `'ab'`,
    reference: '100',
    expires_at: '900',
    changed_at: '21',
    next_send: '21',
    ...changes,
  })
/** An INSERT of a transaction that no payout names. `changes` replaces columns. */
export const unknown = (changes: Values = {}) =>
  insert('payout_transaction', {
    txid: `'${t4}'`,
    address: `'${payer}'`,
    height: '90',
    succeeded: '1',
    moved: `'[]'`,
    ended: `'unknown'`,
    changed_at: '21',
    next_send: '21',
    ...changes,
  })
/** An UPDATE of payout 1. `set` is the SQL of the changed columns. */
export const move = (set: string) => `UPDATE payout SET version = version + 1, changed_at = 30, ${set} WHERE id = 1`
/** An UPDATE of the transaction `id`. `set` is the SQL of the changed columns. */
export const end = (set: string, id = 1) =>
  `UPDATE payout_transaction SET version = version + 1, changed_at = 30, ${set} WHERE id = ${id}`
/** A person approves payout 1, which counts for the limits of a day from then on. */
export const approve = move(`state = 'approved', approved_by = 'office', approved_at = 30, counted = 1`)
/** A person cancels payout 1, which no longer counts for the limits of a day. */
export const cancel = move(
  `state = 'cancelled', cancelled_by = 'office', why = 'x', counted = 0, reason = NULL, moved = NULL`,
)
/** Payout 1 becomes `signed`, with transaction 1. */
export const sign = move(`state = 'signed', txid = '${t4}', expires_at = 900`)
/** What transaction 1 has moved if it pays `raw` to `c`. */
export const paid = (raw = 20) => `'[{"contract":"","to":"${c}","raw":"${raw}"}]'`
/** Transaction 1 is found in block 104. */
export const found = (ended: string, moved = paid(), succeeded = 1) =>
  end(`ended = '${ended}', height = 104, succeeded = ${succeeded}, moved = ${moved}`)
/** Payout 1 is paid, by the transaction in block 104. */
export const pay = move(`state = 'paid', height = 104`)
/** Payout 1 is stuck for `reason`, after its transaction in block 104. */
export const stick = (reason: string) =>
  move(`state = 'stuck', reason = '${reason}', attempts = attempts + 1, height = 104`)
/** Blocks up to 105 are read. */
export const read = 'UPDATE scan SET height = 105, finalized = 125'
/** Payout 1 is approved and signed by transaction 1, which refers to block 100. */
export const signed = [payout(), approve, open(), sign, read]
/** The columns of a transaction that no block has. */
export const nothingFound = 'height = NULL, succeeded = NULL, moved = NULL'
/** The state of payout 1; null if it is not stored. */
export const stateOf = async () => env.DB.prepare('SELECT state FROM payout WHERE id = 1').first('state')
/** The balance of user 1's wallet, in smallest units. */
export const balance = async () => env.DB.prepare('SELECT balance FROM wallet WHERE id = 1').first('balance')
/** The types of all events about payouts in their order, without `payout.`. */
export const types = async () => {
  const { results } = await env.DB.prepare(`SELECT type FROM event WHERE type GLOB 'payout.*' ORDER BY id`).all()
  return results.map(({ type }) => String(type).replace('payout.', ''))
}

/**
 * Expects that a statement is refused, and that no conflict clause such as `OR REPLACE` gets it
 * past the rule.
 */
export async function expectNo(sql: string, why: string) {
  await expectRefusal(sql, why)
  const before = await contents()
  for (const policy of ['REPLACE', 'IGNORE', 'ABORT']) {
    await env.DB.prepare(or(policy, sql))
      .run()
      .catch(() => null)
    expect([policy, await contents()]).toEqual([policy, before])
  }
}
