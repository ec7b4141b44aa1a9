import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import type { Deposit } from '../../src/deposits/deposit.ts'
import type { Flow } from '../../src/ledger/entry.ts'
import type { FlowPage, LedgerReader } from '../../src/ledger/ledger-store.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  amount,
  anyFlow,
  block,
  cuy,
  deposit,
  height,
  issue,
  ms,
  startScan,
  step,
  txid,
  uid,
} from './entries.ts'

const owners = [1, 2, 1, 3]

const anyDeposit: fc.Arbitrary<Deposit> = fc
  .record({
    tx: fc.nat(40),
    position: fc.nat(2),
    currency: fc.integer({ min: 1, max: 2 }),
    to: fc.nat(owners.length - 1),
    units: fc.oneof(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min: 0n, max: 9_007_199_254_740_991n })),
  })
  .map(({ tx, position, currency, to, units }) =>
    deposit({
      txid: txid(tx),
      position: currency === 1 ? 0 : position,
      cuy: cuy(currency),
      native: currency === 1,
      uid: uid(owners[to] ?? 0),
      to: addressAt(to),
      raw: units + 1n,
      outcome: units === 0n ? 'dust' : 'credited',
      amount: amount(units),
    }),
  )
const anyMove = fc.record({
  how: fc.constantFrom('append', 'credit'),
  deposits: fc.array(anyDeposit, { maxLength: 12 }),
})

/** What a bookkeeper would have: each credit key once, in order, as long as the wallet has room. */
function keepBooks(moves: readonly { readonly deposits: readonly Deposit[] }[]) {
  const known = new Set<string>()
  const balances = new Map<string, bigint>()
  let uncredited = 0
  for (const { deposits } of moves) {
    const full = new Set<string>()
    for (const one of deposits) {
      const key = `${one.txid}:${one.position}`
      if (known.has(key)) continue
      known.add(key)
      const wallet = `${one.uid}:${one.cuy}`
      const next = (balances.get(wallet) ?? 0n) + one.amount
      if (next > 9_007_199_254_740_991n) full.add(wallet)
      if (one.outcome !== 'credited' || full.has(wallet)) uncredited += 1
      else balances.set(wallet, next)
    }
  }
  return { balances, known: known.size, uncredited }
}

async function readAll(reader: LedgerReader, owner: number, limit: number, byId: boolean): Promise<readonly Flow[]> {
  const all: Flow[] = []
  for (let page = 1; ; page += 1) {
    const last = all.at(-1)
    const wanted: FlowPage =
      byId && last !== undefined ? { kind: 'before', before: last.id, limit } : { kind: 'number', page, limit }
    const { list, count } = await reader.flows(uid(owner), anyFlow, wanted)
    all.push(...list)
    if (list.length < limit) {
      expect(count).toBe(all.length)
      return all
    }
  }
}

it('balances equal the fold of flows at any page size, and each credit key counts once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMove, { maxLength: 6 }),
      fc.integer({ min: 1, max: 25 }),
      fc.boolean(),
      async (moves, limit, byId) => {
        const db = await freshDatabase()
        const writer = createLedgerWriter(db)
        const reader = createLedgerReader(db)
        await issue(db, owners)
        await startScan(writer)
        let at = 100
        for (const { how, deposits } of moves) {
          if (how === 'credit') {
            await writer.credit(deposits, ms(2000 + at))
            continue
          }
          const move = step({ after: height(at), to: block(at + 1), finalized: height(at + 1), deposits })
          expect(await writer.append(move)).toBe('appended')
          expect(await writer.append(move)).toBe('superseded')
          at += 1
        }
        const books = keepBooks(moves)
        let entries = 0
        for (const owner of new Set(owners)) {
          const folded = new Map<string, bigint>()
          const newestFirst = await readAll(reader, owner, limit, byId)
          for (const flow of [...newestFirst].reverse()) {
            const wallet = `${owner}:${flow.cuy}`
            folded.set(wallet, (folded.get(wallet) ?? 0n) + flow.amount)
            expect(flow.balance).toBe(folded.get(wallet))
          }
          const balances = await reader.balances(uid(owner))
          expect(new Map(balances.map((one) => [`${owner}:${one.cuy}`, one.amount as bigint]))).toEqual(folded)
          for (const [wallet, sum] of folded) expect(books.balances.get(wallet)).toBe(sum)
          entries += newestFirst.length
        }
        expect(entries).toBe(books.known - books.uncredited)
        expect(await db.prepare('SELECT count(*) AS n FROM deposit').first('n')).toBe(books.known)
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
