import { describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { addressIn, finalityLag, startService, testNodes } from '../http/service.ts'
import { contentOf } from '../payouts/harness.ts'
import { signTransfer } from '../support/payouts.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf, type LogSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import { alarmsOf, balancesOf, correct, headOf, rescan, tickFor, tickLater } from './harness.ts'

const oneNode = { TRON_NODES: testNodes.slice(0, 1), TRON_QUORUM: 1 }

describe('a credited transfer that blocks show otherwise when they are read again', () => {
  const payer = addressOf(99)
  /** The words of an alarm for an amount, its recipient and its block. */
  const said = (usdt: number, to: Address, height: number) => `${usdt} USDT to ${formatBase58(to)} in block ${height}`

  /**
   * A service whose user 7 has `own` and user 8 `other`. A transaction has credited 25 USDT to user
   * 7 in the block `height`. `show` gives the nodes a chain in which the same transaction has these
   * logs, `later` blocks above that height (null: it is in no block), and returns that chain.
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
  /**
   * Both ways to have the block read again, with these logs of the transaction (null: the chain is
   * one without it).
   */
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
        // A block whose receipts have logs and that shows none is not believed, so the log pays a
        // stranger where there is to be none.
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
