import { describe, expect, it } from 'vitest'
import { finalityLag, payFinal, type RunningService, startService } from '../http/service.ts'
import {
  alarmsOf,
  correct,
  headOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  rescan,
  tickFor,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import { payoutAddress } from '../support/payouts.ts'
import { addressOf, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  ask,
  fund,
  handIn,
  hold,
  mined,
  mineFinal,
  offered,
  paidLog,
  passBlocks,
  payoutEvents,
  payoutsSetting,
  send,
  shown,
  sign,
  startPaying,
  stateOfPayout,
} from './harness.ts'

const elsewhere = addressOf(77)
/** Lets payouts go on despite this transaction, as `npm run operate -- payouts resume` does. */
const resume = ({ db }: RunningService, txid: string) =>
  db.prepare(`UPDATE payout_transaction SET version = version + 1, excused = 'a test' WHERE txid = ?`).bind(txid).run()
const unknownTxids = async ({ db }: RunningService) => {
  const { results } = await db.prepare(`SELECT txid FROM payout_transaction WHERE ended IN ('unknown', 'late')`).all()
  return results.map(({ txid }) => String(txid))
}
const stopped = async (service: RunningService) => {
  const { data } = await (await service.ledger('/ledger/summary')).json<{ data: { payouts: { stopped: unknown } } }>()
  return data.payouts.stopped
}

describe('a transaction of the payout address that no payout names', () => {
  it.each<[string, TransactionSpec]>([
    ['a transfer of TRX', { kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n }],
    ['a transfer of a token', { kind: 'token', contract: usdtAddress, from: payoutAddress, to: elsewhere, amount: 1n }],
    [
      'one that has failed',
      { kind: 'token', contract: usdtAddress, from: payoutAddress, to: elsewhere, amount: 1n, failed: true },
    ],
    ['a call that moves nothing', { kind: 'call', contract: addressOf(33), from: payoutAddress }],
    ['another permission', { kind: 'other', type: 46, from: payoutAddress, to: null, value: 0n }],
    [
      "a token's log in somebody else's transaction",
      {
        kind: 'call',
        contract: usdtAddress,
        from: addressOf(88),
        logs: [transferLog(usdtAddress, payoutAddress, elsewhere, 1n)],
      },
    ],
  ])('stops the offer, with an alarm: %s', async (_, spec) => {
    const service = await startPaying()
    const { id } = await ask(service)
    expect(await offered(service)).toEqual([id])
    await mineFinal(service, spec)
    expect(await offered(service)).toBe('payouts-stopped')
    const [txid = ''] = await unknownTxids(service)
    expect(alarmsOf(service, 'payout-unknown')).toMatchObject([{ level: 'error', txid }])
    expect(await stopped(service)).toMatchObject({ why: 'unknown-transaction' })
    await tickLater(service)
    expect(alarmsOf(service, 'payout-unknown')).toHaveLength(1)
    expect(await stateOfPayout(service, id)).toBe('approved/0')
    await resume(service, txid)
    expect(await offered(service)).toEqual([id])
    expect(await stopped(service)).toBeNull()
  })

  it('stops the offer although its receipt cannot be read, and shows what it has moved once it can', async () => {
    const service = await startPaying()
    await ask(service)
    const signed = await sign(service)
    limitLogs(service, 50)
    for (const node of service.nodes) node.script = () => withoutReceiptOf(signed.txid)
    await mineFinal(service, noise(60), mined(signed))
    expect(await offered(service)).toBe('payouts-stopped')
    expect(alarmsOf(service, 'payout-unknown')).toMatchObject([{ txid: signed.txid }])
    const moved = async () => await service.db.prepare('SELECT moved FROM payout_transaction').first('moved')
    expect(await moved()).toBe('[]')
    repairNodes(service)
    await tickFor(service, 3_600, () => {}, 600)
    expect(await moved()).toContain('5000000')
    expect(await offered(service)).toBe('payouts-stopped')
  })

  it('stops the offer once more if an operator has excused it before its receipt shows what it has moved', async () => {
    const service = await startPaying()
    limitLogs(service, 50)
    const stolen: TransactionSpec = {
      kind: 'token',
      contract: usdtAddress,
      from: payoutAddress,
      to: elsewhere,
      amount: 900_000_000n,
    }
    const [, txid = ''] = payFinal(service, noise(60), stolen)
    for (const node of service.nodes) node.script = () => withoutReceiptOf(txid)
    await tickLater(service, 60)
    expect(await offered(service)).toBe('payouts-stopped')
    await resume(service, txid)
    await tickLater(service, 60)
    expect(await offered(service)).toEqual([])
    repairNodes(service)
    await tickFor(service, 3_600, () => {}, 600)
    expect(await openGaps(service)).toEqual([])
    expect(await offered(service)).toBe('payouts-stopped')
    await resume(service, txid)
    await tickLater(service, 60)
    expect(await offered(service)).toEqual([])
  })

  it('ends when the signer hands in its bytes, and is the transaction of that payout then', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { id: other } = await ask(service)
    const signed = await sign(service)
    await mineFinal(service, mined(signed))
    expect(await offered(service)).toBe('payouts-stopped')
    expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
    expect(await offered(service)).toEqual([other])
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await payoutEvents(service)).toEqual(['approved', 'approved', 'signed', 'paid'])
    expect(await unknownTxids(service)).toEqual([])
  })

  it('ends when the signer hands in bytes that have expired more than a day ago, and that payout is paid', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { timestamp } = await headOf(service)
    const signed = await sign(service, { expiration: BigInt(timestamp - 90_000_000) })
    expect(await handIn(service, id, signed.transaction)).toMatchObject({ refused: { reason: 'expiration' } })
    // in reality the block came before the expiration; a restored copy reads it only now
    const height = await mineFinal(service, mined(signed))
    await passBlocks(service, 3)
    expect(await offered(service)).toBe('payouts-stopped')
    for (let i = 0; i < 2; i += 1) {
      expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
    }
    await tickLater(service)
    expect(await shown(service, id)).toMatchObject({ state: 'paid', height })
    expect(await offered(service)).toEqual([])
    expect(service.nodes.flatMap(({ broadcasts }) => broadcasts)).toEqual([])
  })

  it('keeps payouts from being cancelled, since it could have paid one of them, until an operator excuses it', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    await mineFinal(service, { kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n })
    const cancel = async () => (await send(service, '/cancel', { ids: [id], why: 'a test' })).reason
    expect([await cancel(), await stateOfPayout(service, id)]).toEqual(['payouts-stopped', 'approved/0'])
    const [txid = ''] = await unknownTxids(service)
    await resume(service, txid)
    expect([await cancel(), await stateOfPayout(service, id)]).toEqual([null, 'cancelled/0'])
  })

  it('each of them counts: one that an operator excuses leaves the other one', async () => {
    const service = await startPaying()
    await ask(service)
    const one = { kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n } as const
    await mineFinal(service, one, { ...one, amount: 2n })
    const [first = '', second = ''] = await unknownTxids(service)
    await resume(service, first)
    expect(await offered(service)).toBe('payouts-stopped')
    await resume(service, second)
    expect(await offered(service)).toEqual([1])
    await mineFinal(service, { ...one, amount: 3n })
    expect(await offered(service)).toBe('payouts-stopped')
  })

  it('stays unknown after a correction, and is stored once if it is read again', async () => {
    const service = await startPaying()
    await ask(service)
    const height = await mineFinal(service, { kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n })
    await correct(service, height - 1)
    await passBlocks(service, 1)
    expect(await offered(service)).toBe('payouts-stopped')
    expect(await unknownTxids(service)).toHaveLength(1)
  })

  it('stops nothing before it is final, or if it only receives', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    service.chain.add([{ kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n }])
    service.chain.addEmpty(finalityLag - 1)
    await tickLater(service, 60)
    expect(await offered(service)).toEqual([id])
    const other = await startPaying()
    await ask(other)
    await mineFinal(other, { kind: 'trx', from: elsewhere, to: payoutAddress, amount: 1_000n })
    expect(await offered(other)).toEqual([1])
  })

  it('stops nothing if somebody else moves nothing from it: on Tron anybody can have a token log a transfer of 0', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const logs = [transferLog(usdtAddress, payoutAddress, elsewhere, 0n)]
    await mineFinal(service, { kind: 'call', contract: usdtAddress, from: addressOf(88), logs })
    expect(await offered(service)).toEqual([id])
  })

  it('stops nothing if it is from before the address was configured', async () => {
    const before = await startService()
    hold(before, 10n ** 15n, 10n ** 15n)
    before.clock.seconds = before.chain.tip().timeMs / 1000 + 3
    await before.get('/tron/generate')
    await before.tick()
    await fund(before)
    const height = await mineFinal(before, { kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n })
    const service = before.with({ PAYOUTS: payoutsSetting })
    await tickLater(service)
    const { id } = await ask(service)
    await rescan(service, height, height)
    await tickLater(service)
    expect(await openGaps(service)).toEqual([])
    expect(await offered(service)).toEqual([id])
  })

  it('does not stop what is signed: its end is found, and other bytes are taken', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { id: next } = await ask(service, { amt: '6' })
    const signed = await sign(service)
    await handIn(service, id, signed.transaction)
    await mineFinal(service, { kind: 'trx', from: payoutAddress, to: elsewhere, amount: 1n })
    const other = await sign(service, { amount: 6_000_000n })
    expect(await handIn(service, next, other.transaction)).toMatchObject({ state: 'signed' })
    await mineFinal(service, mined(signed), mined(other, { logs: [paidLog(6_000_000n)] }))
    expect([await stateOfPayout(service, id), await stateOfPayout(service, next)]).toEqual(['paid/0', 'paid/0'])
    expect(await offered(service)).toBe('payouts-stopped')
  })

  it('is one that has paid although its payout was cancelled as expired by wrong blocks', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { timestamp, height } = await headOf(service)
    const signed = await sign(service, { expiration: BigInt(timestamp + 30_000) })
    await handIn(service, id, signed.transaction)
    const right = service.chain.fork(service.chain.tip().height - finalityLag + 1)
    await passBlocks(service, 12)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
    await send(service, '/cancel', { ids: [id], why: 'a test' })
    right.add([mined(signed)])
    right.addEmpty(40)
    await correct(service, height)
    for (const node of service.nodes) node.chain = right
    await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('cancelled/1')
    expect(await offered(service)).toBe('payouts-stopped')
    expect(alarmsOf(service, 'payout-unknown')).toMatchObject([{ txid: signed.txid }])
  })
})
