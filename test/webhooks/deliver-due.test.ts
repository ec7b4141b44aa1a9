import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { answerMs } from '../../src/webhooks/deliver-event.ts'
import { setAsideMs } from '../../src/webhooks/schedule.ts'
import { eventually, firstSecret, secondSecret, startHarness } from './harness.ts'
import { hang, type Receiver, reset, startReceiver, status } from './receiver.ts'

const day = 86_400_000

/** What the package accepts of the newest request, at the time that its timestamp has. */
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
    await h.turn()
    const event = verified(receiver, firstSecret)
    expect(event).toMatchObject({ id: 1, type: 'deposit.credited', uid: 1, data: { position: 0, entry: { id: 1 } } })
    expect(() => verified(receiver, secondSecret)).toThrow('No matching signature found')
    const { headers } = receiver.requests[0] ?? {}
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^evt_1_\d+$/),
    })
    expect(headers?.['webhook-timestamp']).toBe(String(Math.floor(h.clock.now() / 1000)))
  })

  it('is signed with both secrets while they rotate', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver, secrets: [firstSecret, secondSecret] })
    await h.happen(1)
    await h.turn()
    expect(verified(receiver, firstSecret)).toEqual(verified(receiver, secondSecret))
  })

  it('is of each event once, in order, and of none that was there before the endpoint', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(25)
    for (let turn = 0; turn < 3; turn += 1) await h.turn()
    await h.happen(2)
    await h.turn()
    expect(receiver.events()).toEqual(Array.from({ length: 27 }, (_, i) => i + 1))
    const late = await startReceiver()
    await h.webhookStore.register([...h.endpoints, { key: `${'f'.repeat(64)}` as never, number: 2 }])
    expect(h.row(2)).toMatchObject({ position: 27, attempts: 0 })
    expect(late.requests).toEqual([])
  })

  it('is only of the types that the endpoint wants', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver, types: ['deposit.seen'] })
    await h.happen(3)
    await h.turn()
    expect(receiver.requests).toEqual([])
    expect(h.row()).toMatchObject({ position: 3, lease: '' })
  })

  it('is repeated with the same id where the invocation is killed before it is recorded', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(2)
    const keep = () => Promise.reject(new Error('killed'))
    await expect(h.turn(1, { webhookStore: { ...h.webhookStore, keep } })).rejects.toThrow('killed')
    await h.turn()
    expect(receiver.events()).toEqual([1]) // the lease of the killed one
    await h.clock.advance(60_000)
    await h.turn()
    const [first, again, second] = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(again).toBe(first)
    expect(first).toMatch(/^evt_1_\d+$/)
    expect(second).toMatch(/^evt_2_\d+$/)
  })

  it('ends where an operator has set another position meanwhile', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver })
    await h.happen(3)
    await h.turn(1, { webhookStore: { ...h.webhookStore, keep: async () => false } })
    expect(receiver.events()).toEqual([1])
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
    expect(await h.turn()).toBe(h.clock.now() + 5_000)
    expect(receiver.requests).toHaveLength(1)
    expect(h.row()).toMatchObject({ position: 0, attempts: 1, failing_since: h.clock.now(), lease: '' })
    expect(h.lines.map((line) => JSON.parse(line))).toEqual([
      { level: 'warn', event: 'webhook-failed', endpoint: 1, eventId: 1, attempts: 1, answer: shown },
    ])
  })

  it('is one without an answer within 10 s, and one to an endpoint that has vanished', async () => {
    const receiver = await startReceiver(hang)
    const h = await startHarness({ receiver })
    await h.happen(1)
    const turn = h.turn()
    await eventually(() => receiver.requests.length === 1)
    await h.clock.advance(answerMs)
    expect(await turn).toBe(h.clock.now() + 5_000)
    await receiver.close()
    await h.clock.advance(5_000)
    expect(await h.turn()).toBe(h.clock.now() + 30_000)
    expect(h.lines.map((line) => (JSON.parse(line) as { answer: string }).answer)).toEqual([
      'no-answer-in-time',
      'unreachable',
    ])
  })

  it('is retried after 5 s, 30 s, 2 min, 10 min, then hourly, and the next event after it succeeds', async () => {
    const receiver = await startReceiver(status(503))
    const h = await startHarness({ receiver })
    await h.happen(2)
    const waits: number[] = []
    for (let i = 0; i < 7; i += 1) {
      waits.push(((await h.turn()) ?? 0) - h.clock.now())
      await h.clock.advance(waits[i] ?? 0)
    }
    expect(waits).toEqual([5, 30, 120, 600, 3600, 3600, 3600].map((seconds) => seconds * 1000))
    receiver.answer = status(200)
    await h.turn()
    expect(receiver.events()).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2])
    expect(h.row()).toMatchObject({ position: 2, attempts: 0, failing_since: null })
  })

  it('is not retried before its time', async () => {
    const receiver = await startReceiver(status(503))
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.turn()
    await h.clock.advance(4_999)
    expect(await h.turn()).toBeNull()
    expect(receiver.requests).toHaveLength(1)
  })

  it('for three days puts the event aside with an alarm, and the next ones go on', async () => {
    const receiver = await startReceiver((response, { body }) => {
      status(body.includes('"id":1,"type"') ? 500 : 200)(response, { headers: {}, body })
    })
    const h = await startHarness({ receiver })
    await h.happen(3)
    await h.turn()
    await h.clock.advance(setAsideMs - 1)
    await h.turn()
    expect(h.row()).toMatchObject({ position: 0, attempts: 2 })
    await h.clock.advance(day)
    await h.turn()
    expect(receiver.events()).toEqual([1, 1, 1, 2, 3])
    expect(h.row()).toMatchObject({ position: 3, attempts: 0, failing_since: null, set_aside: null })
    const alarms = h.lines.filter((line) => line.includes('"alarm":"webhook-failing"'))
    expect(alarms.map((line) => JSON.parse(line))).toEqual([
      { level: 'error', alarm: 'webhook-failing', endpoint: 1, eventId: 1, attempts: 3 },
    ])
  })

  it('raises the alarm once until the endpoint is healthy again', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(3)
    const alarms = () => h.lines.filter((line) => line.includes('"alarm":')).length
    const putAside = async () => {
      await h.turn()
      await h.clock.advance(setAsideMs)
      await h.turn()
      await h.clock.advance(day)
    }
    await putAside()
    await putAside()
    expect([alarms(), h.row().position]).toEqual([1, 2])
    receiver.answer = status(200)
    await h.turn()
    await h.happen(1)
    receiver.answer = status(500)
    await putAside()
    expect(alarms()).toBe(2)
  })

  it('raises the alarm again for an endpoint that was removed and is configured again', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    const alarms = () => h.lines.filter((line) => line.includes('"alarm":')).length
    for (const n of [1, 2]) {
      await h.happen(1)
      await h.turn()
      await h.clock.advance(setAsideMs)
      await h.turn()
      expect(alarms()).toBe(n)
      await h.webhookStore.register([])
      await h.webhookStore.register(h.endpoints)
    }
  })

  it('has neither URL nor secret nor body in a log line', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(1)
    await h.turn()
    await h.clock.advance(setAsideMs)
    await h.turn()
    const log = h.lines.join('\n')
    expect(h.lines).toHaveLength(3)
    for (const secret of [receiver.url, 'secret-path', '127.0.0.1', firstSecret, firstSecret.slice(6), 'T9yD']) {
      expect(log).not.toContain(secret)
    }
    expect(log).not.toContain(receiver.requests[0]?.body)
  })
})
