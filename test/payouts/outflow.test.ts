import { expect, it } from 'vitest'
import type { RunningService } from '../http/service.ts'
import { headOf, tickLater } from '../scan/harness.ts'
import { payoutBase58 } from '../support/payouts.ts'
import { addressOf } from '../support/transaction-spec.ts'
import {
  ask,
  balance,
  handIn,
  mined,
  mineFinal,
  offered,
  paidLog,
  payoutRequest,
  recipientBase58,
  type Shown,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

// For the payouts in this file, money has already left the payout address. Only somebody who may
// approve can cancel them, and they count in the limits.

const cancel = (service: RunningService, id: number, more: object = {}, by = 'office') =>
  send(service, '/cancel', { ids: [id], why: 'a test', ...more }, by)
const approve = (service: RunningService, id: number, more: object = {}, by = 'office') =>
  send(service, '/approve', { ids: [id], ...more }, by)

/** Sends a request about payouts with a token that has only this scope. */
async function sendWith(service: RunningService, scope: string, path: string, body: object, sub = 'shop') {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await service.ledger(`/ledger/payouts${path}`, init, { sub, scope })
  const { msg, data } = await response.json<{ msg: string; data?: { list: Shown[] } }>()
  return { status: response.status, msg, payout: data?.list[0] }
}

/** A payout of 5 USDT whose transaction has moved only 2. */
async function halfPaid(service: RunningService): Promise<number> {
  const { id, ...signed } = await signedPayout(service)
  await mineFinal(service, mined(signed, { logs: [paidLog(2_000_000n)] }))
  return id
}

/**
 * Excuses all unknown and late transactions, so that they no longer stop payouts, as
 * `npm run operate -- payouts resume` does.
 */
const resumeAll = ({ db }: RunningService) =>
  db
    .prepare(
      `UPDATE payout_transaction SET version = version + 1, excused = 'a test' WHERE ended IN ('unknown', 'late')`,
    )
    .run()

it('a backend that may only pay gets no more out than a day has, although the token takes of each payout what nobody has confirmed', async () => {
  const limits = [{ cuy: 2, each: '5', perDay: '10' }]
  const service = await startPaying({ PAYOUTS: { address: payoutBase58, limits } })
  for (const rest of [995_000_000, 990_000_000]) {
    const { payout } = await sendWith(service, 'ledger:pay', '', { payouts: [payoutRequest()] })
    const id = payout?.id ?? 0
    expect(payout?.state).toBe('approved')
    const signed = await sign(service)
    await handIn(service, id, signed.transaction)
    await mineFinal(service, mined(signed, { logs: [paidLog(4_950_000n), paidLog(50_000n, addressOf(99))] }))
    expect(await stateOfPayout(service, id)).toBe('stuck:other/1')
    const own = await sendWith(service, 'ledger:pay', '/cancel', { ids: [id], why: 'a test', moved: true })
    expect([own.status, await balance(service)]).toEqual([403, rest])
  }
  const { payout } = await sendWith(service, 'ledger:pay', '', { payouts: [payoutRequest()] })
  expect(payout?.state).toBe('waiting')
})

it.each<[string, string, string, number]>([
  ['the scope ledger:approve, by another name than has asked', 'ledger:approve', 'office', 200],
  ['that scope by the name that has asked', 'ledger:approve ledger:pay', 'shop', 403],
  ['that scope by that name in another case', 'ledger:approve ledger:pay', 'Shop', 403],
  ['the scope ledger:pay alone, by another name', 'ledger:pay', 'office', 403],
])('cancelling what has moved something, with %s', async (_, scope, by, status) => {
  const service = await startPaying()
  const id = await halfPaid(service)
  const { status: answered, msg } = await sendWith(
    ...([service, scope, '/cancel', { ids: [id], why: 'a test', moved: true }, by] as const),
  )
  expect(answered).toBe(status)
  if (status === 403) {
    const why = 'cancelling it takes the scope ledger:approve, and another name than has asked for it'
    expect(msg).toBe(`payout ${id}: money has left for it: ${why}`)
  }
  expect(await balance(service)).toBe(status === 200 ? 1_000_000_000 : 995_000_000)
})

it('over Workers RPC cancelling what has moved something takes another name than has asked', async () => {
  const service = await startPaying()
  const id = await halfPaid(service)
  const options = { moved: true } as const
  for (const name of ['shop', 'SHOP']) {
    expect(await service.rpc.cancelPayouts([id], 'a test', name, options)).toMatchObject({
      ok: false,
      error: { kind: 'forbidden' },
    })
  }
  expect(await service.rpc.cancelPayouts([id], 'a test', 'office', options)).toMatchObject({ ok: true })
})

it.each([
  ['perDay', { perDay: '10' }],
  ['perUserPerDay', { perDay: '1000', perUserPerDay: '10' }],
])(
  'what has moved something counts for %s although it is cancelled, and what has moved nothing does not',
  async (_, more) => {
    const limits = [{ cuy: 2, each: '5', ...more }]
    const service = await startPaying({ PAYOUTS: { address: payoutBase58, limits } })
    await cancel(service, (await ask(service)).id)
    const { id: failed, ...signed } = await signedPayout(service)
    await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    expect(await cancel(service, failed)).toMatchObject({ status: 200 })
    const id = await halfPaid(service)
    expect(await cancel(service, id, { moved: true })).toMatchObject({ status: 200 })
    expect((await ask(service)).state).toBe('approved')
    expect((await ask(service)).state).toBe('waiting')
  },
)

it('what has left is in the refusal: how much of what, and to whom', async () => {
  const service = await startPaying()
  const { id, ...signed } = await signedPayout(service)
  const logs = [paidLog(2_000_000n), paidLog(500_000n, addressOf(70))]
  await mineFinal(service, mined(signed, { logs }))
  for (const refused of [await approve(service, id), await cancel(service, id)]) {
    expect(refused).toMatchObject({ status: 409, reason: 'money-moved' })
    expect(refused.msg).toContain(`2 USDT to ${recipientBase58}, 0.5 USDT to T`)
    expect(refused.msg).toContain('moved: true')
  }
})

it('a payout that waits although it was mined, as after a restore, is approved with moved: true, handed in and paid', async () => {
  const service = await startPaying({ PAYOUTS: { address: payoutBase58 } })
  const { id } = await ask(service)
  const signed = await sign(service)
  await mineFinal(service, mined(signed))
  const refused = await approve(service, id)
  expect(refused.msg).toContain('find out whether that was this payout, and send moved: true')
  expect(await approve(service, id, { moved: true })).toMatchObject({ status: 200 })
  expect(await handIn(service, id, signed.transaction)).toMatchObject({ state: 'signed' })
  await tickLater(service)
  expect(await stateOfPayout(service, id)).toBe('paid/0')
})

it('a transaction that an operator has excused, and that pays exactly this payout, takes moved: true', async () => {
  const service = await startPaying({ PAYOUTS: { address: payoutBase58 } })
  const { id } = await ask(service)
  const { id: more } = await ask(service, { amt: '6' })
  const signed = await sign(service)
  await mineFinal(service, mined(signed))
  const left = `5 USDT to ${recipientBase58} in ${signed.txid}`
  const unexcused = await approve(service, id)
  expect(unexcused).toMatchObject({ status: 409, reason: 'money-moved', msg: expect.stringContaining(left) })
  await resumeAll(service)
  expect(await offered(service)).toEqual([])
  for (const refused of [await approve(service, id), await cancel(service, id)]) {
    expect(refused).toMatchObject({ status: 409, reason: 'money-moved', msg: expect.stringContaining(left) })
  }
  expect(await cancel(service, id, { moved: true }, 'shop')).toMatchObject({ status: 403 })
  // the excused transaction paid another amount than this payout
  expect(await approve(service, more)).toMatchObject({ status: 200 })
  const approved = await approve(service, id, { moved: true })
  expect(approved).toMatchObject({ status: 200 })
  expect(await approve(service, id)).toEqual(approved)
  expect(await cancel(service, id)).toMatchObject({ status: 409, reason: 'money-moved' })
  const cancelled = await cancel(service, id, { moved: true })
  expect(cancelled).toMatchObject({ status: 200 })
  expect(await cancel(service, id)).toEqual(cancelled)
  expect(await shown(service, id)).toMatchObject({ state: 'cancelled' })
})

it('what a transaction has moved is known after an approval, too, and after the next transaction has failed', async () => {
  const service = await startPaying()
  const id = await halfPaid(service)
  expect(await approve(service, id, { moved: true })).toMatchObject({ status: 200 })
  const expectKnown = async (state: string) => {
    expect(await stateOfPayout(service, id)).toBe(state)
    expect((await shown(service, id)).moved).toMatchObject([{ amt: 2 }])
    expect(await sendWith(service, 'ledger:pay', '/cancel', { ids: [id], why: 'a test' })).toMatchObject({
      status: 409,
    })
    const own = await sendWith(service, 'ledger:pay', '/cancel', { ids: [id], why: 'a test', moved: true })
    expect(own).toMatchObject({ status: 403 })
  }
  await expectKnown('approved/1')
  const unsigned = await service.ledger('/ledger/payouts/unsigned')
  expect(await unsigned.json()).toMatchObject({ data: { list: [{ id, moved: [{ amt: 2 }] }] } })
  const second = await sign(service, { timestamp: BigInt((await headOf(service)).timestamp + 1) })
  await handIn(service, id, second.transaction)
  await mineFinal(service, mined(second, { failed: true, logs: [] }))
  await expectKnown('stuck:failed/2')
  expect(await approve(service, id)).toMatchObject({ status: 409 })
  expect(await cancel(service, id, { moved: true })).toMatchObject({ status: 200 })
  expect(await balance(service)).toBe(1_000_000_000)
})
