import { describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import {
  addressIn,
  failed,
  finalityLag,
  payFinal,
  postInit,
  type RunningService,
  read,
  startService,
  testNodes,
  usdtTo,
} from '../http/service.ts'
import { contentOf } from '../payouts/harness.ts'
import { signTransfer } from '../support/payouts.ts'
import { changing, failing } from '../support/scripted-node.ts'
import { addressOf, type LogSpec, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  correct,
  eventsOf,
  finalizedIn,
  headOf,
  limitLogs,
  noise,
  openGaps,
  rescan,
  retiredUsdt,
  stateOf,
  statesOf,
  tickFor,
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

/** A database that fails the first batch which moves the position of the scan, although it has stored the batch. */
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

/** Scans the block `wrong`, which a node shows in place of `right`. Returns the service with `repair`. */
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
    /** Corrects the height as an operator does, gives the node the right chain, and runs a tick of `ticking`. */
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

/** A database in which `work` runs once, just before the first batch that stores transfers, as the work of another instance would. */
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
  /** Corrects the height as an operator does; then another instance scans the right chain beyond that height. */
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

describe('a credited transfer that blocks show otherwise when they are read again', () => {
  const payer = addressOf(99)
  /** The words of an alarm for an amount, its recipient and its block. */
  const said = (usdt: number, to: Address, height: number) => `${usdt} USDT to ${formatBase58(to)} in block ${height}`

  /**
   * A service whose user 7 has `own` and user 8 `other`. A transaction has credited 25 USDT to user 7 in the block `height`. `show` gives the nodes a chain in
   * which the same transaction has these logs, `later` blocks above that height (null: it is in no block), and returns that chain.
   */
  async function withCredit() {
    const service = await startService(oneNode)
    service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
    const own = await addressIn(await service.get('/tron/generate'))
    const other = await addressIn(await service.get('/tron/generate', 8))
    await service.tick()
    const { rawData } = signTransfer(contentOf(await headOf(service)))
    const before = service.chain.tip().height
    const start = service.chain.fork(before)
    const { height, transactions } = service.chain.add([
      { kind: 'signed', rawData, logs: [transferLog(usdtAddress, payer, own, 25_000_000n)] },
    ])
    service.chain.addEmpty(finalityLag)
    await tickLater(service, 90)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    const txid = transactions[0]?.txid ?? ''
    const show = (logs: readonly LogSpec[] | null, later = 0) => {
      const chain = start.fork(before)
      chain.addEmpty(later)
      if (logs === null) chain.addEmpty(1)
      else chain.add([{ kind: 'signed', rawData, logs, failed: logs.length === 0 }])
      chain.addEmpty(finalityLag + 30)
      for (const node of service.nodes) node.chain = chain
      return chain
    }
    const pays = (amount: bigint, to = own) => [transferLog(usdtAddress, payer, to, amount)]
    const credited = { txid, position: 0, uid: 7, credited: said(25, own, height) }
    return { service, own, other, height, txid, rawData, show, pays, credited }
  }

  const alarm = { level: 'error', alarm: 'corrected-credit', urgency: 'today' }
  const nothing = 'no such transfer to an address of this service'
  /** Both ways to have the block read again, with these logs of the transaction (null: the chain is one without it). */
  const ways: readonly [
    string,
    (credit: Awaited<ReturnType<typeof withCredit>>, logs: readonly LogSpec[] | null) => Promise<void>,
  ][] = [
    [
      'after a correction',
      async ({ service, height, show }, logs) => {
        show(logs)
        await correct(service, height - 1)
      },
    ],
    [
      'at the request of an operator',
      async ({ service, height }, logs) => {
        // A block whose receipts have logs and that shows none is not believed, so the log pays a stranger where there is to be none.
        const [{ topics, data }] = logs?.[0] === undefined ? [transferLog(usdtAddress, payer, payer, 1n)] : [logs[0]]
        const shown = (all: unknown) => (all as object[]).map((log) => ({ ...log, topics, data }))
        for (const node of service.nodes) node.script = () => changing('eth_getLogs', shown)
        await rescan(service, height, height)
      },
    ],
  ]

  describe.each(ways)('%s', (_way, readAgain) => {
    it.each([
      ['a smaller amount', 5_000_000n, 5],
      ['a larger amount', 50_000_000n, 50],
    ] as const)('has an alarm with what is credited and %s, and stays', async (_what, amount, usdt) => {
      const credit = await withCredit()
      const { service, own, height, pays, credited } = credit
      await readAgain(credit, pays(amount))
      await tickFor(service, 200)
      expect(alarmsOf(service, 'corrected-credit')).toEqual([{ ...alarm, ...credited, chain: said(usdt, own, height) }])
      expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    })

    it('has an alarm with another recipient, whose question says that it is credited otherwise', async () => {
      const credit = await withCredit()
      const { service, other, height, txid, pays, credited } = credit
      await readAgain(credit, pays(25_000_000n, other))
      await tickFor(service, 200)
      const seen = { ...alarm, ...credited, chain: said(25, other, height) }
      expect(alarmsOf(service, 'corrected-credit')).toEqual([seen])
      const answer = await service.get(`/tron/recharge?txid=${txid}`, 8)
      expect([answer.status, answer.headers.get('x-reason')]).toEqual([409, 'credited-otherwise'])
      expect(alarmsOf(service, 'corrected-credit')).toEqual([seen])
      expect(await balancesOf(service, 8)).toEqual({ 1: 0, 2: 0 })
    })

    it.each([
      ['in which it has failed', []],
      ['without it', null],
    ] as const)('has an alarm where the chain is one %s', async (_what, logs) => {
      const credit = await withCredit()
      const { service, credited } = credit
      await readAgain(credit, logs)
      await tickFor(service, 200)
      expect(alarmsOf(service, 'corrected-credit')).toEqual([{ ...alarm, ...credited, chain: nothing }])
      expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    })

    it('has no alarm where the blocks show it as it is credited', async () => {
      const credit = await withCredit()
      const { service, pays } = credit
      await readAgain(credit, pays(25_000_000n))
      await tickFor(service, 200)
      expect(alarmsOf(service, 'corrected-credit')).toEqual([])
      expect(await service.db.prepare('SELECT sought FROM transfer').first('sought')).toBe(0)
    })
  })

  it('has its new block after a correction, so that a further correction of that block looks for it again', async () => {
    const { service, own, height, show, pays, txid } = await withCredit()
    show(pays(25_000_000n), 9)
    await correct(service, height - 1)
    await tickFor(service, 200)
    expect(alarmsOf(service, 'corrected-credit')).toEqual([])
    const rows = () => service.db.prepare('SELECT height, state, sought FROM transfer').all()
    expect((await rows()).results).toEqual([{ height: height + 9, state: 'credited', sought: 0 }])
    show(null)
    await correct(service, height + 5)
    await tickFor(service, 200)
    const credited = { txid, position: 0, uid: 7, credited: said(25, own, height + 9) }
    expect(alarmsOf(service, 'corrected-credit')).toEqual([{ ...alarm, ...credited, chain: nothing }])
  })

  it('has a second alarm where it was not found, and is in a later block after all', async () => {
    const { service, own, height, credited, pays, rawData, show } = await withCredit()
    const chain = show(null)
    await correct(service, height - 1)
    await tickFor(service, 200)
    const { height: later } = chain.add([{ kind: 'signed', rawData, logs: pays(25_000_000n) }])
    chain.addEmpty(finalityLag)
    await tickFor(service, 100)
    expect(alarmsOf(service, 'corrected-credit')).toEqual([
      { ...alarm, ...credited, chain: nothing },
      { ...alarm, ...credited, chain: said(25, own, later) },
    ])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })
})
