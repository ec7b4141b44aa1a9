import { describe, expect, it } from 'vitest'
import {
  alarmsOf,
  disagreeOn,
  finalizedIn,
  headOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import { payoutAddress, signTransfer } from '../support/payouts.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  ask,
  balance,
  expiringAfter,
  handIn,
  mined,
  mineFinal,
  offered,
  paidLog,
  payoutEvents,
  recipient,
  recipientBase58,
  scanTo,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
  trxContent,
} from './harness.ts'

describe('a transaction that is in a final block', () => {
  it('has paid if a log of the token has exactly the amount, from the payout address to the recipient', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const height = await mineFinal(service, mined(signed))
    expect(await shown(service, id)).toMatchObject({ state: 'paid', height, attempts: 0, txid: signed.txid })
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid'])
    expect(await balance(service)).toBe(995_000_000)
    expect(await offered(service)).toEqual([])
  })

  it('has paid TRX if it has succeeded', async () => {
    const service = await startPaying()
    const { id } = await ask(service, { cuy: 1 })
    const signed = signTransfer(trxContent(await headOf(service)))
    await handIn(service, id, signed.transaction)
    await mineFinal(service, mined(signed, { logs: [] }))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('has paid although the token has moved more in it', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    await mineFinal(service, mined(signed, { logs: [paidLog(1n, addressOf(70)), paidLog()] }))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('has paid under whichever signature it was mined, and whatever the nodes have said about the sending', async () => {
    const service = await startPaying()
    const refusal = { code: 'TRANSACTION_EXPIRATION_ERROR', message: '' }
    for (const node of service.nodes) node.script = () => changing('/wallet/broadcasthex', () => refusal)
    const { id, ...signed } = await signedPayout(service)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    await mineFinal(service, mined(signed))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('is found in a block with more logs than a reply holds, by its receipt', async () => {
    const service = await startPaying()
    limitLogs(service, 50)
    const { id, ...signed } = await signedPayout(service)
    await mineFinal(service, noise(60), mined(signed))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('waits in such a block while its receipt cannot be read, and is neither expired nor paid meanwhile', async () => {
    const service = await startPaying()
    limitLogs(service, 50)
    const { id, last, ...signed } = await expiringAfter(service, 30)
    for (const node of service.nodes) node.script = () => withoutReceiptOf(signed.txid)
    await mineFinal(service, noise(60), mined(signed))
    await scanTo(service, last + 1)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    expect(await openGaps(service)).toMatchObject([{ kind: 'gap' }])
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('has failed if it was reverted or ran out of energy: its money stays taken', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const height = await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    expect(await shown(service, id)).toMatchObject({
      state: 'stuck',
      reason: 'failed',
      attempts: 1,
      height,
      txid: signed.txid,
      failure: { result: 'REVERT', burnt: 0, energy: 0 },
      why: "its transaction is final and has failed (REVERT: the token's contract refused the transfer): nothing was paid, and it cost 0 TRX and 0 energy",
    })
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'stuck'])
    expect(await balance(service)).toBe(995_000_000)
    expect(await offered(service)).toEqual([])
  })

  it('has failed as well if all of its energy was burnt', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const show = (result: unknown) => JSON.parse(JSON.stringify(result).replaceAll('"REVERT"', '"OUT_OF_ENERGY"'))
    const cost = (info: object) => ({
      ...info,
      fee: 1_530_000,
      receipt: { result: 'OUT_OF_ENERGY', energy_usage_total: 11_850 },
    })
    const infoPath = '/wallet/gettransactioninfobyid'
    for (const node of service.nodes) {
      node.script = ({ calls }) =>
        calls.some(({ method }) => method === infoPath)
          ? changing(infoPath, (info) => cost(Object(info)))
          : changing('/wallet/getblockbylimitnext', show)
    }
    await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
    const why =
      'its transaction is final and has failed (OUT_OF_ENERGY: its energy, or the TRX for it up to its fee_limit, did not suffice): ' +
      'nothing was paid, and it cost 1.53 TRX and 11850 energy'
    expect(await shown(service, id)).toMatchObject({
      why,
      failure: { result: 'OUT_OF_ENERGY', burnt: 1.53, energy: 11_850 },
    })
    expect(alarmsOf(service, 'payout-stuck')).toMatchObject([{ payout: id, reason: 'failed', why }])
    const response = await service.ledger('/ledger/events?limit=100')
    const { data } = await response.json<{ data: { list: { type: string; data: object }[] } }>()
    expect(data.list.at(-1)).toMatchObject({ type: 'payout.stuck', data: { failure: { result: 'OUT_OF_ENERGY' } } })
    expect((await send(service, '/approve', { ids: [id] }, 'office')).status).toBe(200)
    const approved = await shown(service, id)
    expect([approved.state, approved.why, 'failure' in approved]).toEqual(['approved', undefined, false])
  })

  it.each([
    ['no log, as of a token that has returned false', [], []],
    ['a log of less', [paidLog(4_999_999n)], [{ to: recipientBase58, cuy: 2, amt: 4.999999 }]],
    ['a log to somebody else', [paidLog(5_000_000n, addressOf(70))], [{ cuy: 2, amt: 5 }]],
    ['two halves', [paidLog(2_500_000n), paidLog(2_500_000n)], [{ amt: 2.5 }, { amt: 2.5 }]],
    [
      'a log of another token',
      [transferLog(addressOf(33), payoutAddress, recipient, 5_000_000n)],
      [{ units: '5000000' }],
    ],
    ['a log from somebody else', [transferLog(usdtAddress, addressOf(71), recipient, 5_000_000n)], []],
  ])('has succeeded without paying with %s', async (_, logs, moved) => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    await mineFinal(service, mined(signed, { logs }))
    const payout = await shown(service, id)
    expect(payout).toMatchObject({ state: 'stuck', reason: 'other', attempts: 1, moved })
    expect(payout.moved).toHaveLength(moved.length)
    expect(await balance(service)).toBe(995_000_000)
  })

  it('counts only if the nodes agree on the block', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    disagreeOn(service, service.chain.tip().height + 1)
    await mineFinal(service, mined(signed))
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('counts once it is final: where it is seen before, it is only seen', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    service.chain.add([mined(signed, { failed: true, logs: [] })])
    service.chain.addEmpty(3)
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    const fork = service.chain.fork(service.chain.tip().height - 4)
    fork.addEmpty(3)
    fork.add([mined(signed)])
    fork.addEmpty(18)
    for (const node of service.nodes) node.chain = fork
    await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid'])
  })

  it('is found in a block that was read before its bytes came', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const signed = await sign(service)
    const unwatched = service.with({ PAYOUTS: undefined })
    service.chain.add([mined(signed)])
    service.chain.addEmpty(30)
    await tickLater(unwatched, 90)
    expect((await headOf(service)).height).toBe(finalizedIn(service))
    expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
    await tickLater(service)
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid'])
  })
})
