import { describe, expect, it } from 'vitest'
import { minuteDeliveryQueriesMax, promptAnswerMs } from '../../src/platform/limits.ts'
import { answerMs } from '../../src/webhooks/deliver-event.ts'
import { eventually, startHarness } from './harness.ts'
import { type Answer, hang, startReceiver, status } from './receiver.ts'

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

  it('to healthy ones are delayed by at most a second for each pair that begins to hang at the same time', async () => {
    const hanging = [await startReceiver(hang), await startReceiver(hang), await startReceiver(hang)]
    const healthy = [await startReceiver(), await startReceiver()]
    const h = await startHarness(...[...hanging, ...healthy].map((receiver) => ({ receiver })))
    await h.happen(20)
    const deliveries = h.start()
    const began = () => hanging.map(({ requests }) => requests.length)
    await eventually(() => began().join() === '1,1,0')
    await h.clock.advance(promptAnswerMs - 1)
    expect(healthy.flatMap(({ requests }) => requests)).toEqual([])
    await h.clock.advance(1)
    // From here on the time stands still. The third one that hangs has one of the two connections.
    await eventually(() => healthy.every(({ requests }) => requests.length === 20))
    expect([1, 2, 3].map((n) => h.row(n).attempts)).toEqual([0, 0, 0])
    // The third one has the full time, since no other endpoint waits. To the others it is sent again with the full time.
    for (const n of [4, 5]) {
      await eventually(() => began().reduce((sum, count) => sum + count) === n)
      await h.clock.advance(answerMs)
    }
    await eventually(() => [1, 2, 3].every((n) => h.row(n).attempts === 1))
    deliveries.end()
    for (let i = 0; i < 8; i += 1) await h.clock.advance(answerMs)
    await deliveries.finished
    expect(healthy.map(({ requests }) => requests.length)).toEqual([20, 20])
  })

  it('take the full time for an answer where no other endpoint waits, and again after a request that gave way', async () => {
    const slow = await startReceiver(hang)
    const [second, third] = [await startReceiver(hang), await startReceiver()]
    const h = await startHarness(...[slow, second, third].map((receiver) => ({ receiver })))
    await h.happen(1)
    const deliveries = h.start()
    await eventually(() => slow.requests.length === 1 && second.requests.length === 1)
    let answer = () => {}
    slow.answer = (response, request) => {
      answer = () => status(200)(response, request)
    }
    await h.clock.advance(promptAnswerMs)
    await eventually(() => slow.requests.length === 2 && third.requests.length === 1)
    await h.clock.advance(answerMs - 1)
    answer()
    await eventually(() => h.row(1).position === 1)
    deliveries.end()
    for (let i = 0; i < 8; i += 1) await h.clock.advance(answerMs)
    await deliveries.finished
    const [first, again] = slow.requests.map(({ headers }) => headers['webhook-id'])
    expect(again).toBe(first)
    expect(h.row(1)).toMatchObject({ position: 1, attempts: 0, failing_since: null })
    expect(h.lines.filter((line) => line.includes('"endpoint":1'))).toEqual([])
  })

  it('of long backlogs take turns with those that wait for a connection', async () => {
    const later = (ms: number): Answer => {
      return (response, request) => void h.clock.advance(ms).then(() => status(204)(response, request))
    }
    const [first, second, third] = [await startReceiver(), await startReceiver(), await startReceiver()]
    const h = await startHarness(...[first, second, third].map((receiver) => ({ receiver })))
    for (const receiver of [first, second]) receiver.answer = later(200)
    await h.happen(40)
    const before: number[] = []
    third.answer = (response, request) => {
      before.push(first.requests.length)
      status(204)(response, request)
    }
    const deliveries = h.start()
    deliveries.end()
    await deliveries.finished
    expect([first, second, third].map((receiver) => receiver.events())).toEqual(
      Array(3).fill(Array.from({ length: 40 }, (_, i) => i + 1)),
    )
    expect(before[0]).toBeLessThan(12)
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

  it('of a backlog leave the others their part', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()]
    const h = await startHarness({ receiver: first, types: ['deposit.credited'] }, { receiver: second })
    await h.happen(350)
    h.replay(2, 349)
    const deliveries = h.start()
    const share = minuteDeliveryQueriesMax / 2
    await eventually(() => h.row(1).lease === '' && first.requests.length > share * 0.9)
    expect(first.requests.length).toBeLessThan(share)
    await h.happen(1)
    deliveries.notify()
    await eventually(() => second.requests.length === 2)
    deliveries.end()
    await deliveries.finished
    await h.happen(1)
    // The next minute goes on where the first one ended.
    const next = h.start()
    next.end()
    await next.finished
    expect(first.events()).toEqual(Array.from({ length: 352 }, (_, i) => i + 1))
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
    deliveries.notify()
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
