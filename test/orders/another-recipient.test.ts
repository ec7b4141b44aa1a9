import { expect, it } from 'vitest'
import { issueNext } from '../../src/worker/addresses/store/address-book.ts'
import type { Address } from '../../src/worker/chain/address.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { dropPassed, removeDropped, storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import type { Verdict } from '../../src/worker/deposits/transfer.ts'
import { addressAt, block, credited, height, nth, seen, uid } from '../d1/fixtures.ts'
import {
  after,
  ask,
  askOne,
  balance,
  day,
  expire,
  finalize,
  hour,
  minute,
  openOrders,
  order,
  pay,
  read,
  sayOne,
  second,
  see,
} from './harness.ts'

// A node shows a transfer to the address of an order in a block that is not final. By the final
// block the same transfer goes to an address that is for no order.

const units = 25_000_000n

/** Issues an address to user 8, who has no orders. */
async function issueOther(db: WriteDatabase): Promise<Address> {
  const next = { addressAt, firstIndex: 0, payoutAddress: null }
  const issued = await issueNext(db, uid(8), next, null)
  if (issued === null || issued === 'payout-address') throw new Error('no address was issued')
  return issued.address
}

/** The transfer of the transaction `n`, as a block at this height shows it to user 8. */
const elsewhere = (n: number, to: Address, verdict: Verdict, at = 250) =>
  nth(n, verdict, { to, raw: units, block: block(at), uid: uid(8) })

/** An order whose deposit turns out to go to user 8. Returns the address of that user. */
async function openMisled(changes: object = {}) {
  const db = await openOrders()
  const one = await askOne(db, { until: new Date(after(hour)).toISOString(), ...changes })
  const to = await issueOther(db)
  await see(db, 1, { to: one.address, units, madeAt: after(minute) })
  expect(await sayOne(db)).toBe('open 0 seen 25')
  return { db, one, to }
}

/**
 * Removes the transfer to user 8, which is in no block either, a day later. The next transfer gets
 * its id.
 */
async function removeMisled({ db, to }: { readonly db: WriteDatabase; readonly to: Address }) {
  await storeTransfers(db, [elsewhere(1, to, seen(), 251)], after(2 * minute))
  await db
    .prepare('UPDATE scan SET finalized = 260, height = 255, hash = ?, tried_at = ?')
    .bind(block(255).hash, after(3 * day))
    .run()
  await db.batch([dropPassed(db, height(255), after(2 * minute))])
  await removeDropped(db, 10)
  expect(await db.prepare('SELECT count(*) AS n FROM stored_transfer').first('n')).toBe(0)
}

it('an order shows nothing of a deposit of somebody else', async () => {
  const { db, to } = await openMisled()
  await finalize(db, 250)
  await storeTransfers(db, [elsewhere(1, to, credited(units))], after(2 * minute))
  expect((await read(db)).deposits).toEqual([])
  expect(await sayOne(db)).toBe('open 0')
})

it('a deposit of somebody else is not what came in time', async () => {
  const { db, one, to } = await openMisled()
  await finalize(db, 250)
  await storeTransfers(db, [elsewhere(1, to, credited(units))], after(2 * minute))
  await expire(db, after(2 * hour))
  await pay(db, 2, { to: one.address, units, madeAt: after(3 * hour), height: 260 })
  expect(await sayOne(db)).toBe('paid 25 late')
})

it('an order takes nothing of what arrives after its hold', async () => {
  const misled = await openMisled({ take: true })
  const { db, one } = misled
  await removeMisled(misled)
  await expire(db, after(2 * hour))
  await pay(db, 2, { to: one.address, units, madeAt: after(3 * day), height: 258 })
  expect(await sayOne(db)).toBe('expired 0')
  expect(await balance(db)).toBe(25)
})

it('the next order of the address is paid, and nothing stands still', async () => {
  const misled = await openMisled()
  const { db, one } = misled
  await removeMisled(misled)
  await expire(db, after(2 * hour))
  const [next] = await ask(db, [order('B')], after(3 * day))
  expect(next?.address).toBe(one.address)
  await pay(db, 2, {
    to: one.address,
    units,
    madeAt: after(3 * day + minute),
    height: 262,
    at: after(3 * day + minute + second),
  })
  expect(await sayOne(db, 'B')).toBe('paid 25')
})
