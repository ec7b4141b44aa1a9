import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Deposit } from '../../src/deposits/deposit.ts'
import type { Entry } from '../../src/ledger/entry.ts'
import type { EntryPage, LedgerReader } from '../../src/ledger/ledger-reader.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, amount, cuy, deposit, issue, ms, noFilter, txid, uid } from './fixtures.ts'

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
const anyCall = fc.record({
  deposits: fc.array(anyDeposit, { maxLength: 12 }),
})

/** The expected ledger: each credit key once, in order, as long as the wallet has room. */
function expectedLedger(calls: readonly { readonly deposits: readonly Deposit[] }[]) {
  const known = new Set<string>()
  const balances = new Map<string, bigint>()
  let uncredited = 0
  for (const { deposits } of calls) {
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

async function readAll(ledger: LedgerReader, owner: number, limit: number, byId: boolean): Promise<readonly Entry[]> {
  const all: Entry[] = []
  for (let page = 1; ; page += 1) {
    const last = all.at(-1)
    const wanted: EntryPage =
      byId && last !== undefined ? { kind: 'before', before: last.id, limit } : { kind: 'number', page, limit }
    const { list, count } = await ledger.entries(uid(owner), noFilter, wanted)
    all.push(...list)
    if (list.length < limit) {
      expect(count).toBe(all.length)
      return all
    }
  }
}

it('balances equal the sum of entries at any page size, and each credit key counts once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCall, { maxLength: 6 }),
      fc.integer({ min: 1, max: 25 }),
      fc.boolean(),
      async (calls, limit, byId) => {
        const db = await freshDatabase()
        const { ledger, deposits: depositStore } = createStores(db, () => {})
        await issue(db, owners)
        for (const [i, { deposits }] of calls.entries()) {
          for (const _ of ['first', 'again']) await depositStore.credit(deposits, ms(2000 + i))
        }
        const expected = expectedLedger(calls)
        let entries = 0
        for (const owner of new Set(owners)) {
          const sums = new Map<string, bigint>()
          const newestFirst = await readAll(ledger, owner, limit, byId)
          for (const entry of [...newestFirst].reverse()) {
            const wallet = `${owner}:${entry.cuy}`
            sums.set(wallet, (sums.get(wallet) ?? 0n) + entry.amount)
            expect(entry.balance).toBe(sums.get(wallet))
          }
          const balances = await ledger.balances(uid(owner))
          expect(new Map(balances.map((one) => [`${owner}:${one.cuy}`, one.amount as bigint]))).toEqual(sums)
          for (const [wallet, sum] of sums) expect(expected.balances.get(wallet)).toBe(sum)
          entries += newestFirst.length
        }
        expect(entries).toBe(expected.known - expected.uncredited)
        expect(await db.prepare('SELECT count(*) AS n FROM deposit').first('n')).toBe(expected.known)
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
