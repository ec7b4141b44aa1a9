import { describe, expect, it } from 'vitest'
import type { Reason } from '../../src/worker/common/reasons.ts'
import {
  addressIn,
  failed,
  finalityLag,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  startService,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import { usdtBase58 } from '../support/variables.ts'
import {
  alarmsOf,
  balancesOf,
  eventsOf,
  finalizedIn,
  openGaps,
  stateOf,
  statesOf,
  withAddress,
  withDeposit,
} from './harness.ts'

const ask = async (service: RunningService, txid: string, uid = 7) => {
  const response = await service.get(`/tron/recharge?txid=${txid}`, uid)
  return { reason: response.headers.get('x-reason'), ...(await read(response)) }
}
const refused = (status: number, reason: Reason) => ({ ...failed(status, expect.any(String)), reason })
const waits = (seconds: number) => ({
  ...failed(409, `found, not final yet; try again in about ${seconds} s`),
  reason: 'not-final',
})
const withMinimum = {
  CURRENCIES: [
    { cuy: 1, symbol: 'TRX', decimals: 6, minDeposit: '2' },
    { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 },
  ],
}

describe('a question about a transaction', () => {
  it('credits it once, however far behind the scan is', async () => {
    const { service, txid } = await withDeposit()
    service.chain.addEmpty(3000)
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('success: credited 25 USDT')
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('success: already credited 25 USDT')
    expect((await stateOf(service)).height).toBeLessThan(finalizedIn(service) - 2900)
    service.clock.seconds += 20
    for (let i = 0; i < 5; i += 1) await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await statesOf(service)).toEqual(['credited'])
  })

  it('works for blocks before the start of the scan', async () => {
    const service = await startService()
    const start = service.chain.tip().height
    const early = service.with({ TRON_START_BLOCK: String(service.chain.firstHeight) })
    const own = await addressIn(await early.get('/tron/generate'))
    const [txid = ''] = payFinal(service, usdtTo(own, 5_000_000n))
    await service.db
      .prepare('UPDATE scan SET height = ?1, hash = NULL, finalized = ?1')
      .bind(start + 1)
      .run()
    expect(await ask(early, txid)).toMatchObject({ status: 200 })
    expect(await balancesOf(early)).toEqual({ 1: 0, 2: 5 })
  })

  it('of a hundred callers at once costs one answer for each, and one credit', async () => {
    const { service, txid } = await withDeposit()
    const before = requestsOf(service)
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(service, txid)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(requestsOf(service) - before).toBeLessThan(20)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('is answered from what is stored where that is decided: TRX without a node, tokens with one request to each', async () => {
    const { service, own } = await withAddress(withMinimum)
    const specs = [trxTo(own, 1_000_000n), trxTo(own, 2_000_000n), usdtTo(own, 1_000_000n)]
    const [small = '', credited = '', token = ''] = payFinal(service, ...specs)
    await service.tick()
    const before = requestsOf(service)
    expect(await ask(service, small)).toEqual(refused(422, 'below-minimum'))
    expect(await ask(service, credited)).toMatchObject({ status: 200 })
    expect(requestsOf(service)).toBe(before)
    expect(await ask(service, token)).toMatchObject({ status: 200 })
    expect(requestsOf(service)).toBe(before + 2) // one to each node: did the contract send TRX as well?
  })

  it('names what is credited and what is not, if a transaction has both, by the nodes and by what is stored', async () => {
    const { service, own } = await withAddress(withMinimum)
    const amounts = [5_000_000n, 10n ** 30n, 2n ** 70n]
    const logs = amounts.map((amount) => transferLog(usdtAddress, addressOf(99), own, amount))
    const [txid = ''] = payFinal(service, { kind: 'call', contract: usdtAddress, from: addressOf(99), logs })
    const others = '2 transfers not credited: it is too large for one entry; an operator must decide about it'
    const found = async () => (await read(await service.ledger(`/ledger/transaction?txid=${txid}`))).body
    expect(await found()).toMatchObject({ data: { why: expect.stringMatching(new RegExp(`credits it; ${others}$`)) } })
    expect(await ask(service, txid)).toMatchObject({
      status: 200,
      body: { msg: `success: credited 5 USDT; ${others}` },
    })
    await service.tick()
    expect(await ask(service, txid)).toMatchObject({
      status: 200,
      body: { msg: `success: already credited 5 USDT; ${others}` },
    })
    expect(await found()).toMatchObject({ data: { answer: 'credited', why: `already credited; ${others}` } })
  })

  it('stores nothing but a credit: what is worth nothing makes no row and no event', async () => {
    const { service, own } = await withAddress(withMinimum)
    const [small = '', failedId = ''] = payFinal(service, trxTo(own, 1_000_000n), {
      ...(usdtTo(own, 1n) as TransactionSpec & { kind: 'token' }),
      failed: true,
    })
    expect(await ask(service, small)).toEqual(refused(422, 'below-minimum'))
    expect(await ask(service, failedId)).toEqual(refused(422, 'transaction-failed'))
    expect(await statesOf(service)).toEqual([])
    expect(await eventsOf(service)).toEqual([])
  })

  it('says why there is nothing to credit, and describes nothing of other callers', async () => {
    const { service, own, txid } = await withDeposit()
    const trc10: TransactionSpec = { kind: 'trc10', from: addressOf(99), to: own, amount: 5n }
    const other: TransactionSpec = { ...usdtTo(own, 5n), contract: addressOf(44) } as TransactionSpec
    const [trc10Id = '', otherId = '', strangeId = ''] = payFinal(service, trc10, other, usdtTo(addressOf(4), 5n))
    expect(await ask(service, trc10Id)).toEqual(refused(422, 'trc10'))
    expect(await ask(service, otherId)).toEqual(refused(422, 'not-accepted'))
    const nothing = await ask(service, strangeId, 8)
    expect(nothing).toEqual(refused(422, 'no-transfer'))
    expect(await ask(service, txid, 8)).toEqual(nothing)
    expect(await balancesOf(service, 8)).toEqual({ 1: 0, 2: 0 })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })

  it('is 404 for an unknown one, and 409 with the seconds for one that is not final or not mined', async () => {
    const { service, own } = await withAddress()
    expect(await ask(service, 'ab'.repeat(32))).toMatchObject({ status: 404 })
    const [txid = ''] = service.chain.add([usdtTo(own, 5n)]).transactions.map((one) => one.txid)
    expect(await ask(service, txid)).toEqual(waits(57))
    const waiting = 'cd'.repeat(32)
    for (const node of service.nodes) node.unmined.add(waiting)
    expect(await ask(service, waiting)).toEqual(waits(60))
  })

  it('is undecided where the nodes disagree, and credits nothing', async () => {
    const { service, txid } = await withDeposit()
    const [first] = service.nodes
    if (first === undefined) throw new Error('a node')
    first.script = () => changing('eth_getLogs', () => [])
    expect(await ask(service, txid)).toEqual(refused(409, 'nodes-disagree'))
    expect(await statesOf(service)).toEqual([])
  })

  it('is undecided where its bytes cannot be read, which an alarm says; the rest of its block is credited by the scan', async () => {
    const { service, own } = await withAddress()
    const unreadable = { kind: 'bytes', rawData: Uint8Array.of(7), from: addressOf(9), to: own, amount: 5n } as const
    const [txid = ''] = payFinal(service, unreadable, usdtTo(own, 6_000_000n))
    expect(await ask(service, txid)).toEqual(refused(409, 'transaction-unreadable'))
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 6 })
    expect(alarmsOf(service, 'transaction-unreadable')).toMatchObject([{ txids: txid }])
    expect(await openGaps(service)).toEqual([])
  })

  it('credits nothing while the scan is halted, asks no node, and credits afterwards', async () => {
    const { service, txid } = await withDeposit()
    const halt = (reason: string | null) => service.db.prepare('UPDATE scan SET halted = ?1').bind(reason).run()
    await halt('forked')
    const before = requestsOf(service)
    expect(await ask(service, txid)).toEqual(refused(409, 'chain-forked'))
    expect(requestsOf(service)).toBe(before)
    await halt(null)
    expect(await ask(service, txid)).toMatchObject({ status: 200 })
  })

  it('about one that was seen and is final by now credits it', async () => {
    const { service, own } = await withAddress()
    const [txid = ''] = service.chain.add([usdtTo(own, 5_000_000n)]).transactions.map((one) => one.txid)
    await service.tick()
    service.chain.addEmpty(finalityLag)
    service.clock.seconds += 60
    expect(await ask(service, txid)).toMatchObject({ status: 200 })
    await service.tick()
    expect(await statesOf(service)).toEqual(['credited'])
    expect(await eventsOf(service)).toEqual(['deposit.seen', 'deposit.credited'])
  })
})
