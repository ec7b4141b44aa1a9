import type { DatabaseSync } from 'node:sqlite'
import type { Uid } from '../../src/ledger/entry.ts'
import { usdt } from '../support/chain-builder.ts'
import { fineToken } from './scenario.ts'
import type { Fact, World } from './world.ts'

/** What a move of money is worth to a caller, by the contract alone. */
export interface Due {
  readonly uid: Uid
  readonly cuy: number
  readonly outcome: 'credited' | 'below-minimum' | 'dust' | 'too-large'
  readonly amount: bigint
}

/**
 * What `fact` is worth, or null where it is no deposit: it pays nobody's deposit address, or comes from one, or
 * its token is not what the configuration says. Nothing
 * here is the service's code: the rules are written down a second time.
 */
export function judge({ owners, scenario }: World, fact: Fact): Due | null {
  const uid = owners.get(fact.to)
  if (uid === undefined || owners.has(fact.from)) return null
  const due = (cuy: number, minimum: bigint, unit: bigint): Due => {
    const units = fact.raw / unit
    if (fact.raw < minimum) return { uid, cuy, outcome: 'below-minimum', amount: 0n }
    if (units === 0n) return { uid, cuy, outcome: 'dust', amount: 0n }
    if (units >= 2n ** 53n) return { uid, cuy, outcome: 'too-large', amount: 0n }
    return { uid, cuy, outcome: 'credited', amount: units }
  }
  switch (fact.contract) {
    case null:
      return due(1, 0n, 1n)
    case usdt:
      return due(2, 0n, 10_000n)
    case fineToken:
      return scenario.decimalsDiffer ? null : due(3, 5n * 10n ** 17n, 10n ** 12n)
    default:
      return null
  }
}

/**
 * Whether a deposit that is worth something may have found its wallet full: all that the chain holds for the wallet is
 * more than one can hold. In what order deposits came is the service's affair.
 */
export function mayBeFull(world: World, due: Due): boolean {
  let sum = 0n
  for (const fact of world.facts.values()) {
    const other = judge(world, fact)
    if (other?.uid === due.uid && other.cuy === due.cuy) sum += other.amount
  }
  return sum >= 2n ** 53n
}

/** All deposits in the final chain: by credit key, what is due. */
export function allDue(world: World): ReadonlyMap<string, { readonly fact: Fact; readonly due: Due }> {
  const dues = new Map<string, { fact: Fact; due: Due }>()
  for (const [key, fact] of world.facts) {
    const due = fact.height <= world.finalized() ? judge(world, fact) : null
    if (due !== null) dues.set(key, { fact, due })
  }
  return dues
}

/** The deposits that are stored: by credit key, their outcome. */
export function readStored(sqlite: DatabaseSync): ReadonlyMap<string, unknown> {
  const rows = sqlite.prepare('SELECT txid, position, outcome FROM deposit').all()
  return new Map(rows.map(({ txid, position, outcome }) => [`${txid}:${position}`, outcome]))
}

/**
 * What is wrong with a ledger that should be complete, or null: deposits equal what is due, each credited one has one
 * entry, each balance is the one before plus the amount, each wallet holds its last balance, and nothing else is there.
 */
export function audit(world: World, sqlite: DatabaseSync): string | null {
  const dues = allDue(world)
  const stored = readStored(sqlite)
  for (const key of dues.keys()) if (!stored.has(key)) return `${key} is due, and was not stored`
  for (const key of stored.keys()) if (!dues.has(key)) return `${key} was stored, and is not due`

  const entries = new Map<string, { uid: number; cuy: number; amount: bigint }>()
  for (const [key, { fact, due }] of dues) {
    if (stored.get(key) !== 'credited') continue // that its outcome is right was checked when it was stored
    const osn = fact.contract === null ? fact.txid : `${fact.txid}:${fact.position}`
    entries.set(osn, due)
  }
  const balances = new Map<string, bigint>()
  for (const flow of sqlite.prepare('SELECT * FROM flow ORDER BY id').all()) {
    const osn = String(flow.osn)
    const entry = entries.get(osn)
    if (entry === undefined) return `flow ${osn} has no deposit, or stands there twice`
    entries.delete(osn)
    if (flow.uid !== entry.uid || flow.cuy !== entry.cuy || flow.type !== 1) return `flow ${osn} is somebody else's`
    if (BigInt(Number(flow.amount)) !== entry.amount) return `flow ${osn} is ${flow.amount}, and ${entry.amount} is due`
    const wallet = `${flow.uid} ${flow.cuy}`
    const balance = (balances.get(wallet) ?? 0n) + entry.amount
    if (BigInt(Number(flow.balance)) !== balance) return `flow ${osn} leaves ${flow.balance}, and not ${balance}`
    balances.set(wallet, balance)
  }
  for (const osn of entries.keys()) return `flow ${osn} is missing`
  for (const { uid, cuy, balance } of sqlite.prepare('SELECT uid, cuy, balance FROM wallet').all()) {
    const due = balances.get(`${uid} ${cuy}`) ?? 0n
    if (BigInt(Number(balance)) !== due) return `wallet ${cuy} of ${uid} holds ${balance}, and not ${due}`
  }
  return null
}
