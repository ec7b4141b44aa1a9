import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../src/worker/chain/block.ts'
import { balancesMax, type RequestQuota } from '../../src/worker/chain/chain.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { createAllowance } from '../../src/worker/tron/allowance.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { caller, createProbed, type Harness, us } from './harness.ts'

const [tick, look, leftover, sending]: readonly [RequestQuota, RequestQuota, RequestQuota, RequestQuota] = [
  { kind: 'tick' },
  { kind: 'look', node: 1 },
  { kind: 'leftover' },
  { kind: 'sending' },
]
const hourMs = 3_600_000

/**
 * The allowance of one node. Ticks begin every 200 s here, for which the allowance reserves 2,250
 * requests a day.
 */
async function create(perDay = 10_000, perSecond = 100, host = createMemoryHost()) {
  let now = 1_800_000_000_000
  const clock = { now: () => now as UnixMs } // safe: milliseconds since 1970
  const make = async () => {
    const made = createAllowance([{ id: 'one', perSecond, perDay }], 1, 200, clock, host)
    await made.ready
    return made
  }
  const allowance = await make()
  return {
    allowance,
    restart: make,
    now: () => now,
    advance(ms: number) {
      now += ms
    },
    /**
     * Takes requests until one is refused, at most `max`. Returns how many were allowed, and whose
     * limit refused.
     */
    use(quota: RequestQuota, max = 20_000, sent = 0, from = allowance) {
      for (let i = 0; i < max; ) {
        const room = from.take(1, quota, sent)
        if (!room.ok) return [i, room.error.whose]
        if (room.value > now)
          now = room.value // this second is used up: the request goes with a later one
        else i += 1
      }
      return [max, 'no limit']
    },
  }
}

describe('the allowance of a day', () => {
  it('is never exceeded, and what is used counts for 24 hours at least', async () => {
    const a = await create(3_000)
    expect(a.use(tick)).toEqual([3_000, 'nodes'])
    a.advance(24 * hourMs - 10_000)
    expect(a.use(tick)).toEqual([0, 'nodes'])
    a.advance(hourMs + 10_000)
    expect(a.use(tick)).toEqual([3_000, 'nodes'])
  })

  it('says when there is room again', async () => {
    const a = await create(2_500)
    a.use(tick)
    const room = a.allowance.take(1, tick, 0)
    if (room.ok) throw new Error('there is room')
    a.advance(room.error.seconds * 1000 - 1000)
    expect(a.allowance.take(1, tick, 0).ok).toBe(false)
    a.advance(1000)
    expect(a.allowance.take(1, tick, 0).ok).toBe(true)
  })

  it('gives all callers together half of what ticks do not need, and one caller a tenth of that', async () => {
    const a = await create()
    expect(a.use(caller(1))).toEqual([387, 'caller'])
    expect(a.use(caller(2))).toEqual([387, 'caller'])
    for (let uid = 3; uid <= 10; uid += 1) a.use(caller(uid))
    expect(a.use(caller(11))).toEqual([5, 'callers'])
    expect(a.use(tick)).toEqual([10_000 - 3_875, 'nodes'])
  })

  it('has room for the ticks of a day whatever callers and what uses leftover requests take, at any time', async () => {
    const a = await create()
    for (let hour = 0; hour < 48; hour += 1) {
      for (let uid = 1; uid <= 20; uid += 1) a.use(caller(uid))
      a.use(leftover)
      expect(a.use(tick, 90)).toEqual([90, 'no limit'])
      a.advance(hourMs)
    }
  })

  it('leaves for other work only what neither ticks nor callers nor the sending of payouts need', async () => {
    const a = await create()
    expect(a.use(leftover)).toEqual([10_000 - 2_250 - 3_875 - 1_937, 'nodes'])
    expect(a.use(caller(1))).toEqual([387, 'caller'])
    expect(a.use(sending)).toEqual([1_937, 'nodes'])
  })

  it('leaves half of what ticks do not need, or all that callers and payouts may still take, beside looks', async () => {
    const a = await create()
    expect(a.use(look)).toEqual([3_875, 'nodes'])
    expect(a.use(tick, 2_250)).toEqual([2_250, 'no limit'])
    const taken = [1, 2, 3, 4, 5, 6].map((uid) => a.use(caller(uid))[0])
    expect(taken).toEqual([387, 387, 387, 387, 387, 387])
    expect(a.use(sending, 1_500)).toEqual([1_500, 'no limit'])
  })

  it('has nothing for looks at a node that allows one request in a second, so that no tick waits for one', async () => {
    const a = await create(100_000, 1)
    expect(a.use(look)).toEqual([0, 'nodes'])
  })

  it('gives the sending of payouts a quarter of what ticks do not need, and nothing of what they need', async () => {
    const a = await create()
    expect(a.use(sending)).toEqual([1_937, 'nodes'])
    expect(a.use(tick, 2_250)).toEqual([2_250, 'no limit'])
    a.use(tick)
    a.advance(25 * hourMs)
    a.use(tick, 8_000)
    expect(a.use(sending)).toEqual([1_937, 'nodes'])
    expect(a.use(tick)).toEqual([63, 'nodes'])
  })

  it('leaves the need of a day where a tick reads blocks that are behind', async () => {
    const a = await create()
    expect(a.use(tick, 20_000, 5)).toEqual([7_750, 'nodes'])
    expect(a.use(tick, 20_000, 4)).toEqual([2_250, 'nodes'])
  })

  it('is exact over restarts at any moment: each request is stored before it is sent', async () => {
    const a = await create(3_000)
    a.use(tick, 2_900)
    for (let i = 0; i < 10; i += 1) expect(a.use(tick, 7, 0, await a.restart())).toEqual([7, 'no limit'])
    expect(a.use(tick, 3_000, 0, await a.restart())).toEqual([30, 'nodes'])
  })

  it('keeps the count of a caller with many requests over a restart', async () => {
    const a = await create()
    a.use(caller(7), 382)
    expect(a.use(caller(7), 100, 0, await a.restart())).toEqual([5, 'caller'])
  })
})

describe('the allowance of a second', () => {
  /**
   * Takes the requests one after the other. For each returns how many milliseconds it had to wait,
   * or whose limit refused it.
   */
  const waits = (a: Awaited<ReturnType<typeof create>>, quotas: readonly RequestQuota[], allowance = a.allowance) =>
    quotas.map((quota) => {
      const begun = a.now()
      let room = allowance.take(1, quota, 0)
      while (room.ok && room.value > a.now()) {
        a.advance(room.value - a.now())
        room = allowance.take(1, quota, 0)
      }
      return room.ok ? a.now() - begun : room.error.whose
    })
  const five = (quota: RequestQuota) => Array<RequestQuota>(5).fill(quota)

  it('spreads requests, with a part for ticks that no caller can take', async () => {
    const a = await create(100_000, 4)
    expect(waits(a, five(caller(1)))).toEqual([0, 0, 1_000, 0, 1_000])
    expect(waits(a, [tick, tick, tick, leftover])).toEqual([0, 0, 1_000, 0])
  })

  it('is not exceeded by a restart', async () => {
    const a = await create(100_000, 4)
    expect(waits(a, [tick, tick])).toEqual([0, 0])
    a.advance(400)
    expect(waits(a, [tick, tick], await a.restart())).toEqual([600, 0])
  })

  it('of one request is shared by all', async () => {
    const a = await create(100_000, 1)
    expect(waits(a, [caller(1), tick, caller(2)])).toEqual([0, 1_000, 1_000])
  })

  it('is the same after the clock has stepped back: no request waits for longer than a second', async () => {
    const a = await create(100_000, 4)
    waits(a, five(tick))
    a.advance(-600_000)
    expect(waits(a, five(tick))).toEqual([0, 1_000, 0, 1_000, 0])
    expect(waits(a, five(caller(1)), await a.restart())).toEqual([0, 0, 1_000, 0, 1_000])
  })

  it('tells when a request comes that waits behind others', async () => {
    const a = await create(100_000, 4)
    const rooms = () => [0, 1, 2, 3, 4].map((ahead) => a.allowance.availableAt(1, caller(1), ahead) - a.now())
    expect(rooms()).toEqual([0, 0, 1_000, 1_000, 2_000])
    waits(a, [caller(1)])
    a.advance(300)
    expect(rooms()).toEqual([0, 700, 1_000, 1_700, 2_000])
  })
})

describe('ticks that are not due by the interval', () => {
  it('come as often as the allowance spread over the day leaves room for, and no more', async () => {
    const a = await create()
    let ticks = 0
    for (const end = a.now() + 24 * hourMs; a.now() < end; ticks += 1) {
      a.advance(Math.max(a.allowance.tickAvailableAt() - a.now(), 0))
      expect(a.use(tick, 5)).toEqual([5, 'no limit'])
    }
    expect(ticks).toBeGreaterThan(900) // about one every 90 s
    expect(ticks).toBeLessThan(1_180)
    expect(a.use(caller(1))).toEqual([387, 'caller'])
  })

  it('come when they are due while they are few', async () => {
    const a = await create()
    a.advance(30 * 60_000)
    for (let i = 0; i < 2; i += 1) {
      expect(a.allowance.tickAvailableAt()).toBe(a.now())
      a.use(tick, 5)
    }
  })

  it('wait for room where the allowance is used up', async () => {
    const a = await create(2_250)
    a.use(tick)
    expect(a.allowance.tickAvailableAt() - a.now()).toBeGreaterThan(23 * hourMs)
  })
})

/** How many requests the allowance has charged to callers. */
function counted(h: Harness): number {
  const [node] = Object.values(h.host.values.get('requests') as Record<string, { byHour: Map<number, Counts> }>)
  return [...(node?.byHour.values() ?? [])].reduce((sum, one) => sum + one.caller, 0)
}
type Counts = { readonly caller: number }

describe('the requests of a day', () => {
  it('that a caller is charged for are requests: a used up share is a limit of the caller, not of the nodes', async () => {
    const h = await createProbed({ nodes: 1, perDay: 23_000 })
    const chain = h.open(caller(1)) // all requests through `chain` count for the share of caller 1
    const ask = () => h.settle(chain.balances(Array(balancesMax).fill(us), nativeAsset))
    for (let i = 0; i < 25; i += 1) expect((await ask()).ok).toBe(true)
    const before = h.counts()
    expect(await ask()).toMatchObject({ ok: false, error: { kind: 'limited', whose: 'caller' } })
    expect(h.counts()).toEqual(before)
    expect((await h.settle(h.open().balances([us], nativeAsset))).ok).toBe(true)
  })

  it('of a second are no more where slow replies have kept many waiting for a connection', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 6 })
    const times: number[] = []
    h.node(0).script = () => {
      times.push(h.now())
      return times.length <= 6 ? { kind: 'hang' } : null
    }
    const chain = h.open(caller(1))
    await h.settle(Promise.all(Array.from({ length: 20 }, () => chain.balances([us], nativeAsset))))
    expect(times.length).toBeGreaterThan(15)
    expect(times.filter((time, i) => time - (times[i - 6] ?? 0) < 1_000)).toEqual([])
  })

  it('of ticks do not wait for those of many callers', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 4 })
    const asked = Array.from({ length: 20 }, (_, uid) => h.open(caller(uid)).balances([us], nativeAsset))
    expect((await h.settle(h.open().finalizedHead(null))).ok).toBe(true)
    expect(h.counts()[0]).toBeLessThan(10)
    expect((await h.settle(Promise.all(asked))).filter(({ ok }) => ok)).toHaveLength(20)
  })

  it('of a second that has no room before the deadline are a limit of the nodes, and never "no node answered"', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 2 })
    const chain = h.open(caller(1), 4_000)
    const results = await h.settle(Promise.all([1, 2, 3, 4, 5, 6].map(() => chain.balances([us], nativeAsset))))
    expect(results.map((one) => (one.ok ? 'ok' : one.error.kind))).toEqual([
      ...Array(4).fill('ok'),
      'limited',
      'limited',
    ])
    expect(results.at(-1)).toMatchObject({ error: { whose: 'nodes', seconds: 4 } })
    expect(counted(h)).toBe(4) // the two requests that were not sent are not charged
  })

  it('are not used by what waits for a connection until its time is over', async () => {
    const h = await createProbed({ nodes: 1 })
    h.fail(0, { kind: 'hang' })
    const [slow, quick] = [h.open(), h.open(caller(1), 3_000)]
    const busy = Array.from({ length: 6 }, () => slow.balances([us], nativeAsset))
    const late = quick.balances([us], nativeAsset)
    await h.settle(Promise.all(busy))
    expect(await h.settle(late)).toMatchObject({ ok: false, error: { kind: 'limited', whose: 'nodes' } })
    expect(counted(h)).toBe(0)
  })
})
