import { HDKey } from '@scure/bip32'
import { describe, expect, it } from 'vitest'
import { wellAfterMs } from '../../src/platform/alarms.ts'
import { stallMs } from '../../src/scan/scan.ts'
import {
  addressFrom,
  addressIn,
  firstAddress,
  payFinal,
  type RunningService,
  startService,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'

const alarmsIn = (service: RunningService, kind: string) =>
  service.lines.filter((line) => line.includes(`"alarm":"${kind}"`)).length

/** Ticks of as many isolates with the same database, with as many seconds and new blocks between them. */
async function ticks(service: RunningService, count: number, seconds = 60) {
  for (let i = 0; i < count; i += 1) {
    service.clock.seconds += seconds
    service.chain.addEmpty(1)
    await service.with({}).tick()
  }
}

async function startScanned(): Promise<RunningService> {
  const service = await startService()
  payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 1n))
  await service.tick()
  return service
}

/** The service once node 1 hides the logs of tokens. */
async function startDisputed(): Promise<RunningService> {
  const service = await startScanned()
  const [first] = service.nodes
  if (first !== undefined) first.script = () => changing('eth_getLogs', () => [])
  payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 2n))
  return service
}

const agreeAgain = (service: RunningService) => {
  for (const node of service.nodes) node.script = () => null
}

describe('the alarms about nodes', () => {
  it.each(['nodes-disagree', 'node-lies'])(
    '%s is raised once while it lasts, whichever isolate sees it',
    async (kind) => {
      const service = await startDisputed()
      await ticks(service, 6, 1_500)
      expect(alarmsIn(service, kind)).toBe(1)
    },
  )

  it('are raised again once the nodes were well for an hour', async () => {
    const service = await startDisputed()
    await ticks(service, 2, 1_500)
    agreeAgain(service)
    await ticks(service, 3, wellAfterMs / 2_000)
    const [first] = service.nodes
    if (first !== undefined) first.script = () => changing('eth_getLogs', () => [])
    payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 3n))
    await ticks(service, 2)
    expect(alarmsIn(service, 'nodes-disagree')).toBe(2)
    expect(alarmsIn(service, 'node-lies')).toBe(2)
  })

  it('node-lies is raised once about a node of another chain, whichever isolate asks it', async () => {
    const service = await startScanned()
    const [first] = service.nodes
    if (first !== undefined) first.script = () => changing('eth_chainId', () => '0x1')
    await ticks(service, 4)
    expect(alarmsIn(service, 'node-lies')).toBe(1)
  })
})

describe('the alarm configuration-differs', () => {
  const otherKey = HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/195'/1'").publicExtendedKey

  it('is raised once for each setting, whichever isolate compares it, and again after it was well', async () => {
    const service = await startScanned()
    const wrong = { TRON_CHAIN_ID: '0x1', TRON_XPUB: otherKey }
    for (let i = 0; i < 3; i += 1) await service.with(wrong).tick()
    expect(alarmsIn(service, 'configuration-differs')).toBe(2)
    await ticks(service, 1)
    await service.with(wrong).get('/wallet/list')
    expect(alarmsIn(service, 'configuration-differs')).toBe(4)
  })
})

describe('the alarm key-was-used', () => {
  it('is raised once, whichever isolate finds it, until TRON_FIRST_INDEX is set', async () => {
    const service = await startService()
    for (const node of service.nodes) node.balances.set(addressFrom(firstAddress), 1n)
    for (let i = 0; i < 3; i += 1) expect((await service.with({}).get('/tron/generate')).status).toBe(503)
    expect(alarmsIn(service, 'key-was-used')).toBe(1)
    await service.with({ TRON_FIRST_INDEX: 20 }).tick()
    expect((await service.with({}).get('/tron/generate')).status).toBe(503)
    expect(alarmsIn(service, 'key-was-used')).toBe(2)
  })
})

describe('an alarm that a killed invocation left raised', () => {
  const leave = (service: RunningService, kind: string) =>
    service.db.prepare(`INSERT INTO alarm (name, detail, raised_at) VALUES ('${kind}', '', 0)`).run()

  it('is no reason to be silent about the next fork', async () => {
    const service = await startScanned()
    await leave(service, 'chain-forked')
    await ticks(service, 1)
    const other = service.chain.fork(service.chain.tip().height - 25)
    other.addEmpty(30)
    for (const node of service.nodes) node.chain = other
    await service.tick()
    expect(alarmsIn(service, 'chain-forked')).toBe(1)
  })

  it('is no reason to be silent about the next time that finality stalls', async () => {
    const service = await startScanned()
    await leave(service, 'finality-stalled')
    await ticks(service, 1)
    service.clock.seconds += stallMs / 1000 + 1
    await service.tick()
    expect(alarmsIn(service, 'finality-stalled')).toBe(1)
  })
})
