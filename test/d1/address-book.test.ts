import { beforeEach, describe, expect, it } from 'vitest'
import {
  isBookEmpty,
  issueNext,
  matchAddresses,
  selectAddresses,
  selectCurrent,
} from '../../src/worker/addresses/store/address-book.ts'
import type { Address } from '../../src/worker/chain/address.ts'
import { type WriteDatabase, writable } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { selectScan, storeFinalized } from '../../src/worker/scan/store/position.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  block,
  credited,
  held,
  issue,
  measure,
  ms,
  numbers,
  openDatabase,
  refused,
  seen,
  transfer,
  txid,
  uid,
  upTo,
  withoutTriggers,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase()
})

const first = async (owner: number, index = 0) => {
  const issued = await issueNext(db, uid(owner), nextFrom(index), null)
  if (issued === null || issued === 'payout-address') throw new Error('the first address has no limit')
  return issued
}
const nextFrom = (firstIndex: number, payoutAddress: Address | null = null) => ({
  addressAt,
  firstIndex,
  payoutAddress,
})
const further = (owner: number, limit: number, index = 0) => issueNext(db, uid(owner), nextFrom(index), limit)

const indices = async () =>
  (await db.prepare('SELECT derivation_index FROM address ORDER BY id').raw<[number]>()).flat()

describe('the first address', () => {
  it("issues the address of the next index as the caller's current one", async () => {
    expect(await first(7)).toEqual({ id: 1, uid: 7, address: addressAt(0) })
    expect(await first(8)).toEqual({ id: 2, uid: 8, address: addressAt(1) })
    expect(await selectCurrent(db, uid(8))).toEqual({ id: 2, uid: 8, address: addressAt(1) })
  })

  it('is never the address that pays out: the callers before it get theirs, and nobody after it', async () => {
    const next = nextFrom(0, addressAt(2))
    const issue = (owner: number) => issueNext(db, uid(owner), next, null)
    expect(await Promise.all([7, 8].map(issue))).toMatchObject([{ uid: 7 }, { uid: 8 }])
    for (const owner of [9, 10]) expect(await issue(owner)).toBe('payout-address')
    expect(await issueNext(db, uid(7), next, 20)).toBe('payout-address')
    expect(await indices()).toEqual([0, 1])
    expect(await issue(7)).toMatchObject({ uid: 7 })
  })

  it('issues one address for two hundred concurrent calls of one caller', async () => {
    const issued = await Promise.all(upTo(200).map(() => first(7)))
    expect(new Set(issued.map((one) => one.address))).toEqual(new Set([addressAt(0)]))
    expect(await indices()).toEqual([0])
  })

  it('issues two hundred different addresses without a gap for concurrent calls of two hundred callers', async () => {
    const issued = await Promise.all(upTo(200).map((n) => first(n + 1)))
    expect(new Set(issued.map((one) => one.address)).size).toBe(200)
    expect(issued.map((one) => one.uid)).toEqual(upTo(200).map((n) => n + 1))
    for (const one of issued) expect(one.address).toBe(addressAt(one.id - 1))
    expect(await indices()).toEqual(upTo(200))
  })

  it('starts at the first index of an empty database, and goes on without a gap', async () => {
    expect(await first(7, 5)).toEqual({ id: 6, uid: 7, address: addressAt(5) })
    expect(await further(8, 20, 100)).toMatchObject({ id: 7 })
    expect(await further(8, 20, 0)).toMatchObject({ id: 8 })
  })

  it('stores the finalized height at the moment of its insertion, and issues nothing before the scan has started', async () => {
    await first(7)
    const scan = await selectScan(db)
    await storeFinalized(db, { correctedBy: scan?.correctedBy ?? -1 }, { ...block(140), timestamp: ms(2) }, ms(2))
    await first(8)
    expect([...(await matchAddresses(db, [addressAt(0), addressAt(1)])).values()]).toEqual([
      { uid: 7, issuedHeight: 120, isForOrders: false },
      { uid: 8, issuedHeight: 140, isForOrders: false },
    ])
    db = writable(await freshDatabase())
    await expect(first(7)).rejects.toThrow('address.issued_height')
  })

  it('works for the largest uid', async () => {
    await first(Number.MAX_SAFE_INTEGER)
    expect((await selectCurrent(db, uid(Number.MAX_SAFE_INTEGER)))?.uid).toBe(Number.MAX_SAFE_INTEGER)
  })
})

describe('a further address', () => {
  it('issues a further address and makes it the current one', async () => {
    const one = await first(7)
    const second = await further(7, 20)
    expect(second).toEqual({ id: 2, uid: 7, address: addressAt(1) })
    expect(await selectCurrent(db, uid(7))).toEqual(second)
    expect(await selectAddresses(db, uid(7), 1_000)).toEqual([one, second])
  })

  it('refuses when the number of addresses without a deposit has reached the gap limit', async () => {
    for (const _ of upTo(3)) expect(await further(7, 3)).toMatchObject({ uid: 7 })
    expect(await further(7, 3)).toBeNull()
    expect(await further(8, 3)).toMatchObject({ uid: 8, id: 4 })
    const pay = (n: number, verdict = credited()) =>
      transfer(verdict, { txid: txid(n), uid: uid(7), to: addressAt(n), block: block(121) })
    await db.prepare('UPDATE scan SET finalized = 130').run()
    await storeTransfers(db, [pay(0, seen()), pay(1), pay(2, seen())], ms(1))
    expect(await further(7, 3)).toMatchObject({ uid: 7, id: 5 })
    expect(await further(7, 3)).toBeNull()
    await storeTransfers(db, [pay(0, held()), pay(2, refused)], ms(1))
    expect(await further(7, 3)).toMatchObject({ id: 6 })
  })

  it('stays within the gap limit, shares no address and leaves no gap for concurrent calls', async () => {
    const calls = upTo(200).map((n) => further((n % 5) + 1, 20))
    const issued = await Promise.all(calls)
    expect(issued.filter((one) => one === null)).toHaveLength(100)
    expect(await indices()).toEqual(upTo(100))
    for (const owner of [1, 2, 3, 4, 5]) expect(await selectAddresses(db, uid(owner), 1_000)).toHaveLength(20)
  })
})

describe('current and all', () => {
  it('return null and an empty list before the first address', async () => {
    expect(await isBookEmpty(db)).toBe(true)
    await issue(db, [1])
    expect(await isBookEmpty(db)).toBe(false)
    expect(await selectCurrent(db, uid(2))).toBeNull()
    expect(await selectAddresses(db, uid(2), 1_000)).toEqual([])
  })

  it("return only the caller's own addresses, oldest first", async () => {
    await issue(db, [1, 2, 1])
    expect((await selectAddresses(db, uid(1), 1_000)).map((one) => one.id)).toEqual([1, 3])
    expect(await selectCurrent(db, uid(1))).toMatchObject({ id: 3 })
  })
})

describe('match', () => {
  it('returns the owners of the addresses that were issued', async () => {
    await issue(db, [1, 2, 1])
    const list = [addressAt(2), addressAt(9), addressAt(1), addressAt(2)]
    expect(await matchAddresses(db, list)).toEqual(
      new Map([
        [addressAt(2), { uid: 1, issuedHeight: 90, isForOrders: false }],
        [addressAt(1), { uid: 2, issuedHeight: 90, isForOrders: false }],
      ]),
    )
    expect(await matchAddresses(db, [])).toEqual(new Map())
  })

  it('accepts more addresses than fit into one bound text', async () => {
    await issue(db, [1, 2])
    const strangers = upTo(50_000).map((n) => n.toString(16).padStart(40, 'c') as Address)
    expect(await matchAddresses(db, [...strangers, addressAt(1)])).toEqual(
      new Map([[addressAt(1), { uid: 2, issuedHeight: 90, isForOrders: false }]]),
    )
  })

  it('reads as many rows as there are addresses in the list, however many were issued', async () => {
    await withoutTriggers(db, [
      `${numbers(100_000)} INSERT INTO stored_address (id, uid, address, issued_height, created_at)
        SELECT i, i, unhex(printf('%040x', i + 159)), 90, 0 FROM n`,
    ])
    const list = [addressAt(7), addressAt(2_000), addressAt(200_000)]
    const { result, rows, trips } = await measure(db, (metered) => matchAddresses(metered, list))
    expect(list.map((one) => result.get(one)?.uid)).toEqual([8, 2001, undefined])
    expect(trips).toBe(1)
    expect(rows).toBeLessThanOrEqual(8)
    const current = await measure(db, (metered) => issueNext(metered, uid(500_000), nextFrom(0), null))
    expect(current.result).toMatchObject({ id: 100_001 })
    expect(current.rows).toBeLessThan(60)
  })
})
