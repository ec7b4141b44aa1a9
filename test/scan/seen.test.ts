import { describe, expect, it } from 'vitest'
import { dropTransfer, finalityLag, payCaller, startService, textOf, usdtTo } from '../http/service.ts'
import { balancesOf, callsOf, eventsOf, finalizedIn, runFor, stateOf, statesOf, withAddress } from './harness.ts'

const blockMs = 3_000

describe('a transfer that is not final', () => {
  it('is seen without a question about it, and credited when it is final', async () => {
    const { service, own } = await withAddress()
    service.chain.add([usdtTo(own, 25_000_000n)])
    await service.tick()
    expect(await statesOf(service)).toEqual(['seen'])
    expect(await textOf(service, '/tron/recharge')).toContain('1 transfer found, final in about 57 s')
    service.chain.addEmpty(finalityLag)
    service.clock.seconds += 60
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await eventsOf(service)).toEqual(['deposit.seen', 'deposit.credited'])
  })

  it('is seen again where it is mined again, and credited once', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const fork = service.chain.fork(service.chain.tip().height)
    service.chain.add([usdtTo(own, 1_000_000n)])
    service.clock.seconds += 20
    await service.tick()
    fork.add([usdtTo(own, 1_000_000n)]) // the same transaction, now in another block
    for (const node of service.nodes) node.chain = fork
    service.clock.seconds += 20
    await service.tick()
    fork.addEmpty(finalityLag)
    service.clock.seconds += 60
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 1 })
    expect(await eventsOf(service)).toEqual(['deposit.seen', 'deposit.credited'])
  })
})

describe('a transfer that was dropped', () => {
  it('is removed a day later, and crashes no tick that takes time', async () => {
    const { service } = await withAddress()
    const { clock, db, lines } = service
    const wait = async () => {
      clock.seconds += 1
    }
    for (const node of service.nodes) node.script = () => ({ kind: 'delayed', wait })
    await dropTransfer(service)
    expect(await statesOf(service)).toEqual(['dropped'])
    const droppedAt = (await db.prepare('SELECT changed_at FROM transfer').first<number>('changed_at')) ?? 0
    clock.seconds = droppedAt / 1000 + 86_400 - 1
    await service.tick()
    expect(lines.filter((line) => line.includes('crashed'))).toEqual([])
    await service.tick()
    await service.tick()
    expect(await statesOf(service)).toEqual([])
  })
})

describe('the tail of the chain', () => {
  it('is read again from the final block on where the newest block that was read has left the chain, in the same scan', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const fork = service.chain.fork(service.chain.tip().height - 2)
    service.chain.addEmpty(3)
    service.clock.seconds += 10
    await service.tick()
    fork.add([usdtTo(own, 1_000_000n)])
    fork.addEmpty(5)
    for (const node of service.nodes) node.chain = fork
    service.clock.seconds += 10
    await service.tick()
    expect(await statesOf(service)).toEqual(['seen'])
  })

  it('is read again where a node shows no block above the newest one that was read: it can be another chain', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const fork = service.chain.fork(service.chain.tip().height)
    service.chain.addEmpty(5)
    service.clock.seconds += 20
    await service.tick()
    fork.add([usdtTo(own, 1_000_000n)])
    for (const node of service.nodes) node.chain = fork // `fork` is shorter than the chain that was read
    service.clock.seconds += 20
    await service.tick()
    expect(await statesOf(service)).toEqual(['seen'])
  })

  it.each([
    ['its newest block is of now', 1],
    ['it is minutes old', 300],
  ])(
    'is read once, also by an object that was evicted: later ticks ask for the blocks after it, if %s',
    async (_, age) => {
      const { service } = await withAddress()
      service.clock.seconds = service.chain.tip().timeMs / 1000 + age
      await service.with({}).tick()
      const tip = service.chain.tip().height
      service.chain.addEmpty(4)
      for (const node of service.nodes) node.requests.length = 0
      service.clock.seconds += 12
      await service.with({}).tick()
      const starts = callsOf(service, '/wallet/getblockbylimitnext').map(
        ({ params }) => (params[0] as { startNum: number }).startNum,
      )
      expect(Math.min(...starts.filter((from) => from > finalizedIn(service)))).toBe(tip + 1)
    },
  )
})

describe('the alarm of the scanner', () => {
  it('is due when the block of a transfer should be final that was seen', async () => {
    const { service, own } = await withAddress({ SCAN_EVERY_SECONDS: '60' })
    service.chain.add([usdtTo(own, 1_000_000n)])
    service.chain.addEmpty(13)
    await service.tick()
    const { finalizedAt } = await stateOf(service)
    expect((service.scannerHost.alarmAt ?? 0) - finalizedAt).toBe(5 * blockMs + 500)
  })

  it("is brought forward where a caller's scan has seen a transfer", async () => {
    const { service, own } = await withAddress({ SCAN_EVERY_SECONDS: '60' })
    await service.tick()
    service.chain.add([usdtTo(own, 1_000_000n)])
    service.chain.addEmpty(13)
    service.clock.seconds += 5
    const before = service.scannerHost.alarmAt ?? 0
    expect(await textOf(service, '/tron/recharge')).toContain('1 transfer found')
    const { finalizedAt } = await stateOf(service)
    expect(service.scannerHost.alarmAt).toBe(finalizedAt + 5 * blockMs + 500)
    expect(before).toBeGreaterThan(finalizedAt + 5 * blockMs + 500)
  })

  it('is due at once while the scan is behind', async () => {
    const service = await startService()
    await payCaller(service)
    await service.tick()
    for (const node of service.nodes) {
      const { respond } = node
      node.respond = async (path, init) => {
        // each request of blocks takes 10 s: the tick's deadline passes after two ranges
        service.clock.seconds += path === '' ? 0 : 10
        return respond(path, init)
      }
    }
    service.chain.addEmpty(500)
    await service.tick()
    expect((await stateOf(service)).height).toBeLessThan(finalizedIn(service))
    expect(service.scannerHost.alarmAt).toBeLessThanOrEqual(service.clock.seconds * 1000 + 60_000)
  })
})

describe('deposits, one after the other', () => {
  it('are seen within SCAN_EVERY_SECONDS and 3 s of their block, and credited within 6 s of finality', async () => {
    const { service, own } = await withAddress({ SCAN_EVERY_SECONDS: '20' })
    await service.tick()
    const startedAt = service.clock.seconds * 1000
    const minedAt = new Map<string, number>()
    const finalAt = new Map<string, number>()
    const seenAfter = new Map<string, number>()
    const creditedAfter = new Map<string, number>()
    let blocks = 0
    /**
     * Adds the blocks that are due at this time; one in seven of the first 105 contains a deposit.
     */
    const mine = (now: number) => {
      for (; startedAt + blocks * blockMs < now; blocks += 1) {
        const time = startedAt + blocks * blockMs
        const pays = blocks % 7 === 0 && blocks < 105
        for (const { txid } of service.chain.add(pays ? [usdtTo(own, 1_000_000n)] : []).transactions)
          minedAt.set(txid, time)
        for (const { txid } of service.chain.at(finalizedIn(service))?.transactions ?? []) finalAt.set(txid, time)
      }
    }
    let ticks = 0
    const observe = async (now: number) => {
      if (service.lines.length === ticks) return
      ticks = service.lines.length // each tick writes one line
      const rows = await service.db.prepare('SELECT txid, state FROM transfer').all<{ txid: string; state: string }>()
      for (const { txid, state } of rows.results) {
        if (!seenAfter.has(txid)) seenAfter.set(txid, now - (minedAt.get(txid) ?? 0))
        if (state === 'credited' && !creditedAfter.has(txid)) creditedAfter.set(txid, now - (finalAt.get(txid) ?? 0))
      }
    }
    await runFor(service, 400, async (now) => {
      await observe(now) // notes what a tick in the second before has changed
      mine(now)
    })
    const within = (all: ReadonlyMap<string, number>, ms: number) => [...all.values()].filter((one) => one <= ms).length
    expect(minedAt.size).toBe(15)
    expect(within(seenAfter, 23_000)).toBe(minedAt.size)
    expect(within(creditedAfter, 6_000)).toBe(minedAt.size)
  })
})
