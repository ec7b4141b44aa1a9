import { describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import {
  failed,
  finalityLag,
  payFinal,
  postInit,
  type RunningService,
  read,
  testNodes,
  usdtTo,
} from '../http/service.ts'
import { changing, failing } from '../support/scripted-node.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  correct,
  eventsOf,
  finalizedIn,
  limitLogs,
  noise,
  openGaps,
  rescan,
  retiredUsdt,
  stateOf,
  statesOf,
  tickLater,
  usdtWith,
  withAddress,
} from './harness.ts'

const oneNode = { TRON_NODES: testNodes.slice(0, 1), TRON_QUORUM: 1 }

/** Makes all nodes show this amount in every token log. */
function showAmount({ nodes }: RunningService, amount: bigint): void {
  const data = `0x${amount.toString(16).padStart(64, '0')}`
  const change = (result: unknown) => (result as object[]).map((log) => ({ ...log, data }))
  for (const node of nodes) node.script = () => changing('eth_getLogs', change)
}

/**
 * A database that fails the first batch which moves the position of the scan, although it has
 * stored the batch.
 */
function losingAnswer({ db }: RunningService): unknown {
  let isLost = false
  const position = () => db.prepare('SELECT height FROM scan').first<number>('height')
  return {
    prepare: (sql: string) => db.prepare(sql),
    withSession: (start: string) => db.withSession(start),
    async batch(statements: D1PreparedStatement[]) {
      const before = await position()
      const results = await db.batch(statements)
      if (isLost || (await position()) === before) return results
      isLost = true
      throw new Error('D1_ERROR: Network connection lost.')
    },
  }
}

/**
 * Scans the block `wrong`, which a node shows in place of `right`. Returns the service with
 * `repair`.
 */
async function scanWrongBlock(
  make: (own: Address) => { readonly wrong: readonly TransactionSpec[]; readonly right: readonly TransactionSpec[] },
  variables: Record<string, unknown> = {},
) {
  const { service, own } = await withAddress({ ...oneNode, ...variables })
  service.chain.addEmpty(finalityLag)
  await service.tick()
  const right = service.chain
  const before = right.tip().height
  const wrong = right.fork(before)
  const specs = make(own)
  wrong.add(specs.wrong)
  right.add(specs.right)
  wrong.addEmpty(finalityLag)
  right.addEmpty(finalityLag)
  for (const node of service.nodes) node.chain = wrong
  await tickLater(service, 60)
  expect((await stateOf(service)).height).toBe(before + 1)
  return {
    service,
    own,
    /**
     * Corrects the height as an operator does, gives the node the right chain, and runs a tick of
     * `ticking`.
     */
    async repair(ticking: RunningService = service) {
      for (const node of service.nodes) node.chain = right
      await correct(service, before)
      right.addEmpty(2)
      await tickLater(ticking, 60)
    },
  }
}

describe('after a correction of the finalized height', () => {
  it('a transfer that was held in a wrong block is credited from the block in which it is', async () => {
    const raw = 2n ** 53n + 5_000_000n
    const { service, own, repair } = await scanWrongBlock((to) => ({
      wrong: [usdtTo(to, raw)],
      right: [usdtTo(to, raw)],
    }))
    expect(await statesOf(service)).toEqual(['held:too-large'])
    showAmount(service, 5_000_000n)
    await repair()
    expect(own).toHaveLength(40)
    expect(await statesOf(service)).toEqual(['credited'])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    const { height } = (await service.db.prepare('SELECT height FROM transfer').first<{ height: number }>()) ?? {}
    expect(service.chain.at(height ?? 0)?.transactions).toHaveLength(1)
  })

  it('a transfer that was refused in a wrong block is decided anew', async () => {
    const same = (own: Address) => ({ wrong: [usdtTo(own, 5_000_000n)], right: [usdtTo(own, 5_000_000n)] })
    const { service, repair } = await scanWrongBlock(same, { CURRENCIES: usdtWith({ minDeposit: '10' }) })
    expect(await statesOf(service)).toEqual(['refused:below-minimum'])
    showAmount(service, 15_000_000n)
    await repair()
    expect(await statesOf(service)).toEqual(['credited'])
    expect(await eventsOf(service)).toEqual(['deposit.refused', 'deposit.credited'])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 15 })
  })

  it('a transfer that failed in the wrong block and succeeded in the right one is credited', async () => {
    const pay = (own: Address, failed: boolean): TransactionSpec => ({
      kind: 'token',
      contract: usdtAddress,
      from: addressOf(99),
      to: own,
      amount: 5_000_000n,
      failed,
    })
    const { service, repair } = await scanWrongBlock((own) => ({ wrong: [pay(own, true)], right: [pay(own, false)] }))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
    await repair()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })

  it('a transfer that is not in the chain any more is dropped, with an event', async () => {
    const { service, repair } = await scanWrongBlock((own) => ({ wrong: [usdtTo(own, 2n ** 53n)], right: [] }))
    expect(await statesOf(service)).toEqual(['held:too-large'])
    await repair()
    expect(await statesOf(service)).toEqual(['dropped'])
    expect(await eventsOf(service)).toEqual(['deposit.held', 'deposit.dropped'])
  })

  it('a decision that is sent again is answered as the first time, also where its transfer is dropped', async () => {
    const variables = { CURRENCIES: usdtWith({ reviewFrom: '20' }) }
    const { service, repair } = await scanWrongBlock(
      (own) => ({ wrong: [usdtTo(own, 25_000_000n)], right: [] }),
      variables,
    )
    const { txid } = (await service.db.prepare('SELECT txid FROM transfer').first<{ txid: string }>()) ?? {}
    const decide = async (decision: string) => {
      const deposits = [{ txid, position: 0, decision, why: 'looked at' }]
      return read(await service.ledger('/ledger/deposits/decide', postInit({ deposits })))
    }
    expect(await decide('refuse')).toMatchObject({ status: 200, body: { data: { replayed: false } } })
    await repair()
    expect(await decide('refuse')).toMatchObject({
      status: 200,
      body: { data: { list: [{ state: 'dropped', decided: { decision: 'refuse' } }], replayed: true } },
    })
    expect(await decide('credit')).toEqual(failed(409, 'deposit 1: it is dropped, not held for review'))
  })

  it('a credited transfer that is found again is credited once, without an alarm', async () => {
    const same = (own: Address) => ({ wrong: [usdtTo(own, 5_000_000n)], right: [usdtTo(own, 5_000_000n)] })
    const { service, repair } = await scanWrongBlock(same)
    await repair()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    expect(alarmsOf(service, 'corrected-credit')).toEqual([])
  })

  it('a credited transfer that is found again causes no alarm where the object does not know that the step is stored', async () => {
    const same = (own: Address) => ({ wrong: [usdtTo(own, 5_000_000n)], right: [usdtTo(own, 5_000_000n)] })
    const { service, repair } = await scanWrongBlock(same)
    await repair(service.with({ DB: losingAnswer(service) }))
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    await tickLater(service, 60)
    await tickLater(service, 60)
    expect(alarmsOf(service, 'corrected-credit')).toEqual([])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })

  it('a credited transfer that is found again in a gap causes no alarm, and another one does once the gap is read, also after a further correction', async () => {
    const { service, repair } = await scanWrongBlock((own) => ({
      wrong: [usdtTo(own, 5_000_000n), usdtTo(own, 3_000_000n)],
      right: [usdtTo(own, 5_000_000n), noise(60)],
    }))
    limitLogs(service, 50)
    for (const node of service.nodes) node.script = () => failing('eth_getTransactionReceipt', -32000, 'busy')
    await repair()
    await correct(service, finalizedIn(service) - 1)
    await tickLater(service)
    expect(alarmsOf(service, 'corrected-credit')).toEqual([])
    for (const node of service.nodes) node.script = () => null
    await tickLater(service, 120)
    expect(await openGaps(service)).toEqual([])
    await tickLater(service)
    expect(alarmsOf(service, 'corrected-credit')).toHaveLength(1)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 8 })
  })

  it('a credited transfer that is not found again stays in the ledger, with one alarm that names it', async () => {
    const { service, own, repair } = await scanWrongBlock((to) => ({ wrong: [usdtTo(to, 5_000_000n)], right: [] }))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    const { height } = await stateOf(service)
    await repair()
    await tickLater(service)
    const { txid } = (await service.db.prepare('SELECT txid FROM transfer').first<{ txid: string }>()) ?? {}
    expect(alarmsOf(service, 'corrected-credit')).toEqual([
      {
        ...{ level: 'error', alarm: 'corrected-credit', txid, position: 0, uid: 7, urgency: 'today' },
        ...{
          credited: `5 USDT to ${formatBase58(own)} in block ${height}`,
          chain: 'no such transfer to an address of this service',
        },
      },
    ])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })

  it('the scan of an instance that knew nothing of it stores nothing, and goes on from the corrected height', async () => {
    const { service, own } = await withAddress(oneNode)
    await service.tick()
    payFinal(service, usdtTo(own, 5_000_000n))
    const { height } = await stateOf(service)
    let corrected = false
    for (const node of service.nodes) {
      node.script = ({ calls }) => {
        if (corrected || calls[0]?.method !== '/wallet/getblockbylimitnext') return null
        corrected = true
        return { kind: 'delayed', wait: () => correct(service, height) }
      }
    }
    await tickLater(service)
    expect(corrected).toBe(true)
    await tickLater(service)
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })
})

/**
 * A database in which `work` runs once, just before the first batch that stores transfers, as the
 * work of another instance would.
 */
function interrupted({ db }: RunningService, work: () => Promise<void>): unknown {
  let left: (() => Promise<void>) | null = work
  let isStoring = false
  return {
    prepare(sql: string) {
      isStoring ||= /INSERT INTO "stored_transfer"|UPDATE "stored_transfer" SET "version" = "change"/.test(sql)
      return db.prepare(sql)
    },
    withSession: (start: string) => db.withSession(start),
    async batch(statements: D1PreparedStatement[]) {
      const before = isStoring ? left : null
      if (before !== null) left = null
      await before?.()
      return await db.batch(statements)
    },
  }
}

describe('what was read from a wrong chain', () => {
  /**
   * Corrects the height as an operator does; then another instance scans the right chain beyond
   * that height.
   */
  const replace = (service: RunningService, height: number, right: RunningService['chain']) => async () => {
    await correct(service, height)
    for (const node of service.nodes) node.chain = right
    await tickLater(service.with({}))
  }

  it('is not credited by a question that ends after the correction', async () => {
    const { service, own } = await withAddress(oneNode)
    await service.tick()
    const right = service.chain.fork(service.chain.tip().height)
    const { height } = await stateOf(service)
    const [txid = ''] = payFinal(service, usdtTo(own, 5_000_000n))
    right.addEmpty(finalityLag + 10)
    service.clock.seconds += 60
    const asking = service.with({ DB: interrupted(service, replace(service, height, right)) })
    expect((await asking.get(`/tron/recharge?txid=${txid}`)).status).toBe(409)
    expect((await stateOf(service)).height).toBe(right.tip().height - finalityLag)
    expect(await statesOf(service)).toEqual([])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })

  it('is not credited where it was held, and the reason ends while the correction is made', async () => {
    const { service, own } = await withAddress({ ...oneNode, CURRENCIES: retiredUsdt })
    await service.tick()
    const right = service.chain.fork(service.chain.tip().height)
    const { height } = await stateOf(service)
    payFinal(service, usdtTo(own, 5_000_000n))
    right.addEmpty(finalityLag + 10)
    await tickLater(service, 60)
    expect(await statesOf(service)).toEqual(['held:retired'])
    const accepted = { CURRENCIES: retiredUsdt.map((one) => ({ ...one, retired: false })) }
    const deciding = service.with({ ...accepted, DB: interrupted(service, replace(service, height, right)) })
    await tickLater(deciding)
    expect((await stateOf(service)).height).toBe(right.tip().height - finalityLag)
    expect(await statesOf(service)).toEqual(['dropped'])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })
})

describe('what is not credited', () => {
  /** Makes the only node show too large an amount in every log. */
  const overstate = (service: RunningService) => {
    for (const node of service.nodes) {
      node.script = () =>
        changing('eth_getLogs', (result) =>
          (result as object[]).map((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })),
        )
    }
  }

  it('is replaced by what is agreed later: an amount that was overstated once is credited as it is', async () => {
    const { service, own } = await withAddress(oneNode)
    await service.tick()
    overstate(service)
    payFinal(service, usdtTo(own, 5_000_000n))
    await tickLater(service)
    expect(await statesOf(service)).toEqual(['held:too-large'])
    for (const node of service.nodes) node.script = () => null
    const { height } = await stateOf(service)
    await rescan(service, height - 5, height)
    await tickLater(service)
    expect(await statesOf(service)).toEqual(['credited'])
    expect(await service.db.prepare('SELECT raw FROM transfer').first()).toEqual({ raw: '5000000' })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })

  it('is replaced where it was seen with another amount before its block was final', async () => {
    const { service, own } = await withAddress(oneNode)
    overstate(service)
    service.chain.add([usdtTo(own, 5_000_000n)])
    await service.tick()
    expect(await statesOf(service)).toEqual(['seen'])
    for (const node of service.nodes) node.script = () => null
    service.chain.addEmpty(finalityLag)
    await tickLater(service, 60)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })
})
