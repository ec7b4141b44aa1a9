import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { BackendName } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import type { NewEntry } from '../../src/worker/ledger/entry.ts'
import { selectBalances, selectEntries } from '../../src/worker/ledger/store/entries.ts'
import { storePost } from '../../src/worker/ledger/store/posts.ts'
import { amount, credited, cuy, measure, ms, openDatabase, transfer, uid } from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1, 2])
  await storeTransfers(db, [transfer(credited(60n))], ms(10))
})

const shop = 'shop' as BackendName
const pay = (units: bigint, changes: Partial<NewEntry> = {}): NewEntry => ({
  uid: uid(1),
  cuy: cuy(1),
  type: units < 0n ? 4 : 5,
  osn: 'order',
  amount: amount(units),
  mark: '',
  ...changes,
})
const all = async (owner = 1) => {
  return (await selectEntries(db, uid(owner), { limit: 100 })).list
}
const balance = async (owner = 1) => (await selectBalances(db, uid(owner)))[0]?.amount

describe('post', () => {
  it('is one round trip, which reads a few rows for each entry', async () => {
    const entries = Array.from({ length: 20 }, (_, i) => pay(-1n, { osn: `${i}` }))
    const { rows, trips } = await measure(db, (metered) => storePost(metered, entries, shop, ms(20)))
    expect(trips).toBe(1)
    expect(rows).toBeLessThanOrEqual(20 * 60)
  })
})

const anyEntry = fc.record({
  owner: fc.integer({ min: 3, max: 5 }),
  osn: fc.constantFrom('a', 'b', 'c', 'd'),
  units: fc.bigInt({ min: -40n, max: 60n }).filter((units) => units !== 0n),
})
const anyPost = fc.uniqueArray(anyEntry, {
  minLength: 1,
  maxLength: 4,
  selector: ({ owner, osn, units }) => `${owner} ${osn} ${units < 0n}`,
})

/**
 * Which posts must be stored, and the balances after them: posts are stored one after the other,
 * each whole or not at all.
 */
function expectedLedger(posts: readonly (readonly NewEntry[])[]) {
  const keys = new Set<string>()
  let balances = new Map<number, bigint>()
  const stored = posts.map((post) => {
    const after = new Map(balances)
    let fits = post.every(({ uid: owner, osn, type }) => !keys.has(`${owner} ${osn} ${type}`))
    for (const { uid: owner, amount: units } of post) {
      after.set(owner, (after.get(owner) ?? 0n) + units)
      fits &&= (after.get(owner) ?? 0n) >= 0n
    }
    if (!fits) return false
    balances = after
    for (const { uid: owner, osn, type } of post) keys.add(`${owner} ${osn} ${type}`)
    return true
  })
  return { stored, balances }
}

it('the balances are the sums of the stored entries, whatever is posted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyPost, { maxLength: 6 }), async (drawn) => {
      db = await openDatabase()
      const posts = drawn.map((post) => post.map(({ owner, osn, units }) => pay(units, { uid: uid(owner), osn })))
      const stored: boolean[] = []
      for (const post of posts) stored.push((await storePost(db, post, shop, ms(20))).stored)
      const expected = expectedLedger(posts)
      expect(stored).toEqual(expected.stored)
      for (const owner of [3, 4, 5]) {
        const sum = (await all(owner)).reduce((total, { amount: units }) => total + units, 0n)
        expect([(await balance(owner)) ?? 0n, sum]).toEqual([
          expected.balances.get(owner) ?? 0n,
          expected.balances.get(owner) ?? 0n,
        ])
      }
    }),
    { numRuns: 20 },
  )
})
