import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../src/chain/block.ts'
import { balancesMax, type Payer } from '../../src/chain/chain.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAllowance, reservedRequests } from '../../src/tron/allowance.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { caller, createProbed, type Harness, us } from './harness.ts'

const [tick, rest]: readonly [Payer, Payer] = [{ kind: 'tick' }, { kind: 'rest' }]
const hourMs = 3_600_000

/** One node; ticks need 22,500 requests of a day where one begins every 20 s. A request that has to wait for its second is counted at once. */
async function create(perDay = 100_000, perSecond = 1_000, host = createMemoryHost()) {
  let now = 1_800_000_000_000
  const clock = { now: () => now as UnixMs, sleep: async () => {}, random: () => 0 }
  const make = async () => {
    const made = createAllowance([{ id: 'one', perSecond, perDay }], 1, 20, clock, host)
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
    /** Requests that this payer gets until it is refused, at most `max`, and whose limit refuses. */
    use(payer: Payer, max = 200_000, sent = 0, from = allowance) {
      for (let i = 0; i < max; i += 1) {
        const room = from.take(1, payer, sent, Infinity)
        if (!room.ok) return [i, room.error.whose]
      }
      return [max, 'no limit']
    },
  }
}

describe('the allowance of a day', () => {
  it('is never exceeded, and what is used counts for 24 hours at least', async () => {
    const a = await create(30_000)
    expect(a.use(tick)).toEqual([30_000, 'nodes'])
    a.advance(24 * hourMs - 1)
    expect(a.use(tick)).toEqual([0, 'nodes'])
    a.advance(hourMs + 1)
    expect(a.use(tick)).toEqual([30_000, 'nodes'])
  })

  it('says when there is room again', async () => {
    const a = await create(25_000)
    a.use(tick)
    const room = a.allowance.take(1, tick, 0, Infinity)
    if (room.ok) throw new Error('there is room')
    a.advance(room.error.seconds * 1000 - 1000)
    expect(a.allowance.take(1, tick, 0, Infinity).ok).toBe(false)
    a.advance(1000)
    expect(a.allowance.take(1, tick, 0, Infinity).ok).toBe(true)
  })

  it('gives all callers together half of what ticks do not need, and one caller a tenth of that', async () => {
    const a = await create()
    expect(a.use(caller(1))).toEqual([3_875, 'caller'])
    expect(a.use(caller(2))).toEqual([3_875, 'caller'])
    for (let uid = 3; uid <= 10; uid += 1) a.use(caller(uid))
    expect(a.use(caller(11))).toEqual([0, 'callers'])
    expect(a.use(tick)).toEqual([100_000 - 38_750, 'nodes'])
  })

  it('has room for the ticks of a day whatever callers and the rest take, at any time', async () => {
    const a = await create()
    for (let hour = 0; hour < 48; hour += 1) {
      for (let uid = 1; uid <= 20; uid += 1) a.use(caller(uid))
      a.use(rest)
      expect(a.use(tick, 900)).toEqual([900, 'no limit'])
      a.advance(hourMs)
    }
  })

  it('gives the rest only what neither ticks nor callers need', async () => {
    const a = await create()
    expect(a.use(rest)).toEqual([100_000 - 22_500 - 38_750, 'nodes'])
    expect(a.use(caller(1))).toEqual([3_875, 'caller'])
  })

  it('leaves the need of a day where a tick reads blocks that are behind', async () => {
    const a = await create()
    expect(a.use(tick, 200_000, 5)).toEqual([77_500, 'nodes'])
    expect(a.use(tick, 200_000, 4)).toEqual([22_500, 'nodes'])
  })

  it('is not exceeded by restarts: what was not saved counts as used', async () => {
    const a = await create(30_000)
    a.use(tick, 29_000)
    let allowance = await a.restart()
    let total = 29_000
    for (let i = 0; i < 200; i += 1) {
      const [count = 0] = a.use(tick, 7, 0, allowance)
      total += Number(count)
      allowance = await a.restart()
    }
    expect(total).toBeLessThanOrEqual(30_000)
    expect(total).toBeGreaterThan(29_000 + (1_000 * 7) / (7 + reservedRequests) / 2)
  })

  it('loses nothing by restarts between pieces of work', async () => {
    const a = await create(30_000)
    let allowance = await a.restart()
    for (let i = 0; i < 100; i += 1) {
      a.use(tick, 4, 0, allowance)
      allowance.settle()
      allowance = await a.restart()
    }
    expect(a.use(tick, 30_000, 0, allowance)).toEqual([29_600, 'nodes'])
  })

  it('keeps the count of a caller with many requests over a restart', async () => {
    const a = await create()
    a.use(caller(7), 3_870)
    a.allowance.settle()
    expect(a.use(caller(7), 100, 0, await a.restart())).toEqual([5, 'caller'])
  })
})

describe('the allowance of a second', () => {
  it('spreads requests, with a part for ticks that no caller can take', async () => {
    const a = await create(100_000, 4)
    const times = (payer: Payer, count: number) =>
      Array.from({ length: count }, () => {
        const room = a.allowance.take(1, payer, 0, Infinity)
        return room.ok ? room.value - a.now() : Number.NaN
      })
    expect(times(caller(1), 6)).toEqual([0, 0, 1_000, 1_000, 2_000, 2_000])
    expect(times(tick, 3)).toEqual([0, 0, 1_000])
    expect(times(rest, 1)).toEqual([3_000])
  })

  it('is not exceeded by a restart, also where the instance before runs on until it has to store something', async () => {
    const host = createMemoryHost()
    const a = await create(100_000, 4, host)
    a.use(tick, 2)
    const allowance = await a.restart()
    const room = allowance.take(1, tick, 0, Infinity)
    expect(room.ok && room.value - a.now()).toBe(2_000)
    a.advance(999)
    host.values.clear()
    a.allowance.confirm()
    expect(host.values.size).toBe(0)
    a.advance(1)
    a.allowance.confirm() // one that was replaced cannot, and sends nothing from here on
    expect(host.values.size).toBe(1)
  })

  it('of one request is shared by all', async () => {
    const a = await create(100_000, 1)
    const times = [caller(1), tick, caller(2)].map((payer) => a.allowance.take(1, payer, 0, Infinity))
    expect(times.map((room) => (room.ok ? room.value - a.now() : 'no'))).toEqual([0, 1_000, 2_000])
  })
})

describe('ticks that are not due by the interval', () => {
  it('come as often as the allowance spread over the day leaves room for, and no more', async () => {
    const a = await create()
    let ticks = 0
    for (const end = a.now() + 24 * hourMs; a.now() < end; ticks += 1) {
      a.advance(Math.max(a.allowance.tickRoomAt() - a.now(), 0))
      expect(a.use(tick, 5)).toEqual([5, 'no limit'])
    }
    expect(ticks).toBeGreaterThan(9_000) // one every 9 s
    expect(ticks).toBeLessThan(11_800)
    expect(a.use(caller(1))).toEqual([3_875, 'caller'])
  })

  it('come when they are due while they are few', async () => {
    const a = await create()
    a.advance(30 * 60_000)
    for (let i = 0; i < 20; i += 1) {
      expect(a.allowance.tickRoomAt()).toBe(a.now())
      a.use(tick, 5)
    }
  })

  it('wait for room where the allowance is used up', async () => {
    const a = await create(22_500)
    a.use(tick)
    expect(a.allowance.tickRoomAt() - a.now()).toBeGreaterThan(23 * hourMs)
  })
})

/** The requests of callers that are counted. */
function counted(h: Harness): number {
  h.tron.settle()
  const [node] = Object.values(h.host.values.get('allowance') as Record<string, { byHour: Map<number, Counts> }>)
  return [...(node?.byHour.values() ?? [])].reduce((sum, one) => sum + one.caller, 0)
}
type Counts = { readonly caller: number }

describe('the requests of a day', () => {
  it('that a caller is charged for are requests: a used up share is a limit of the caller, not of the nodes', async () => {
    const h = await createProbed({ nodes: 1, perDay: 23_000 })
    const chain = h.open(caller(1)) // one piece of work, of many requests
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
    const chain = h.open(caller(1), 3_500)
    const results = await h.settle(Promise.all([1, 2, 3, 4, 5, 6].map(() => chain.balances([us], nativeAsset))))
    expect(results.map((one) => (one.ok ? 'ok' : one.error.kind))).toEqual([
      ...Array(4).fill('ok'),
      'limited',
      'limited',
    ])
    expect(results.at(-1)).toMatchObject({ error: { whose: 'nodes', seconds: 4 } })
    expect(counted(h)).toBe(4) // what was not sent
  })

  it('are not used by what waits for a connection until its time is over', async () => {
    const h = await createProbed({ nodes: 1 })
    h.fail(0, { kind: 'hang' })
    const [slow, quick] = [h.open(), h.open(caller(1), 3_000)]
    const busy = Array.from({ length: 6 }, () => slow.balances([us], nativeAsset))
    const late = quick.balances([us], nativeAsset)
    await h.settle(Promise.all(busy))
    expect(await h.settle(late)).toMatchObject({ ok: false, error: { kind: 'out-of-time' } })
    expect(counted(h)).toBe(0)
  })
})
