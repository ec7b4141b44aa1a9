import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { answerMs, setAsideMs } from '../../src/worker/webhooks/deliver-events.ts'
import { eventually, firstSecret, secondSecret, startHarness } from './harness.ts'
import { hang, type Receiver, reset, startReceiver, status } from './receiver.ts'

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/**
 * Verifies the newest request with the `standardwebhooks` package, at the time of its own
 * timestamp. Returns the event; throws if the signature is wrong.
 */
function verified(receiver: Receiver, secret: string): unknown {
  const request = receiver.requests.at(-1)
  if (request === undefined) throw new Error('nothing was received')
  vi.useFakeTimers({ now: Number(request.headers['webhook-timestamp']) * 1000 })
  try {
    return new Webhook(secret).verify(request.body, request.headers)
  } finally {
    vi.useRealTimers()
  }
}

describe('a delivery', () => {
  it('is the event as in the feed, signed as Standard Webhooks require', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.wake()
    expect(verified(receiver, firstSecret)).toMatchObject({
      id: 1,
      type: 'entry.posted',
      uid: 1,
      data: { entry: { id: 1, osn: 'order-1', amt: 0.0001, by: 'shop' } },
    })
    expect(() => verified(receiver, secondSecret)).toThrow('No matching signature found')
    const { headers } = receiver.requests[0] ?? {}
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `evt_1_${h.clock.now()}`,
      'webhook-timestamp': String(Math.floor(h.clock.now() / 1000)),
    })
  })

  it('is signed with both secrets while they rotate', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver, secrets: [firstSecret, secondSecret] })
    await h.happen(1)
    await h.wake()
    expect(verified(receiver, firstSecret)).toEqual(verified(receiver, secondSecret))
  })

  it('is of each event once and in order, and of none from before the endpoint', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(25)
    await h.wake()
    await h.happen(2)
    await h.wake()
    await h.wake()
    expect(receiver.events()).toEqual(numbers(1, 27))
    expect(h.row()).toMatchObject({ position: 27, attempts: 0, failing_since: null, last_failure: null })
  })

  it('is only of the types that the endpoint wants', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver, types: ['deposit.seen'] })
    await h.happen(120)
    await h.wake()
    expect(receiver.requests).toEqual([])
    expect(h.row()).toMatchObject({ position: 120 })
  })

  it('goes on in another run where one would become too long, at once', async () => {
    const receiver = await startReceiver((response, request) => {
      void h.clock.advance(7_000).then(() => status(204)(response, request))
    })
    const h = await startHarness({ receiver })
    await h.happen(20)
    const object = h.open()
    await object.wake(h.endpoints[0]?.key as never)
    h.host().alarmAt = null
    await object.alarm()
    expect(receiver.events()).toEqual(numbers(1, 9))
    expect([h.row().position, h.host().alarmAt]).toEqual([9, h.clock.now()])
    await h.run()
    expect(receiver.events()).toEqual(numbers(1, 20))
  })

  it('leaves no timer behind, however it ends', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(3)
    await h.wake()
    receiver.answer = reset
    await h.happen(1)
    await h.wake()
    expect([receiver.events(), h.clock.pending()]).toEqual([[1, 2, 3, 4], 0])
  })

  it('is recorded each second also where answers are slow', async () => {
    const positions: unknown[] = []
    const receiver = await startReceiver((response, request) => {
      positions.push(h.row().position)
      void h.clock.advance(600).then(() => status(204)(response, request))
    })
    const h = await startHarness({ receiver })
    await h.happen(5)
    await h.wake()
    expect(positions).toEqual([0, 0, 2, 2, 4])
  })
})

describe('a failed delivery', () => {
  it.each([
    ['a server error', status(500), 500],
    ['a refusal', status(404), 404],
    ['a redirect', status(302, { location: 'http://127.0.0.1:1/' }), 302],
    ['a lost connection', reset, 'unreachable'],
  ])('is %s', async (_, answer, shown) => {
    const receiver = await startReceiver(answer)
    const h = await startHarness({ receiver })
    await h.happen(2)
    await h.wake()
    expect(h.host().alarmAt).toBe(h.clock.now() + 5_000)
    expect(receiver.requests).toHaveLength(1)
    expect(h.row()).toMatchObject({
      position: 0,
      attempts: 1,
      failing_since: h.clock.now(),
      last_failure: String(shown),
    })
    expect(h.lines.map((line) => JSON.parse(line))).toEqual([
      { level: 'warn', event: 'webhook-failed', endpoint: 1, eventId: 1, attempts: 1, answer: shown },
    ])
  })

  it('is one without an answer within 10 s, and one to an endpoint that has vanished', async () => {
    const receiver = await startReceiver(hang)
    const h = await startHarness({ receiver })
    await h.happen(1)
    const delivery = h.wake()
    await eventually(() => receiver.requests.length === 1)
    await h.clock.advance(answerMs)
    await delivery
    expect(h.row()).toMatchObject({ attempts: 1, last_failure: 'no-answer-in-time' })
    await receiver.close()
    await h.clock.advance(5_000)
    await h.run()
    expect(h.row()).toMatchObject({ attempts: 2, last_failure: 'unreachable' })
  })

  it('keeps the position of what was delivered before it, and the next events wait', async () => {
    const receiver = await startReceiver((response, { body, headers }) => {
      status(body.includes('"id":3,"type"') ? 500 : 204)(response, { body, headers })
    })
    const h = await startHarness({ receiver })
    await h.happen(5)
    await h.wake()
    expect(receiver.events()).toEqual([1, 2, 3])
    expect(h.row()).toMatchObject({ position: 2, attempts: 1 })
  })

  it('is retried after 5 s, 30 s, 2 min, 10 min, then hourly, and the next event after it succeeds', async () => {
    const receiver = await startReceiver(status(503))
    const h = await startHarness({ receiver })
    await h.happen(2)
    const waits: number[] = []
    await h.wake()
    for (let i = 0; i < 7; i += 1) {
      waits.push((h.host().alarmAt ?? 0) - h.clock.now())
      await h.clock.advance(waits[i] ?? 0)
      if (i === 6) receiver.answer = status(200)
      await h.run()
    }
    expect(waits).toEqual([5, 30, 120, 600, 3600, 3600, 3600].map((seconds) => seconds * 1000))
    expect(receiver.events()).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2])
    expect(h.row()).toMatchObject({ position: 2, attempts: 0, failing_since: null, last_failure: null })
  })

  it('is not retried before its time, however often the endpoint is woken', async () => {
    const receiver = await startReceiver(status(503))
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.wake()
    const due = h.host().alarmAt
    await h.clock.advance(4_999)
    for (let i = 0; i < 3; i += 1) await h.wake()
    expect(receiver.requests).toHaveLength(1)
    expect(h.host().alarmAt).toBe(due)
  })

  it('for three days puts the event aside with an alarm for each, and the next ones go on', async () => {
    const receiver = await startReceiver((response, { body, headers }) => {
      status(/"id":[12],"type"/.test(body) ? 500 : 200)(response, { headers, body })
    })
    const h = await startHarness({ receiver })
    await h.happen(4)
    await h.wake()
    await h.clock.advance(setAsideMs - 1)
    await h.run()
    expect(h.row()).toMatchObject({ position: 0, attempts: 2 })
    await h.clock.advance(3_600_000)
    await h.run()
    expect(receiver.events()).toEqual([1, 1, 1, 2])
    expect(h.row()).toMatchObject({ position: 1, attempts: 1, set_aside: 1 })
    await h.clock.advance(setAsideMs)
    await h.run()
    expect(receiver.events()).toEqual([1, 1, 1, 2, 2, 3, 4])
    expect(h.row()).toMatchObject({ position: 4, attempts: 0, failing_since: null, set_aside: null })
    expect(h.lines.map((line) => JSON.parse(line)).filter(({ alarm }) => alarm === 'event-set-aside')).toEqual([
      {
        level: 'error',
        alarm: 'event-set-aside',
        endpoint: 1,
        eventId: 1,
        attempts: 3,
        answer: 500,
        urgency: 'this-week',
      },
      {
        level: 'error',
        alarm: 'event-set-aside',
        endpoint: 1,
        eventId: 2,
        attempts: 2,
        answer: 500,
        urgency: 'this-week',
      },
    ])
  })

  it('is forgotten where the endpoint no longer wants the event', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(2)
    await h.wake()
    await h.clock.advance(3_600_000)
    const endpoints = h.endpoints.map((one) => ({ ...one, types: new Set(['deposit.seen'] as const) }))
    await h.run(1, h.open(1, { endpoints }))
    expect(receiver.requests).toHaveLength(1)
    expect(h.row()).toMatchObject({ position: 2, attempts: 0, failing_since: null, last_failure: null })
  })

  it('does not shorten the three days of a later event where its own event was removed', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.wake()
    await h.clock.advance(setAsideMs)
    await h.happen(1)
    await h.watch({ eventsKeepDays: 1 })
    await h.run()
    expect(receiver.events()).toEqual([1, 2])
    expect(h.row()).toMatchObject({ position: 0, attempts: 2, set_aside: null })
    await h.clock.advance(setAsideMs)
    await h.run()
    expect(h.row()).toMatchObject({ position: 2, attempts: 0, set_aside: 2 })
  })

  it('has neither URL nor secret nor body in a log line', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.wake()
    await h.clock.advance(setAsideMs)
    await h.run()
    await h.watch()
    const log = h.lines.join('\n')
    expect(h.lines.length).toBeGreaterThanOrEqual(3)
    for (const secret of [receiver.url, 'secret-path', '127.0.0.1', firstSecret, firstSecret.slice(6), 'order-1']) {
      expect(log).not.toContain(secret)
    }
  })
})
