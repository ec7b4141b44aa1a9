import { describe, expect, it } from 'vitest'
import { endpointQueriesMax } from '../../src/platform/limits.ts'
import { answerMs } from '../../src/webhooks/deliver-event.ts'
import { eventually, startHarness, type WebhookHarness } from './harness.ts'
import { hang, startReceiver, status } from './receiver.ts'

describe('the deliveries of a minute', () => {
  it('bring each endpoint what is stored, and what is stored until the last tick', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()]
    const h = await startHarness({ receiver: first }, { receiver: second })
    await h.happen(2)
    const deliveries = h.start()
    await eventually(() => first.requests.length === 2 && second.requests.length === 2)
    await h.happen(1)
    deliveries.notify()
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
    deliveries.notify()
    await eventually(() => healthy.requests.length === 31)
    expect(healthy.events()).toEqual(Array.from({ length: 31 }, (_, i) => i + 1))
    deliveries.end()
    for (let i = 0; i < 8; i += 1) await h.clock.advance(answerMs)
    await deliveries.finished
    expect([1, 2, 3, 4].map((n) => h.row(n).position)).toEqual([0, 0, 0, 0])
  })

  it('to one endpoint are delayed by no number of others that begin to hang at the same time', async () => {
    const hanging = await Promise.all(Array.from({ length: 9 }, () => startReceiver(hang)))
    const healthy = await startReceiver()
    const h = await startHarness(...[...hanging, healthy].map((receiver) => ({ receiver })))
    await h.happen(60)
    const deliveries = h.start()
    // The time stands still: all nine requests are still under way.
    await eventually(() => healthy.requests.length === 60)
    await eventually(() => hanging.every(({ requests }) => requests.length === 1))
    expect(healthy.events()).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    deliveries.end()
    for (let i = 0; i < 8; i += 1) await h.clock.advance(answerMs)
    await deliveries.finished
  })

  it('of 540 credits at once reach an endpoint within the minute, in order', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(540)
    const deliveries = h.start()
    deliveries.end()
    await deliveries.finished
    expect(receiver.events()).toEqual(Array.from({ length: 540 }, (_, i) => i + 1))
    expect(h.row()).toMatchObject({ position: 540, lease: '' })
  })

  it('of a backlog end where the endpoint has used its part, and go on in the next minute', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()]
    const h = await startHarness({ receiver: first, types: ['deposit.credited'] }, { receiver: second })
    const count = endpointQueriesMax + 50
    await h.happen(count)
    h.replay(2, count - 1)
    const deliveries = h.start()
    await eventually(() => h.row(1).lease === '' && first.requests.length > endpointQueriesMax * 0.9)
    expect(first.requests.length).toBeLessThan(endpointQueriesMax)
    await h.happen(1)
    deliveries.notify()
    await eventually(() => second.requests.length === 2)
    deliveries.end()
    await deliveries.finished
    await h.happen(1)
    const next = h.start()
    next.end()
    await next.finished
    expect(first.events()).toEqual(Array.from({ length: count + 2 }, (_, i) => i + 1))
  })

  it('begin within the minute, however long the answers take', async () => {
    const receiver = await startReceiver((response, request) => {
      void h.clock.advance(5_000).then(() => status(204)(response, request))
    })
    const h = await startHarness({ receiver })
    await h.happen(30)
    const deliveries = h.start()
    deliveries.end()
    await deliveries.finished
    expect(receiver.events()).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(h.row()).toMatchObject({ position: 12, lease: '', attempts: 0 })
  })

  it.each([
    ['retry within the minute', (_: WebhookHarness) => undefined],
    ['retry within the minute also where a timer ends too early', ({ clock }: WebhookHarness) => clock.wakeEarly()],
  ])('%s', async (_, disturb) => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(1)
    const deliveries = h.start()
    deliveries.end()
    await eventually(() => h.row().attempts === 1)
    receiver.answer = status(200)
    disturb(h)
    await h.clock.advance(5_000)
    await deliveries.finished
    expect(receiver.events()).toEqual([1, 1])
    expect(h.row()).toMatchObject({ position: 1, attempts: 0 })
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

  it('to the others go on where those to one endpoint crash', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()]
    const h = await startHarness({ receiver: first }, { receiver: second })
    const { take } = h.webhookStore
    h.webhookStore.take = async (key, ...rest) => {
      if (key === h.endpoints[0]?.key) throw new Error('D1_ERROR: the database is away')
      return take(key, ...rest)
    }
    await h.happen(2)
    const deliveries = h.start()
    await eventually(() => second.requests.length === 2)
    await h.happen(1)
    deliveries.notify()
    await eventually(() => second.requests.length === 3)
    deliveries.end()
    await deliveries.finished
    expect(first.requests).toEqual([])
    expect(h.lines.map((line) => JSON.parse(line))).toContainEqual({
      ...{ level: 'error', event: 'webhooks-crashed', endpoint: 1, why: 'D1_ERROR: the database is away' },
    })
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
