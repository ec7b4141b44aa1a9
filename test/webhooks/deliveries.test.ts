import { describe, expect, it } from 'vitest'
import { answerMs } from '../../src/webhooks/deliver-event.ts'
import { eventually, startHarness } from './harness.ts'
import { hang, startReceiver, status } from './receiver.ts'

describe('the deliveries of a minute', () => {
  it('bring each endpoint what is stored, and what is stored until the last tick', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()]
    const h = await startHarness({ receiver: first }, { receiver: second })
    await h.happen(2)
    const deliveries = h.start()
    await eventually(() => first.requests.length === 2 && second.requests.length === 2)
    await h.happen(1)
    deliveries.wake()
    await eventually(() => first.requests.length === 3)
    deliveries.end()
    await deliveries.finished
    expect([first.events(), second.events()]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
  })

  it('to one endpoint are delayed by no other one that hangs, fails, redirects or has vanished', async () => {
    const hanging = await startReceiver(hang)
    const failing = await startReceiver(status(500))
    const redirecting = await startReceiver(status(301, { location: '/' }))
    const vanished = await startReceiver()
    await vanished.close()
    const healthy = await startReceiver()
    const others = [hanging, failing, redirecting, vanished].map((receiver) => ({ receiver }))
    const h = await startHarness(...others, { receiver: healthy })
    await h.happen(30)
    const deliveries = h.start()
    // The time stands still: the request to the hanging one is still under way.
    await eventually(() => healthy.requests.length === 30)
    expect(hanging.requests).toHaveLength(1)
    await h.happen(1)
    deliveries.wake()
    await eventually(() => healthy.requests.length === 31)
    expect(healthy.events()).toEqual(Array.from({ length: 31 }, (_, i) => i + 1))
    deliveries.end()
    for (let i = 0; i < 8; i += 1) await h.clock.advance(answerMs)
    await deliveries.finished
    expect([1, 2, 3, 4].map((n) => h.row(n).position)).toEqual([0, 0, 0, 0])
  })

  it('retry within the minute', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(1)
    const deliveries = h.start()
    deliveries.end()
    await eventually(() => h.row().attempts === 1)
    receiver.answer = status(200)
    await h.clock.advance(5_000)
    await deliveries.finished
    expect(receiver.events()).toEqual([1, 1])
    expect(h.row()).toMatchObject({ position: 1, attempts: 0 })
  })

  it('take connections of their own for endpoints that were failing before', async () => {
    const down = [await startReceiver(status(500)), await startReceiver(status(500)), await startReceiver(status(500))]
    const healthy = await startReceiver()
    const h = await startHarness(...[...down, healthy].map((receiver) => ({ receiver })))
    await h.happen(1)
    for (const n of [1, 2, 3]) await h.turn(n)
    await h.clock.advance(5_000)
    for (const receiver of down) receiver.answer = hang
    const deliveries = h.start()
    await eventually(() => healthy.requests.length === 1)
    await h.happen(5)
    deliveries.wake()
    await eventually(() => healthy.requests.length === 6)
    // Of the three only one has a connection.
    expect(down.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(down.length + 1)
    deliveries.end()
    for (let i = 0; i < 8; i += 1) await h.clock.advance(answerMs)
    await deliveries.finished
  })

  it('are made by one of two invocations at a time', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(10)
    const both = [h.start(), h.start()]
    for (const { end } of both) end()
    await Promise.all(both.map(({ finished }) => finished))
    expect(receiver.events()).toEqual(Array.from({ length: 10 }, (_, i) => i + 1))
  })

  it('end without an exception where the database fails', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    h.webhookStore.register = () => Promise.reject(new Error('D1_ERROR: the database is away'))
    const deliveries = h.start()
    deliveries.end()
    await deliveries.finished
    expect(h.lines.join()).toContain('"event":"webhooks-crashed"')
  })
})
