import { auditPosts } from './callers/post.ts'
import type { Environment } from './environment.ts'
import { type ExpectedDeposit, expectedDeposits } from './oracle.ts'
import type { Stored } from './stored.ts'

/**
 * What is wrong with a ledger that should be complete, or null. Deposits are those that are expected, each credited one
 * has one entry, each other entry belongs to a post that is stored whole, each accepted post is stored, each balance is the one before plus the amount, each wallet has its newest balance, and nothing else is
 * stored.
 */
export function auditLedger(env: Environment, stored: Stored): string | null {
  const expected = expectedDeposits(env)
  const deposits = new Map(stored.deposits().map((deposit) => [`${deposit.txid}:${deposit.position}`, deposit]))
  for (const key of expected.keys()) if (!deposits.has(key)) return `${key} is a deposit and was not stored`
  for (const key of deposits.keys()) if (!expected.has(key)) return `${key} was stored and is no deposit`

  const due = new Map<string, ExpectedDeposit>()
  for (const [key, { transfer, expected: deposit }] of expected) {
    if (deposits.get(key)?.outcome !== 'credited') continue // the outcome was checked when it was stored
    due.set(transfer.contract === null ? transfer.txid : key, deposit)
  }
  const balances = new Map<string, bigint>()
  for (const { osn, uid, cuy, type, amount, balance } of stored.entries()) {
    if (type === 1) {
      const deposit = due.get(osn)
      if (deposit === undefined) return `entry ${osn} has no deposit, or exists twice`
      due.delete(osn)
      if (uid !== deposit.uid || cuy !== deposit.cuy) return `entry ${osn} belongs to another wallet`
      if (amount !== deposit.amount) return `entry ${osn} is ${amount} instead of ${deposit.amount}`
    }
    const wallet = `${uid} ${cuy}`
    const after = (balances.get(wallet) ?? 0n) + amount
    if (balance !== after) return `entry ${osn} leaves ${balance} instead of ${after}`
    balances.set(wallet, after)
  }
  for (const osn of due.keys()) return `entry ${osn} is missing`
  for (const { uid, cuy, balance } of stored.wallets()) {
    const after = balances.get(`${uid} ${cuy}`) ?? 0n
    if (balance !== after) return `wallet ${cuy} of ${uid} has ${balance} instead of ${after}`
  }
  return auditPosts(env.posts, stored)
}
