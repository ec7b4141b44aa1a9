import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import type { JudgedTransfer } from '../../src/worker/deposits/transfer.ts'
import type { Entry } from '../../src/worker/ledger/entry.ts'
import { selectBalances, selectEntries } from '../../src/worker/ledger/store/entries.ts'
import { addressAt, column, credited, cuy, ms, openDatabase, refused, transfer, txid, uid } from './fixtures.ts'

const owners = [1, 2, 1, 3]

const anyTransfer: fc.Arbitrary<JudgedTransfer> = fc
  .record({
    tx: fc.nat(40),
    position: fc.nat(2),
    currency: fc.integer({ min: 1, max: 2 }),
    to: fc.nat(owners.length - 1),
    units: fc.oneof(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min: 0n, max: 9_007_199_254_740_991n })),
  })
  .map(({ tx, position, currency, to, units }) =>
    transfer(units === 0n ? refused : credited(units), {
      txid: txid(tx),
      position: currency === 1 ? 0 : position + 1,
      cuy: cuy(currency),
      native: currency === 1,
      uid: uid(owners[to] ?? 0),
      to: addressAt(to),
      raw: units + 1n,
    }),
  )
const anyCall = fc.record({
  deposits: fc.array(anyTransfer, { maxLength: 12 }),
})

/**
 * What the ledger must contain after these calls. Each transfer (txid and position) is credited
 * once, in the order of the calls, if its wallet has room. A transfer that was held because its
 * wallet was full is tried again whenever a later call has it.
 */
function expectedLedger(calls: readonly { readonly deposits: readonly JudgedTransfer[] }[]) {
  const states = new Map<string, string>()
  const balances = new Map<string, bigint>()
  for (const { deposits } of calls) {
    const last = new Map(deposits.map((one) => [`${one.txid}:${one.position}`, one]))
    for (const isKnown of [true, false]) {
      for (const [key, one] of [...last].filter(([key]) => states.has(key) === isKnown || states.get(key) === 'new')) {
        if (one.state === 'moved' || ['credited', 'refused'].includes(states.get(key) ?? '')) continue
        const wallet = `${one.uid}:${one.cuy}`
        const next = (balances.get(wallet) ?? 0n) + (one.state === 'credited' ? one.amount : 0n)
        const fits = next <= 9_007_199_254_740_991n
        if (one.state === 'credited' && fits) balances.set(wallet, next)
        states.set(key, one.state !== 'credited' ? 'refused' : fits ? 'credited' : 'held')
      }
    }
  }
  return { balances, states }
}

async function readAll(db: WriteDatabase, owner: number, limit: number, byId: boolean): Promise<readonly Entry[]> {
  const all: Entry[] = []
  for (let page = 1; ; page += 1) {
    const last = all.at(-1)
    const wanted = byId && last !== undefined ? { before: last.id } : { page }
    const { list, count } = await selectEntries(db, uid(owner), { ...wanted, limit })
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
        const db = await openDatabase(owners)
        for (const [i, { deposits }] of calls.entries()) {
          for (const _ of ['first', 'again']) await storeTransfers(db, deposits, ms(2000 + i))
        }
        const expected = expectedLedger(calls.flatMap((call) => [call, call]))
        let entries = 0
        for (const owner of new Set(owners)) {
          const sums = new Map<string, bigint>()
          const newestFirst = await readAll(db, owner, limit, byId)
          for (const entry of [...newestFirst].reverse()) {
            const wallet = `${owner}:${entry.cuy}`
            sums.set(wallet, (sums.get(wallet) ?? 0n) + entry.amount)
            expect(entry.balance).toBe(sums.get(wallet))
          }
          const balances = await selectBalances(db, uid(owner))
          expect(new Map(balances.map((one) => [`${owner}:${one.cuy}`, one.amount as bigint]))).toEqual(sums)
          for (const [wallet, sum] of sums) expect(expected.balances.get(wallet)).toBe(sum)
          entries += newestFirst.length
        }
        expect(entries).toBe([...expected.states.values()].filter((state) => state === 'credited').length)
        expect(await column(db, 'SELECT count(*) FROM transfer')).toEqual([expected.states.size])
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
