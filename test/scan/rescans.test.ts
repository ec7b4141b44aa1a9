import { describe, expect, it } from 'vitest'
import { payFinal, usdtTo } from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  disagreeOn,
  openGaps,
  rescan,
  stateOf,
  statesOf,
  tickLater,
  withAddress,
} from './harness.ts'

describe('a range that an operator has read again', () => {
  it('has the deposit credited that all nodes had hidden, and no other one twice', async () => {
    const { service, own } = await withAddress()
    const from = service.chain.tip().height
    const hide = () => changing('eth_getLogs', () => [])
    for (const node of service.nodes) node.script = hide
    payFinal(service, usdtTo(own, 2_000_000n), { kind: 'call', contract: addressOf(5), from: addressOf(6), logs: [] })
    await service.tick()
    for (const node of service.nodes) node.script = () => null
    payFinal(service, usdtTo(own, 3_000_000n))
    await tickLater(service, 120)
    const missed = await balancesOf(service)
    await rescan(service, from, (await stateOf(service)).height)
    await tickLater(service, 120)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    expect(missed[2]).toBeLessThanOrEqual(5)
    expect(await statesOf(service)).toEqual(['credited', 'credited'])
    expect(await openGaps(service)).toEqual([])
  })

  it('has no alarm where two ticks had no time for it, and one at the third', async () => {
    const { service, own } = await withAddress()
    payFinal(service, usdtTo(own, 2_000_000n))
    await service.tick()
    const { height } = await stateOf(service)
    await rescan(service, height - 2, height)
    const isAbout = (calls: readonly { params: readonly unknown[] }[]) =>
      JSON.stringify(calls).includes(`${height - 2}`)
    let seconds = 40
    for (const node of service.nodes) {
      node.script = ({ calls }) => {
        if (isAbout(calls)) service.clock.seconds += seconds
        return null
      }
    }
    await tickLater(service, 60)
    expect(await openGaps(service)).toMatchObject([{ next_height: height - 2, attempts: 1 }])
    expect(alarmsOf(service, 'gap-unread')).toEqual([])
    await tickLater(service, 20)
    expect(await openGaps(service)).toMatchObject([{ attempts: 2 }])
    expect(alarmsOf(service, 'gap-unread')).toEqual([])
    await tickLater(service, 120)
    expect(alarmsOf(service, 'gap-unread')).toMatchObject([{ attempts: 3 }])
    seconds = 0
    await tickLater(service, 300)
    expect(await openGaps(service)).toEqual([])
  })

  it('tries a block that cannot be read ever more rarely, with an alarm, and goes on behind it', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const first = service.chain.tip().height + 1
    payFinal(service, usdtTo(own, 2_000_000n))
    payFinal(service, usdtTo(own, 3_000_000n))
    await tickLater(service)
    disagreeOn(service, first)
    await rescan(service, first - 2, first + 2)
    await tickLater(service, 60)
    expect(await openGaps(service)).toMatchObject([
      { kind: 'request', next_height: first, to_height: first, attempts: 1 },
    ])
    expect(alarmsOf(service, 'gap-unread')).toMatchObject([{ from: first, to: first }])
  })
})
