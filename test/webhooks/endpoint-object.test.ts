import { describe, expect, it } from 'vitest'
import { writable } from '../../src/worker/d1/database.ts'
import { answerMs } from '../../src/worker/webhooks/deliver-events.ts'
import { eventually, startHarness } from './harness.ts'
import { hang, startReceiver, status } from './receiver.ts'

const hourMs = 3_600_000
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe('the object of an endpoint', () => {
  it('is delayed by no other one that hangs, fails, redirects or has vanished', async () => {
    const hanging = await startReceiver(hang)
    const failing = await startReceiver(status(500))
    const redirecting = await startReceiver(status(301, { location: '/' }))
    const vanished = await startReceiver()
    await vanished.close()
    const healthy = await startReceiver()
    const h = await startHarness(
      ...[hanging, failing, redirecting, vanished, healthy].map((receiver) => ({ receiver })),
    )
    await h.happen(30)
    const deliveries = [1, 2, 3, 4, 5].map((n) => h.wake(n))
    await deliveries[4]
    // The clock stands still, so the request that hangs cannot time out.
    await eventually(() => hanging.requests.length === 1)
    expect(healthy.events()).toEqual(numbers(30))
    await h.happen(1)
    await h.wake(5)
    expect(healthy.events()).toEqual(numbers(31))
    await h.clock.advance(answerMs)
    await Promise.all(deliveries)
    expect([1, 2, 3, 4].map((n) => h.row(n).position)).toEqual([0, 0, 0, 0])
  })

  it('delivers what is stored while it delivers, where it is woken meanwhile', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(1)
    const object = h.open()
    const key = h.endpoints[0]?.key as never
    receiver.answer = (response, request) => {
      receiver.answer = status(204)
      void h
        .happen(1)
        .then(() => object.wake(key))
        .then(() => status(204)(response, request))
    }
    await object.wake(key)
    await h.run(1, object)
    expect(receiver.events()).toEqual([1, 2])
    expect(h.host().alarmAt).toBeNull()
  })

  it('goes on where an instance is killed after a delivery, with the same id, and loses nothing', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(30)
    let queries = 0
    const db = writable({
      prepare: (sql: string) => {
        queries += 1
        // after the first batch of events its position was stored; this query would store the
        // second position
        if (queries === 4) throw new Error('killed')
        return h.db.prepare(sql)
      },
      batch: (statements: D1PreparedStatement[]) => h.db.batch(statements),
    })
    await h.wake(1, { db })
    expect(receiver.events()).toEqual(numbers(30))
    expect(h.row()).toMatchObject({ position: 20 })
    expect(h.host().alarmAt).toBe(h.clock.now() + 30_000)
    await h.clock.advance(30_000)
    await h.run()
    expect(receiver.events()).toEqual([...numbers(30), ...numbers(30).slice(20)])
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(ids.slice(30)).toEqual(ids.slice(20, 30))
    expect(h.row()).toMatchObject({ position: 30 })
  })

  it.each([
    ['was well', status(204)],
    ['has failed', status(500)],
  ])('delivers at once after a clock that was ahead has stepped back, if it %s before', async (_, answer) => {
    const receiver = await startReceiver(answer)
    const h = await startHarness({ receiver })
    h.clock.jump(hourMs)
    await h.happen(1)
    await h.wake()
    h.clock.stepBack(hourMs)
    receiver.answer = status(204)
    await h.happen(1)
    let woken = 0
    await h.watch({
      wakeEndpoints: () => {
        woken += 1
      },
    })
    expect(woken).toBe(1)
    await h.wake()
    expect(receiver.events().at(-1)).toBe(2)
    expect(h.row()).toMatchObject({ position: 2, next_try: 0 })
  })

  it('tries again where the database fails, and the line says why', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(1)
    const away = () => {
      throw new Error('D1_ERROR: the database is away')
    }
    await h.wake(1, { db: writable({ prepare: away, batch: away }) })
    expect(h.lines.join()).toContain('"event":"webhooks-crashed","endpoint":1')
    expect(h.lines.join()).toContain('D1_ERROR: the database is away')
    await h.clock.advance(30_000)
    await h.run()
    expect(receiver.events()).toEqual([1])
  })

  it('delivers in order where two instances overlap, and the one that was overtaken ends', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(50)
    const other = { done: false }
    receiver.answer = (response, request) => {
      if (receiver.requests.length !== 5) return status(204)(response, request)
      // A second instance delivers all 50 events while the first one waits for the answer to its
      // fifth.
      void h
        .open()
        .alarm()
        .then(() => {
          other.done = true
          status(204)(response, request)
        })
    }
    await h.wake()
    expect(other.done).toBe(true)
    const all = receiver.events()
    expect(all.slice(0, 5)).toEqual(numbers(5))
    expect(all.slice(5, 55)).toEqual(numbers(50))
    // the first instance goes on to the end of its batch, and then cannot store its position
    expect(all.slice(55)).toEqual(numbers(20).slice(5))
    expect(h.row()).toMatchObject({ position: 50 })
    expect(h.host().alarmAt).toBe(h.clock.now() + 5_000)
    await h.clock.advance(5_000)
    await h.run()
    expect(receiver.events()).toHaveLength(all.length)
  })

  it('goes on from a position that an operator has set meanwhile', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(30)
    receiver.answer = (response, request) => {
      if (receiver.requests.length === 25) h.replay(1, 28)
      status(204)(response, request)
    }
    await h.wake()
    expect(h.row()).toMatchObject({ position: 28 })
    await h.clock.advance(5_000)
    await h.run()
    expect(receiver.events().slice(30)).toEqual([29, 30])
  })

  it('does nothing where its endpoint is no longer configured, and sets no alarm', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.wake(1, { endpoints: [] })
    expect([receiver.requests, h.host().alarmAt, h.row().position]).toEqual([[], null, 0])
    await h.wake()
    expect(receiver.events()).toEqual([1])
  })

  it('delivers nothing where the stored data is not that of the configuration, and looks again', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.wake(1, { configMatchesData: async () => false })
    expect(receiver.requests).toEqual([])
    await h.clock.advance(30_000)
    await h.run()
    expect(receiver.events()).toEqual([1])
  })

  it('begins a new endpoint with the next event, and one that was away with what it lacks', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(3)
    const late = { ...h.endpoints[0], key: 'f'.repeat(64), number: 2 } as never
    const object = h.open(1, { endpoints: [late] })
    await object.wake('f'.repeat(64) as never)
    await h.run(1, object)
    await h.happen(1)
    await object.wake('f'.repeat(64) as never)
    await h.run(1, object)
    expect(receiver.events()).toEqual([4])
    await h.wake() // the instance has the first endpoint in its configuration again
    expect(receiver.events()).toEqual([4, 1, 2, 3, 4])
  })
})
