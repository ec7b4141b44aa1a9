import { describe, expect, it } from 'vitest'
import type { EndpointKey } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { setAsideMs } from '../../src/worker/webhooks/deliver-events.ts'
import { selectEndpoints } from '../../src/worker/webhooks/store/endpoint-state.ts'
import { endpointFaults } from '../../src/worker/webhooks/watch-endpoints.ts'
import { startHarness } from './harness.ts'
import { startReceiver, status } from './receiver.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000
const keepMs = 90 * dayMs
const now = 1_700_000_000_000 as UnixMs
const ago = (ms: number) => (now - ms) as UnixMs
const key = 'a'.repeat(64) as EndpointKey

describe('an endpoint', () => {
  it.each<[what: string, waited: number | null, failed: number | null, alarms: string[]]>([
    ['that has got every event', null, null, []],
    ['that is a little behind', 10 * minuteMs - 1, null, []],
    ['that is ten minutes behind', 10 * minuteMs, null, ['endpoint-behind']],
    ['that has failed for less than an hour', hourMs - 1, hourMs - 1, ['endpoint-behind']],
    ['that has failed for an hour', hourMs, hourMs, ['endpoint-failing', 'endpoint-behind']],
    ['that lacks an event which is kept for long', 0.8 * keepMs - 1, null, ['endpoint-behind']],
    ['that will soon lose an event', 0.8 * keepMs, null, ['endpoint-behind', 'events-expiring']],
  ])('%s', (_, waited, failed, alarms) => {
    const delay = {
      key,
      number: 2,
      attempts: 0,
      nextTry: now,
      seenAt: now,
      beginsAt: now,
      lastFailure: failed === null ? null : '500',
      waitingSince: waited === null ? null : ago(waited),
      failingSince: failed === null ? null : ago(failed),
    }
    const faults = endpointFaults([delay], now, keepMs)
    expect(faults.map(({ kind }) => kind)).toEqual(alarms)
    for (const { subject, fields } of faults) {
      expect([subject, fields]).toMatchObject([
        { endpoint: 2 },
        { endpoint: 2, why: failed === null ? expect.any(String) : '500' },
      ])
    }
  })
})

describe('the watch over endpoints', () => {
  it('raises an alarm after an hour in which an endpoint refuses one event alone, whatever it takes before and after', async () => {
    const receiver = await startReceiver((response, request) => {
      status(request.body.includes('"id":2,"type"') ? 400 : 204)(response, request)
    })
    const h = await startHarness({ receiver })
    await h.happen(3)
    await h.wake()
    await h.watch()
    expect(h.alarms()).toEqual([])
    await h.clock.advance(hourMs)
    await h.run()
    await h.watch()
    expect(h.lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ alarm: 'endpoint-failing', endpoint: 1, seconds: 3600, why: '400' }),
    )
    receiver.answer = status(204)
    await h.clock.advance(hourMs)
    await h.run()
    await h.watch()
    expect([h.raised(), h.row().position]).toEqual([[], 3])
  })

  it('finds and wakes an endpoint whose object was not woken: nothing fails, and nothing is delivered', async () => {
    const h = await startHarness({ receiver: await startReceiver() })
    let wakes = 0
    const wakeEndpoints = () => {
      wakes += 1
    }
    await h.watch({ wakeEndpoints })
    await h.happen(1)
    await h.clock.advance(10 * minuteMs)
    await h.watch({ wakeEndpoints })
    expect([h.alarms(), wakes]).toEqual([['endpoint-behind'], 1])
    expect(await selectEndpoints(h.db)).toEqual([
      {
        key: h.endpoints[0]?.key,
        number: 1,
        failingSince: null,
        lastFailure: null,
        waitingSince: h.clock.now() - 10 * minuteMs,
        attempts: 0,
        nextTry: 0,
        seenAt: h.clock.now() - 10 * minuteMs,
        beginsAt: h.clock.now() - 10 * minuteMs,
      },
    ])
  })

  it('wakes an endpoint whose next try is overdue, because its object had no endpoint then', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    let wakes = 0
    const wakeEndpoints = () => {
      wakes += 1
    }
    await h.happen(1)
    await h.wake()
    await h.watch({ wakeEndpoints })
    expect([wakes, h.host().alarmAt]).toEqual([0, h.clock.now() + 5_000])
    await h.clock.advance(5_000)
    await h.run(1, h.open(1, { endpoints: [] }))
    expect(h.host().alarmAt).toBeNull()
    await h.watch({ wakeEndpoints })
    expect(wakes).toBe(1)
  })
})

describe('old events', () => {
  it('are kept for so many days for an endpoint that is dead, and removed after an alarm', async () => {
    const receiver = await startReceiver(status(500))
    const h = await startHarness({ receiver })
    await h.happen(3)
    await h.wake()
    await h.clock.advance(9 * dayMs)
    await h.watch({ eventsKeepDays: 10 })
    expect(h.alarms()).toContain('events-expiring')
    expect(h.eventIds()).toEqual([1, 2, 3])
    await h.clock.advance(dayMs)
    await h.happen(1)
    await h.clock.advance(1)
    await h.watch({ eventsKeepDays: 10 })
    expect(h.eventIds()).toEqual([4])
    await h.watch({ eventsKeepDays: 10 })
    expect(h.raised()).not.toContain('events-expiring')
    receiver.answer = status(200)
    await h.clock.advance(setAsideMs)
    await h.run()
    expect(receiver.events().at(-1)).toBe(4)
    expect(h.row()).toMatchObject({ position: 4, attempts: 0 })
  })

  it('are removed as many as there are, in batches', async () => {
    const h = await startHarness()
    await h.happen(2_500)
    await h.clock.advance(91 * dayMs)
    await h.happen(1)
    await h.watch()
    expect(h.eventIds()).toEqual([2_501])
  })
})
