import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import { createScannerObject } from '../../src/worker/compose.ts'
import { createLogger } from '../../src/worker/platform/logger.ts'
import { seenMax, seenOfBlockMax } from '../../src/worker/scan/tail.ts'
import { falseSeenMax } from '../../src/worker/tron/limits.ts'
import { finalityLag, payFinal, type RunningService, startService, testNodes, usdtTo } from '../http/service.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { alarmsOf, balancesOf, disagreeOn, openGaps, tickLater, withAddress } from './harness.ts'

/**
 * Makes the first node, from which the scan reads the blocks above the final ones, invent `blocks`
 * of them with `each` transfers to `to` in each.
 */
function inventTail(service: RunningService, to: Address, blocks: number, each: number): void {
  const [first] = service.nodes
  if (first === undefined) throw new Error('a node')
  const invented = service.chain.fork(service.chain.tip().height)
  for (let i = 0; i < blocks; i += 1) invented.add(Array.from({ length: each }, (_, n) => usdtTo(to, BigInt(n + 1))))
  first.chain = invented
}

const countOf = async ({ db }: RunningService, condition: string) =>
  (await db.prepare(`SELECT count(*) AS n FROM transfer WHERE ${condition}`).first<number>('n')) ?? 0

const creditedIn = ({ db }: RunningService) => db.prepare('SELECT sum(amount) AS sum FROM flow').first('sum')

describe('a node that invents transfers above the final blocks', () => {
  it('has a limited number of rows for each block and for all', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    inventTail(service, own, 8, seenOfBlockMax + 50)
    await tickLater(service)
    expect(await countOf(service, `state = 'seen'`)).toBe(seenMax)
    const sql = 'SELECT max(n) AS most FROM (SELECT count(*) AS n FROM transfer GROUP BY height)'
    expect(await service.db.prepare(sql).first('most')).toBe(seenOfBlockMax)
  })

  it('is named once they are in no final block, and another node is asked for the tail', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    inventTail(service, own, 3, falseSeenMax)
    await tickLater(service)
    expect(await countOf(service, `state = 'seen'`)).toBe(3 * falseSeenMax)
    const [first] = service.nodes
    if (first !== undefined) first.chain = service.chain
    service.chain.addEmpty(finalityLag + 5)
    await tickLater(service, 60)
    expect(await countOf(service, `state = 'dropped'`)).toBe(3 * falseSeenMax)
    expect(alarmsOf(service, 'node-lies')).toMatchObject([
      { node: 1, why: `${3 * falseSeenMax} transfers that it showed above the final blocks are not in them` },
    ])
    for (const seconds of [20, 3_600, 3_600]) {
      inventTail(service, own, 3, falseSeenMax)
      await tickLater(service, seconds)
      expect(await countOf(service, `state = 'seen'`)).toBe(0)
    }
  })

  it('is named as well if it invents few at a time', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const [first] = service.nodes
    if (first === undefined) throw new Error('a node')
    for (let i = 0; i < 12; i += 1) {
      inventTail(service, own, 1, 7)
      await tickLater(service)
      first.chain = service.chain
      service.chain.addEmpty(finalityLag + 2)
      await tickLater(service, 60)
    }
    expect(await countOf(service, `state = 'dropped'`)).toBe(falseSeenMax + 1)
    expect(alarmsOf(service, 'node-lies')).toMatchObject([{ node: 1 }])
  })

  it('delays no deposit of others, and what was dropped is removed after a day', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    inventTail(service, own, 8, seenOfBlockMax)
    await tickLater(service)
    const [first] = service.nodes
    if (first !== undefined) first.chain = service.chain
    payFinal(service, usdtTo(own, 5_000_000n))
    service.chain.addEmpty(10) // the final height passes the invented blocks
    await tickLater(service, 90)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    expect(await countOf(service, `state = 'dropped'`)).toBe(seenMax)
    service.clock.seconds += 86_400
    for (let i = 0; i < 2; i += 1) {
      service.chain.addEmpty(1)
      await tickLater(service)
    }
    expect(await countOf(service, `state = 'dropped'`)).toBe(0)
    expect(await creditedIn(service)).toBe(5_000_000)
  })
})

describe('a gap that could not be read', () => {
  /**
   * A block that the nodes could not agree on for more than two days, so that its next attempt is
   * far away. The nodes now agree on it.
   */
  async function withOldGap() {
    const { service, own } = await withAddress()
    await service.tick()
    const height = service.chain.tip().height + 1
    disagreeOn(service, height)
    payFinal(service, usdtTo(own, 2_000_000n))
    for (let i = 0; i < 10; i += 1) {
      service.chain.addEmpty(1)
      await tickLater(service, 20_000)
    }
    expect(await openGaps(service)).toMatchObject([{ attempts: 10 }])
    for (const node of service.nodes) node.script = () => null
    service.chain.addEmpty(1)
    await tickLater(service)
    expect(await openGaps(service)).toHaveLength(1)
    return service
  }

  it('is read at once where another set of nodes is configured', async () => {
    const service = await withOldGap()
    const changed = service.with({ TRON_NODES: [...testNodes].reverse() })
    service.chain.addEmpty(1)
    await tickLater(changed)
    expect(await openGaps(service)).toEqual([])
    expect(await creditedIn(service)).toBe(2_000_000)
  })

  it('is read at once after one of its nodes was down for minutes, and is well again', async () => {
    const service = await withOldGap()
    const [first] = service.nodes
    if (first === undefined) throw new Error('a node')
    first.script = () => ({ kind: 'status', status: 500 })
    for (let i = 0; i < 20; i += 1) await tickLater(service)
    first.script = () => null
    for (let i = 0; i < 6; i += 1) {
      service.chain.addEmpty(1)
      await tickLater(service)
    }
    expect(await openGaps(service)).toEqual([])
    expect(await creditedIn(service)).toBe(2_000_000)
  })
})

describe('a call of the database that never returns', () => {
  it('ends the tick all the same: the next one comes, and the second one in a row is an alarm', async () => {
    const service = await startService()
    const never = () => new Promise(() => undefined)
    const statement = { bind: () => statement, all: never, run: never, first: never, raw: never }
    const hanging = { prepare: () => statement, batch: never, withSession: () => hanging }
    const lines: string[] = []
    const clock = createVirtualClock(service.clock.seconds * 1000)
    const platform = {
      clock,
      logger: createLogger((line) => lines.push(line)),
      fetch: () => Promise.reject(new Error('no network')),
      uniqueName: () => 'name',
      waitUntil: () => undefined,
    }
    const host = createMemoryHost()
    const scanner = createScannerObject(platform, { ...service.bindings, DB: hanging }, host)
    for (let i = 0; i < 2; i += 1) {
      host.alarmAt = null
      let isOver = false
      const over = scanner.alarm().then(() => {
        isOver = true
      })
      await clock.runUntil(() => isOver)
      await over
      expect(host.alarmAt).not.toBeNull()
    }
    expect(lines.filter((line) => line.includes('tick-crashed'))).toHaveLength(2)
    expect(lines.filter((line) => line.includes('"alarm":"tick-failed"'))).toHaveLength(1)
  })
})
