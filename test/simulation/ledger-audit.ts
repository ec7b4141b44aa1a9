import { auditPosts } from './callers/post.ts'
import type { Environment } from './environment.ts'
import { isUnreadGap } from './lacking.ts'
import { decidedState, type ExpectedDeposit, expectedDeposits, mayWait } from './oracle.ts'
import type { Stored } from './stored.ts'

/**
 * The fault of a ledger that should be complete, or null. The stored transfers must be the expected
 * ones. Each credited one must have one entry, each other entry must belong to a post that is
 * stored whole, and each accepted post must be stored.
 */
export function auditLedger(env: Environment, stored: Stored): string | null {
  const due = new Map<string, Pick<ExpectedDeposit, 'uid' | 'cuy' | 'amount'>>()
  const expected = expectedDeposits(env)
  const transfers = new Map(stored.transfers().map((one) => [`${one.txid}:${one.position}`, one]))
  const position = stored.scan()?.height ?? 0
  for (const [key, { transfer, expected: deposit }] of expected) {
    // its block became final just now, or too few nodes have it
    if (transfer.height > position || isUnreadGap(env, transfer.height)) continue
    const { state = 'nothing', reason = null } = transfers.get(key) ?? {}
    const isFull = state === 'held' && reason === 'wallet-full' && mayWait(env, deposit, reason)
    const due = env.creditedElsewhere.has(key) ? 'credited' : decidedState(env, transfer, deposit)
    if (state !== due && !isFull) return `${key} is ${due} and was stored as ${state} ${reason}`
  }
  for (const [key, { txid, position: at, cuy, uid, state, amount, height }] of transfers) {
    const isOpen =
      state === 'dropped' || state === 'moved' || (state === 'seen' && (height > position || env.openGaps.has(height)))
    const isKnown = expected.has(key) || env.sent.has(key) || env.creditedElsewhere.has(key)
    if (!isOpen && !isKnown) return `${key} is ${state} and is no deposit`
    if (state === 'credited' && uid !== null) due.set(osnOf(cuy, txid, at), { uid, cuy, amount } as ExpectedDeposit)
  }
  return auditEntries(stored, due) ?? auditPosts(env.posts, stored)
}

const osnOf = (cuy: number, txid: string, position: number) =>
  cuy !== 1 ? `${txid}:${position}` : position < 0 ? `${txid}:i${-1 - position}` : txid

/**
 * Compares the entries of deposits with the credited transfers. Balances are checked after every
 * write, not here.
 */
function auditEntries(
  stored: Stored,
  due: Map<string, Pick<ExpectedDeposit, 'uid' | 'cuy' | 'amount'>>,
): string | null {
  for (const { osn, uid, cuy, type, amount } of stored.entries()) {
    if (type !== 1) continue
    const deposit = due.get(osn)
    if (deposit === undefined) return `entry ${osn} has no deposit, or exists twice`
    due.delete(osn)
    if (uid !== deposit.uid || cuy !== deposit.cuy) return `entry ${osn} belongs to another wallet`
    if (amount !== deposit.amount) return `entry ${osn} is ${amount} instead of ${deposit.amount}`
  }
  for (const osn of due.keys()) return `entry ${osn} is missing`
  return null
}
