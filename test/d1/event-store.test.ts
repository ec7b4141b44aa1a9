import { beforeEach, describe, expect, it } from 'vitest'
import type { EndpointKey, EventId } from '../../src/common/ids.ts'
import { createEventStore } from '../../src/d1/event-store.ts'
import { createStores } from '../../src/d1/stores.ts'
import type { StoredEvent } from '../../src/events/event.ts'
import { eventsMax } from '../../src/events/event-store.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  amount,
  block,
  cuy,
  deposit,
  issue,
  ms,
  pending,
  sighting,
  startScan,
  step,
  txid,
  uid,
} from './fixtures.ts'
import { watch } from './watch.ts'

let db: D1Database
let stores: Stores

beforeEach(async () => {
  db = await freshDatabase()
  stores = createStores(db, () => {})
  await issue(db, [1, 2])
  await startScan(stores.scanStore)
})

const id = (n: number) => n as EventId
const endpoint = (n: number) => n.toString(16).padStart(64, '0') as EndpointKey
const idsOf = (events: readonly StoredEvent[]) => events.map((event) => event.id)

/** Stores so many events of a kind that has no other row. */
async function storeDropped(count: number, at = 5): Promise<void> {
  await db
    .prepare(
      `INSERT INTO event (type, uid, created_at, txid, position)
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       SELECT 'deposit.dropped', 1, ?, printf('%064x', n), 0 FROM numbers`,
    )
    .bind(count, at)
    .run()
}

describe('after', () => {
  it('reads what each type of event reports', async () => {
    const seen = sighting({ txid: txid(9), block: block(101) })
    await stores.sightings.update([seen], ms(1500))
    await stores.scanStore.append(step({ at: ms(1600) }))
    await stores.sightings.update([], ms(1700))
    await stores.deposits.credit([deposit(), deposit({ txid: txid(2), native: false, position: 12 })], ms(1800))
    const worthless = { outcome: 'below-minimum', amount: amount(0n) } as const
    await stores.deposits.credit([deposit({ txid: txid(3), ...worthless })], ms(1900))
    await stores.pending.keep([pending({ txid: txid(4), reason: 'disagreement' })], ms(2000))
    const { reason, ...rest } = pending({ txid: txid(5) })
    await stores.pending.refuse([{ ...rest, reason: { kind: 'other-contract', type: 2 } }], ms(2100))

    const transfer = { position: 0, cuy: cuy(1), raw: 5n, address: addressAt(0) }
    const events = await stores.events.after(0, eventsMax)
    expect(events.map(({ fact }) => fact)).toMatchObject([
      { type: 'deposit.seen', txid: txid(9), ...transfer, decimals: 6, seconds: 57 },
      { type: 'deposit.dropped', txid: txid(9), position: 0 },
      { type: 'deposit.credited', txid: txid(1), position: 0, address: addressAt(0), entry: { id: 1, amount: 5n } },
      { type: 'deposit.credited', txid: txid(2), position: 12, address: addressAt(0), entry: { id: 2, amount: 5n } },
      { type: 'deposit.refused', txid: txid(3), ...transfer, reason: { kind: 'below-minimum' } },
      { type: 'deposit.held', txid: txid(4), ...transfer, reason: 'disagreement' },
      { type: 'deposit.refused', txid: txid(5), ...transfer, reason: { kind: 'other-contract', type: 2 } },
    ])
    expect(events.map(({ uid: owner, createdAt }) => [owner, createdAt])).toEqual(
      [1500, 1600, 1800, 1800, 1900, 2000, 2100].map((at) => [uid(1), at]),
    )
    expect(idsOf(events)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('reads pages in order, and an empty one at the end', async () => {
    await storeDropped(150)
    const first = await stores.events.after(0, eventsMax)
    const second = await stores.events.after(id(100), eventsMax)
    expect([...idsOf(first), ...idsOf(second)]).toEqual(Array.from({ length: 150 }, (_, i) => i + 1))
    expect(await stores.events.after(id(150), eventsMax)).toEqual([])
    expect(await stores.events.after(id(9_000), eventsMax)).toEqual([])
  })

  it('reads as many rows at any depth', async () => {
    await storeDropped(5_000)
    const { db: watched, spent } = watch(db)
    const events = createEventStore(watched)
    await events.after(0, eventsMax)
    const { rows } = spent()
    await events.after(id(4_900), eventsMax)
    expect(spent()).toEqual({ rows, trips: 1 })
    expect(rows).toBeLessThanOrEqual(3 * eventsMax)
    await events.after(id(5_000), eventsMax)
    expect(spent().rows).toBeLessThanOrEqual(1)
  })

  it('reads three rows for an event of a deposit', async () => {
    await storeDropped(1_000)
    await stores.deposits.credit(
      Array.from({ length: 50 }, (_, n) => deposit({ txid: txid(n) })),
      ms(5),
    )
    const { db: watched, spent } = watch(db)
    expect(await createEventStore(watched).after(id(1_000), eventsMax)).toHaveLength(50)
    expect(spent().rows).toBeLessThanOrEqual(3 * 50)
  })
})

describe('removeOld', () => {
  const left = async () => idsOf(await stores.events.after(0, eventsMax))

  it('removes the oldest events in slices, and none that is younger', async () => {
    await storeDropped(5, 10)
    await storeDropped(2, 20)
    await stores.events.removeOld(ms(15), 3)
    expect(await left()).toEqual([4, 5, 6, 7])
    await stores.events.removeOld(ms(15), 3)
    await stores.events.removeOld(ms(15), 3)
    expect(await left()).toEqual([6, 7])
  })

  it('removes none that an endpoint has not received', async () => {
    await stores.webhookStore.register([{ key: endpoint(1), number: 1 }])
    await storeDropped(5, 10)
    await stores.webhookStore.register([1, 2].map((n) => ({ key: endpoint(n), number: n })))
    await stores.events.removeOld(ms(15), 10)
    expect(await left()).toEqual([1, 2, 3, 4, 5])
    await db.prepare('UPDATE webhook SET position = 3 WHERE number = 1').run()
    await stores.events.removeOld(ms(15), 10)
    expect(await left()).toEqual([4, 5])
    await stores.webhookStore.register([])
    await stores.events.removeOld(ms(15), 10)
    expect(await left()).toEqual([])
    await storeDropped(1)
    expect(await left()).toEqual([6])
  })

  it('reads one row where the oldest event is kept', async () => {
    await storeDropped(500, 20)
    const { db: watched, spent } = watch(db)
    await createEventStore(watched).removeOld(ms(15), 500)
    expect(spent().rows).toBeLessThanOrEqual(2)
  })
})
