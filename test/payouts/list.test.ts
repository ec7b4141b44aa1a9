import { expect, it } from 'vitest'
import { firstAddress, startService } from '../http/service.ts'
import { payoutBase58 } from '../support/payouts.ts'
import { ask, handIn, passBlocks, payoutRequest, payoutsSetting, send, sign, startPaying } from './harness.ts'

/** Payouts 1 to 6: signed, approved in TRX, waiting, one of user 8, cancelled, approved. */
async function withPayouts() {
  const service = await startPaying()
  await service.post([{ uid: 8, cuy: 2, type: 9, osn: 'fund', amt: '100' }])
  const first = await ask(service, { osn: 'first' })
  const signed = await sign(service)
  await handIn(service, first.id, signed.transaction)
  await ask(service, { cuy: 1, osn: 'both' })
  await ask(service, { amt: '101', osn: 'both' })
  await ask(service, { uid: 8, to: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK' })
  await ask(service)
  await send(service, '/cancel', { ids: [5], why: 'a test' })
  await ask(service)
  return { service, signed }
}
const query = async ({ service }: Awaited<ReturnType<typeof withPayouts>>, text: string) => {
  const response = await service.ledger(`/ledger/payouts${text}`, {}, { scope: 'ledger:read' })
  const { data } = await response.json<{ data: { list: { id: number }[]; count: number } }>()
  return [data.list.map(({ id }) => id), data.count]
}

it('payouts are listed newest first, by every filter, page by page', async () => {
  const all = await withPayouts()
  expect(await query(all, '')).toEqual([[6, 5, 4, 3, 2, 1], 6])
  expect(await query(all, '?uid=8')).toEqual([[4], 1])
  expect(await query(all, '?cuy=1')).toEqual([[2], 1])
  expect(await query(all, '?state=approved')).toEqual([[6, 4, 2], 3])
  expect(await query(all, '?state=approved&cuy=2')).toEqual([[6, 4], 2])
  expect(await query(all, '?osn=both')).toEqual([[3, 2], 2])
  expect(await query(all, '?osn=both&state=waiting')).toEqual([[3], 1])
  expect(await query(all, '?to=TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK')).toEqual([[4], 1])
  expect(await query(all, `?to=${firstAddress}`)).toEqual([[], 0])
  expect(await query(all, `?txid=${all.signed.txid}`)).toEqual([[1], 1])
  expect(await query(all, `?txid=0x${all.signed.txid.toUpperCase()}&uid=8`)).toEqual([[], 0])
  expect(await query(all, '?limit=2')).toEqual([[6, 5], 6])
  expect(await query(all, '?limit=2&before=5')).toEqual([[4, 3], 6])
  expect(await query(all, '?state=approved&limit=1&before=6')).toEqual([[4], 3])
})

it('with `after` payouts are listed oldest first, by every filter, page by page', async () => {
  const all = await withPayouts()
  expect(await query(all, '?after=0')).toEqual([[1, 2, 3, 4, 5, 6], 6])
  expect(await query(all, '?after=0&limit=2')).toEqual([[1, 2], 6])
  expect(await query(all, '?after=2&limit=2')).toEqual([[3, 4], 6])
  expect(await query(all, '?after=2&state=approved')).toEqual([[4, 6], 3])
  expect(await query(all, '?after=2&osn=both')).toEqual([[3], 2])
  expect(await query(all, '?after=0&uid=8')).toEqual([[4], 1])
  expect(await query(all, `?after=0&txid=${all.signed.txid}`)).toEqual([[1], 1])
  expect(await query(all, `?after=1&txid=${all.signed.txid}`)).toEqual([[], 1])
})

it.each([
  ['above-limit', { amt: '3.000001' }],
  ['below-limit', { amt: '0.5' }],
  ['day', { amt: '2' }],
  ['no-limits', { amt: '2', cuy: 1 }],
])('a payout that waits shows why: %s', async (waits_for, members) => {
  const limits = [{ cuy: 2, each: '3', perDay: '1', least: '1' }]
  const service = await startPaying({ PAYOUTS: { address: payoutBase58, limits } })
  const { id } = await ask(service, members)
  const listed = async () => {
    const response = await service.ledger(`/ledger/payouts?before=${id + 1}&limit=1`)
    return (await response.json<{ data: { list: object[] } }>()).data.list[0]
  }
  expect(await listed()).toMatchObject({ id, state: 'waiting', waits_for })
  await send(service, '/approve', { ids: [id] }, 'office')
  expect(await listed()).not.toHaveProperty('waits_for')
})

it('a txid also finds a payout by a transaction that has expired', async () => {
  const service = await startPaying()
  const { id } = await ask(service)
  const { transaction, txid } = await sign(service, { expiration: BigInt(service.clock.seconds * 1000) - 1_000n })
  await handIn(service, id, transaction)
  await passBlocks(service, 20)
  const response = await service.ledger(`/ledger/payouts?txid=${txid}`)
  const { data } = await response.json<{ data: { list: object[] } }>()
  expect(data.list).toMatchObject([{ id, state: 'approved', attempts: 1 }])
  expect(data.list[0]).not.toHaveProperty('txid')
})

it.each([
  '?state=lost',
  '?limit=101',
  '?before=3&after=0',
  '?after=-1',
  '?limit=0',
  '?before=0',
  '?to=x',
  '?txid=1',
  '?uid=0',
  '?osn=',
  '?cuy=9',
  '?uid=1&uid=1',
])('a list with %s is a 400', async (text) => {
  const service = await startService({ PAYOUTS: payoutsSetting })
  expect((await service.ledger(`/ledger/payouts${text}`)).status).toBe(400)
})

it.each(['ledger:post ledger:pay ledger:approve ledger:sign', undefined])(
  'a list with the scope %s is a 403',
  async (scope) => {
    const service = await startService({ PAYOUTS: payoutsSetting })
    expect((await service.ledger('/ledger/payouts', {}, { scope })).status).toBe(403)
  },
)

it('asking takes the scope ledger:pay', async () => {
  const service = await startPaying()
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payouts: [payoutRequest()] }),
  }
  const scope = 'ledger:read ledger:post ledger:approve ledger:sign'
  expect((await service.ledger('/ledger/payouts', init, { scope })).status).toBe(403)
  expect((await service.ledger('/ledger/payouts', init, { scope: 'ledger:pay' })).status).toBe(200)
})

it('over Workers RPC payouts are asked for, listed, approved and cancelled as by requests, with amounts as text', async () => {
  const service = await startPaying({ PAYOUTS: { address: payoutBase58 } })
  const { rpc } = service
  const asked = payoutRequest({ amt: '7.50', fee: '0.25' })
  const payout = { id: 1, amt: '7.5', fee: '0.25', state: 'waiting', by: 'shop' }
  expect(await rpc.askPayouts([asked], 'shop')).toMatchObject({ ok: true, replayed: false, list: [payout] })
  expect(await rpc.askPayouts([asked], 'shop')).toMatchObject({ ok: true, replayed: true, list: [payout] })
  expect(await rpc.payouts({ state: 'waiting' })).toMatchObject({ ok: true, list: [payout], count: 1 })
  expect(await rpc.approvePayouts([1], 'shop')).toMatchObject({ ok: false, error: { kind: 'forbidden' } })
  expect(await rpc.approvePayouts([1], 'office')).toMatchObject({ ok: true, list: [{ state: 'approved' }] })
  expect(await rpc.cancelPayouts([1], 'a test', 'shop')).toMatchObject({
    ok: true,
    list: [{ state: 'cancelled', why: 'a test' }],
  })
  expect(await rpc.askPayouts([payoutRequest({ amt: '2000' })], 'shop')).toMatchObject({
    ok: false,
    error: { kind: 'refused', reason: 'insufficient' },
  })
  expect(await rpc.askPayouts([payoutRequest()], '')).toMatchObject({
    ok: false,
    error: { kind: 'bad-input', member: 'by' },
  })
  expect(await rpc.payouts({ state: 'lost' as never })).toMatchObject({ ok: false, error: { kind: 'bad-input' } })
  // signers use HTTP only
  expect(Object.keys(rpc)).not.toEqual(expect.arrayContaining([expect.stringMatching(/unsigned|signed/i)]))
})
