import { describe, expect, it } from 'vitest'
import { amountMax } from '../../src/worker/common/amount.ts'
import type { RunningService } from '../http/service.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  ask,
  balance,
  handIn,
  mined,
  mineFinal,
  payoutEvents,
  payoutRequest,
  recipient,
  recipientBase58,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

/** Starts a service without limits: a person must approve each payout. */
const withoutLimits = () => startPaying({ PAYOUTS: { address: payoutBase58 } })
const approve = (service: RunningService, ids: unknown, more: object = {}, by = 'office') =>
  send(service, '/approve', { ids, ...more }, by)
const cancel = (service: RunningService, ids: unknown, more: object = {}, by = 'shop') =>
  send(service, '/cancel', { ids, why: 'a test', ...more }, by)

/**
 * A stuck payout of 5 USDT. Its transaction has moved `amounts` in smallest units, or has failed if
 * there are none.
 */
async function stuckPayout(service: RunningService, ...amounts: readonly bigint[]): Promise<number> {
  const { id, ...signed } = await signedPayout(service)
  const logs = amounts.map((amount) => transferLog(usdtAddress, payoutAddress, recipient, amount))
  await mineFinal(service, mined(signed, amounts.length === 0 ? { failed: true, logs } : { logs }))
  return id
}

describe('approving', () => {
  it('takes another name than has asked, in whatever case', async () => {
    const service = await withoutLimits()
    const { id } = await ask(service)
    for (const name of ['shop', 'Shop', 'SHOP']) {
      expect(await approve(service, [id], {}, name)).toMatchObject({
        status: 403,
        msg: `payout ${id}: another name must approve it than has asked for it`,
      })
    }
    expect(await stateOfPayout(service, id)).toBe('waiting/0')
    expect(await approve(service, [id])).toMatchObject({ status: 200, data: { list: [{ id, state: 'approved' }] } })
    expect(await shown(service, id)).toMatchObject({ state: 'approved', approved_by: 'office' })
    expect(await payoutEvents(service)).toEqual(['waiting', 'approved'])
  })

  it('is not for a backend that has the name of the limits', async () => {
    const service = await withoutLimits()
    const { id } = await ask(service)
    for (const name of ['limits', 'Limits']) {
      expect(await approve(service, [id], {}, name)).toMatchObject({ status: 403 })
    }
    expect(await stateOfPayout(service, id)).toBe('waiting/0')
  })

  it('asked for again is answered as the first time, with no second event', async () => {
    const service = await withoutLimits()
    const { id } = await ask(service)
    const first = await approve(service, [id])
    service.clock.seconds += 60
    expect(await approve(service, [id])).toEqual(first)
    expect(await approve(service, [id], {}, 'chief')).toEqual(first)
    expect(await payoutEvents(service)).toEqual(['waiting', 'approved'])
  })

  it('sent again with the attempts that were shown approves nothing that got stuck since', async () => {
    const service = await withoutLimits()
    const fail = async (id: number, timestamp: bigint) => {
      const signed = await sign(service, { timestamp })
      expect(await handIn(service, id, signed.transaction)).toMatchObject({ state: 'signed' })
      await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    }
    const { id } = await ask(service)
    await approve(service, [id], { attempts: 0 })
    await fail(id, 1n)
    expect(await approve(service, [id], { attempts: 0 })).toMatchObject({
      status: 409,
      reason: 'stuck-since',
      msg: `payout ${id}: it is stuck since it had 0 attempts: to approve it once more, send attempts: 1`,
    })
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
    const first = await approve(service, [id], { attempts: 1 })
    expect(first).toMatchObject({ status: 200, data: { list: [{ state: 'approved' }] } })
    for (const more of [{}, { attempts: 1 }]) expect(await approve(service, [id], more)).toEqual(first)
    await fail(id, 2n)
    expect(await approve(service, [id], { attempts: 1 })).toMatchObject({ status: 409, reason: 'stuck-since' })
    const limited = { ok: false, error: { kind: 'conflict', reason: 'stuck-since' } }
    expect(await service.rpc.approvePayouts([id], 'office', { attempts: 1 })).toMatchObject(limited)
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/2')
    expect(await approve(service, [id])).toMatchObject({ status: 200 })
    expect(await approve(service, [id], { attempts: -1 })).toMatchObject({ status: 400 })
  })

  it('is for all or none, in the order of the ids', async () => {
    const service = await withoutLimits()
    const { id: one } = await ask(service)
    const { id: two } = await ask(service)
    const own = await send(service, '', { payouts: [payoutRequest()] }, 'office')
    const [{ id: three } = { id: 0 }] = own.data?.list ?? []
    expect(await approve(service, [two, three, one])).toMatchObject({ status: 403 })
    expect(await approve(service, [two, 99, one])).toMatchObject({ status: 404, msg: 'there is no payout 99' })
    await cancel(service, [three])
    expect(await approve(service, [two, three], {}, 'chief')).toMatchObject({
      status: 409,
      reason: 'not-in-this-state',
      msg: `payout ${three}: it is cancelled`,
    })
    expect([await stateOfPayout(service, one), await stateOfPayout(service, two)]).toEqual(['waiting/0', 'waiting/0'])
    const both = await approve(service, [two, one])
    expect(both.data?.list.map(({ id }) => id)).toEqual([two, one])
  })

  it('lets a stuck one have another transaction, and keeps who approved it first for the limits', async () => {
    const service = await startPaying()
    const id = await stuckPayout(service)
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
    expect(await approve(service, [id])).toMatchObject({ status: 200, data: { list: [{ state: 'approved' }] } })
    expect(await shown(service, id)).toMatchObject({ approved_by: 'office', attempts: 1 })
    expect(await shown(service, id)).not.toHaveProperty('reason')
    const { max, at, created } = (await service.db
      .prepare('SELECT attempts_max AS max, approved_at AS at, created_at AS created FROM payout')
      .first<Record<string, number>>()) as Record<string, number>
    expect([max, at]).toEqual([4, created])
  })

  it('of a stuck one that has moved money takes moved: true', async () => {
    const service = await startPaying()
    const id = await stuckPayout(service, 2_000_000n)
    expect(await shown(service, id)).toMatchObject({
      state: 'stuck',
      reason: 'other',
      moved: [{ to: recipientBase58, cuy: 2, amt: 2 }],
    })
    for (const refused of [await approve(service, [id]), await cancel(service, [id])]) {
      expect(refused).toMatchObject({ status: 409, reason: 'money-moved' })
      expect(refused.msg).toContain('moved: true')
    }
    expect(await approve(service, [id], { moved: false })).toMatchObject({ status: 400 })
    expect(await approve(service, [id], { moved: true })).toMatchObject({ status: 200 })
    expect(await stateOfPayout(service, id)).toBe('approved/1')
    expect(await shown(service, id)).toMatchObject({ moved: [{ to: recipientBase58, cuy: 2, amt: 2 }] })
  })
})

describe('cancelling', () => {
  it.each(['waiting', 'approved'])('returns the money of a payout that is %s, with its fee, once', async (state) => {
    const service = state === 'waiting' ? await withoutLimits() : await startPaying()
    const payout = await ask(service, { amt: '5', fee: '0.5', osn: 'cup' })
    expect([payout.state, await balance(service)]).toEqual([state, 994_500_000])
    const first = await cancel(service, [payout.id], {}, 'office')
    expect(first).toMatchObject({ status: 200, data: { list: [{ state: 'cancelled', why: 'a test' }] } })
    expect(await cancel(service, [payout.id], { why: 'another reason' })).toEqual(first)
    expect(await balance(service)).toBe(1_000_000_000)
    const { data } = await (await service.ledger('/ledger/entries?uid=7&osn=cup')).json<{ data: { list: object[] } }>()
    expect(data.list).toMatchObject([
      { type: 5, amt: 5.5, by: 'office' },
      { type: 4, amt: -0.5 },
      { type: 2, amt: -5 },
    ])
    expect(await payoutEvents(service)).toEqual([state, 'cancelled'])
  })

  it('returns the money of a stuck one; and one that has moved money takes moved: true', async () => {
    const service = await startPaying()
    const failed = await stuckPayout(service)
    const other = await stuckPayout(service, 2_000_000n, 1_000_000n)
    expect(await cancel(service, [failed, other])).toMatchObject({ status: 409, reason: 'money-moved' })
    expect(await balance(service)).toBe(990_000_000)
    expect(await cancel(service, [failed, other], { moved: true })).toMatchObject({ status: 403 })
    expect(await cancel(service, [failed, other], { moved: true }, 'office')).toMatchObject({ status: 200 })
    expect(await balance(service)).toBe(1_000_000_000)
  })

  it('is not possible while a transaction can be mined, or after it has paid', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const { id: other } = await ask(service)
    expect(await cancel(service, [other, id], { moved: true })).toMatchObject({
      status: 409,
      reason: 'not-in-this-state',
      msg: `payout ${id}: it is signed: its transaction can be mined`,
    })
    await mineFinal(service, mined(signed))
    expect(await cancel(service, [id])).toMatchObject({ status: 409, msg: `payout ${id}: it is paid` })
    expect(await balance(service)).toBe(990_000_000)
    expect(await stateOfPayout(service, other)).toBe('approved/0')
  })

  it('of one whose wallet has no room is refused whole, and possible later', async () => {
    const service = await withoutLimits()
    const { id } = await ask(service)
    const room = BigInt(amountMax) - 995_000_000n
    const amt = `${room / 1_000_000n}.${String(room % 1_000_000n).padStart(6, '0')}`
    const entry = { uid: 7, cuy: 2, osn: 'much', amt }
    expect((await service.post([{ ...entry, type: 9 }])).status).toBe(200)
    expect(await cancel(service, [id])).toMatchObject({ status: 422, reason: 'wallet-full' })
    expect(await stateOfPayout(service, id)).toBe('waiting/0')
    expect((await service.post([{ ...entry, osn: 'less', type: 9, amt: '-6' }])).status).toBe(200)
    expect(await cancel(service, [id])).toMatchObject({ status: 200 })
  })

  it('is final: nothing is approved, signed or asked for again under its key', async () => {
    const service = await startPaying()
    const asked = payoutRequest()
    const { data } = await send(service, '', { payouts: [asked] })
    const [{ id } = { id: 0 }] = data?.list ?? []
    await cancel(service, [id])
    expect(await approve(service, [id])).toMatchObject({ status: 409, reason: 'not-in-this-state' })
    expect(await send(service, '', { payouts: [asked] })).toMatchObject({
      status: 200,
      data: { replayed: true, list: [{ state: 'cancelled' }] },
    })
  })
})

it.each([
  ['no ids', { ids: [] }],
  ['21 ids', { ids: Array.from({ length: 21 }, (_, i) => i + 1) }],
  ['one id twice', { ids: [1, 1] }],
  ['an id as text', { ids: ['1'] }],
  ['id 0', { ids: [0] }],
  ['a fraction', { ids: [1.5] }],
  ['another member', { ids: [1], all: true }],
  ['no list', { ids: 1 }],
  ['no object', [1]],
])('a step with %s is refused', async (_, body) => {
  const service = await withoutLimits()
  await ask(service)
  const withWhy = Array.isArray(body) ? body : { why: 'a test', ...body }
  expect((await send(service, '/approve', body, 'office')).status).toBe(400)
  expect((await send(service, '/cancel', withWhy)).status).toBe(400)
  expect(await stateOfPayout(service, 1)).toBe('waiting/0')
})

it.each([
  ['none', undefined],
  ['an empty one', ''],
  ['a space', ' '],
  ['a blank symbol', '\u2800'],
  ['201 characters', 'x'.repeat(201)],
  ['a control character', 'a\nb'],
  ['a number', 7],
])('a cancellation takes a reason: %s is refused', async (_, why) => {
  const service = await withoutLimits()
  const { id } = await ask(service)
  expect((await cancel(service, [id], { why })).status).toBe(400)
  expect((await cancel(service, [id], { why: '\u{1f375}'.repeat(200) })).status).toBe(200)
})

it.each([
  ['/approve', 'ledger:approve', 200],
  ['/approve', 'ledger:pay', 403],
  ['/cancel', 'ledger:approve', 200],
  ['/cancel', 'ledger:pay', 200],
  ['/cancel', 'ledger:read ledger:post ledger:sign', 403],
])('%s with the scope %s is %i', async (path, scope, status) => {
  const service = await withoutLimits()
  const { id } = await ask(service)
  const body = path === '/cancel' ? { ids: [id], why: 'a test' } : { ids: [id] }
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  expect((await service.ledger(`/ledger/payouts${path}`, init, { sub: 'office', scope })).status).toBe(status)
})
