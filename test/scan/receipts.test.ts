import { describe, expect, it } from 'vitest'
import { payFinal, type RunningService, usdtTo } from '../http/service.ts'
import { changing, type Fault, failing } from '../support/scripted-node.ts'
import {
  alarmsOf,
  balancesOf,
  callsOf,
  correct,
  finalizedIn,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  rescan,
  stateOf,
  statesOf,
  tickLater,
  usdtWith,
  withAddress,
  withoutReceiptOf,
} from './harness.ts'

/**
 * Starts a service whose user gets these payments in a block with more logs than nodes return at
 * once: the scan must read receipts, which meet `fault`.
 */
async function withManyLogs(payments: readonly bigint[], fault: () => Fault) {
  const { service, own } = await withAddress()
  limitLogs(service, 50)
  for (const node of service.nodes) node.script = fault
  const height = service.chain.tip().height + 1
  payFinal(service, noise(60), ...payments.map((amount) => usdtTo(own, amount)))
  await service.tick()
  return { service, height }
}

const hide = () => changing('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), logs: [] }))
const busy = () => failing('eth_getTransactionReceipt', -32000, 'busy')

/**
 * A tick one minute later that runs out of time: from the 81st receipt on, each request takes 30 s.
 */
async function tickShortly(service: RunningService, fault: () => Fault | null = () => null): Promise<void> {
  let receipts = 0
  for (const node of service.nodes) {
    node.script = ({ calls }) => {
      receipts += calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length
      if (receipts > 80) service.clock.seconds += 30
      return fault()
    }
  }
  await tickLater(service, 60)
}

describe('the receipts of a block that an operator has read again', () => {
  it('are read again, also if they were read before', async () => {
    const { service, height } = await withManyLogs([2_000_000n], hide)
    expect(await openGaps(service)).toEqual([])
    expect(await statesOf(service)).toEqual([])
    repairNodes(service)
    await rescan(service, height, height)
    for (let i = 0; i < 3; i += 1) await tickLater(service, 120)
    expect(await openGaps(service)).toEqual([])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
  })

  it('show again what was refused, which is decided again', async () => {
    const { service, own } = await withAddress({ CURRENCIES: usdtWith({ minDeposit: '10' }) })
    limitLogs(service, 50)
    const height = service.chain.tip().height + 1
    payFinal(service, noise(60), usdtTo(own, 2_000_000n))
    await service.tick()
    expect(await statesOf(service)).toEqual(['refused:below-minimum'])
    const changed = service.with({ CURRENCIES: usdtWith({ minDeposit: '1' }) })
    await rescan(service, height, height)
    await tickLater(changed, 120)
    expect(await statesOf(service)).toEqual(['credited'])
  })

  it('are read again later where they cannot be read then, also if they were read before', async () => {
    const { service, height } = await withManyLogs([2_000_000n], hide)
    expect(await openGaps(service)).toEqual([])
    for (const node of service.nodes) node.script = busy
    await rescan(service, height, height)
    await tickLater(service, 120)
    repairNodes(service)
    for (let i = 0; i < 4; i += 1) await tickLater(service, 120)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
  })

  it('are read to their end, also in a gap, asked for twice, and more than one tick has time for', async () => {
    const payments = Array.from({ length: 90 }, () => 1_000_000n)
    const { service, height } = await withManyLogs(payments, busy)
    await rescan(service, height, height)
    await rescan(service, height, height)
    for (let i = 0; i < 12; i += 1) await tickShortly(service)
    expect(await openGaps(service)).toEqual([])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 90 })
  })
})

it('a block of a gap that one tick has no time for waits for no unreadable one before it', async () => {
  const { service, own } = await withAddress()
  limitLogs(service, 50)
  const height = service.chain.tip().height + 1
  const [hugeId = ''] = service.chain.add([noise(60)]).transactions.map(({ txid }) => txid)
  payFinal(service, noise(60), ...Array.from({ length: 150 }, () => usdtTo(own, 1_000_000n)))
  for (let i = 0; i < 6; i += 1) await tickShortly(service, () => withoutReceiptOf(hugeId))
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 150 })
  const why = expect.stringContaining(hugeId)
  expect(await openGaps(service)).toMatchObject([{ from_height: height, to_height: height, why }])
  expect(alarmsOf(service, 'gap-unread').filter(({ from }) => from === height)).toMatchObject([{ why }])
})

/**
 * A database in which an operator corrects the height just before the first part of a rescan is
 * stored.
 */
function correcting(service: RunningService): unknown {
  const { db } = service
  let step = 0
  return {
    prepare: (sql: string) => {
      if (sql.includes('UPDATE rescan SET next_height')) step += 1
      return db.prepare(sql)
    },
    withSession: (start: string) => db.withSession(start),
    async batch(statements: D1PreparedStatement[]) {
      if (step === 1) await correct(service, finalizedIn(service) - 1)
      return await db.batch(statements)
    },
  }
}

it('a correction while a rescan is read ends the reading of this tick', async () => {
  const { service } = await withAddress()
  await service.tick()
  await rescan(service, service.chain.tip().height - 40, (await stateOf(service)).height - 2)
  const before = callsOf(service, '/wallet/getblockbylimitnext').length
  await tickLater(service.with({ DB: correcting(service) }), 60)
  // one read, which looks for a later block
  expect(callsOf(service, '/wallet/getblockbylimitnext').length - before).toBeLessThan(20)
  expect(await openGaps(service)).toHaveLength(1)
})

it('a plain deposit in a block of junk is credited by the first receipts, wherever it is in the block', async () => {
  const { service, own } = await withAddress()
  limitLogs(service, 50)
  const junk = Array.from({ length: 100 }, () => noise(1))
  payFinal(service, ...junk.slice(50), usdtTo(own, 2_000_000n), ...junk.slice(50))
  let receipts = 0
  for (const node of service.nodes) {
    node.script = ({ calls }) => {
      receipts += calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length
      return receipts > 2 * 4 ? { kind: 'status', status: 500 } : null
    }
  }
  await service.tick()
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
  repairNodes(service)
  for (let i = 0; i < 4; i += 1) await tickLater(service, 120)
  expect(await openGaps(service)).toEqual([])
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
})

it('a block whose receipts take longer than a tick has keeps no other one waiting, and is asked about ever more rarely', async () => {
  const { service, own } = await withAddress()
  limitLogs(service, 50)
  const slow = service.chain.add([noise(60), usdtTo(own, 1_000_000n)])
  payFinal(service, noise(60), usdtTo(own, 2_000_000n))
  let isSlow = true
  for (const node of service.nodes) {
    node.script = ({ calls }) => {
      const isAbout = calls.some(({ params: [first] }) => slow.transactions.some(({ txid }) => `0x${txid}` === first))
      if (!isAbout || !isSlow) return null
      service.clock.seconds += 30 // longer than a tick has
      return { kind: 'status', status: 500 }
    }
  }
  for (let i = 0; i < 3; i += 1) await tickLater(service)
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
  const asked = () => callsOf(service, 'eth_getTransactionReceipt').length
  for (let i = 0; i < 10; i += 1) await tickLater(service, 600)
  const before = asked()
  for (let i = 0; i < 10; i += 1) await tickLater(service)
  expect(asked() - before).toBeLessThan(3 * 2)
  isSlow = false
  await tickLater(service, 86_400)
  expect(await statesOf(service)).toEqual(['credited', 'credited'])
})
