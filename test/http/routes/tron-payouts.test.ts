import { expect, test } from 'vitest'
import { ask, mined, mineFinal, recipientBase58, send, signedPayout, startPaying } from '../../payouts/harness.ts'
import { type RunningService, read, startService } from '../service.ts'

interface Item {
  readonly id: number
  readonly state: string
  readonly txid?: string
  readonly height?: number
}

const listed = async (service: RunningService, query = '', uid = 7) => {
  const { body } = await read(await service.get(`/tron/payouts${query}`, uid))
  return (body as { data: { list: Item[]; count: number } }).data
}

test('a caller sees where each own payout is, and its transaction, without who approved it and why it waits', async () => {
  const service = await startPaying()
  const first = await signedPayout(service)
  expect(await listed(service)).toMatchObject({ list: [{ id: first.id, state: 'signed', txid: first.txid }], count: 1 })
  const height = await mineFinal(service, mined(first))
  const second = await ask(service, { osn: 'order-2', amt: '250', fee: '1.5', mark: 'to my wallet' })
  const { list, count } = await listed(service)
  expect(count).toBe(2)
  expect(list[0]).toEqual({
    id: second.id,
    cuy: 2,
    amt: 250,
    fee: 1.5,
    to: recipientBase58,
    osn: 'order-2',
    mark: 'to my wallet',
    state: 'waiting',
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  expect(Object.keys(list[1] ?? {}).slice(-3)).toEqual(['created_at', 'txid', 'height'])
  expect(list[1]).toMatchObject({ id: first.id, state: 'paid', txid: first.txid, height })
})

test('the list has filters and pages, and is empty for everybody else', async () => {
  const service = await startPaying()
  const first = await ask(service)
  const second = await ask(service, { cuy: 1 })
  const third = await ask(service)
  expect((await send(service, '/cancel', { ids: [third.id], why: 'a secret of the operator' })).status).toBe(200)
  const idsOf = async (query: string) => (await listed(service, query)).list.map(({ id }) => id)
  expect(await idsOf('')).toEqual([third.id, second.id, first.id])
  expect(await idsOf(`?before=${third.id}&limit=1`)).toEqual([second.id])
  expect(await idsOf('?cuy=1')).toEqual([second.id])
  expect(await idsOf('?state=cancelled')).toEqual([third.id])
  expect(JSON.stringify(await listed(service))).not.toContain('secret')
  expect(await listed(service, '', 8)).toEqual({ list: [], count: 0 })
  expect((await service.get('/tron/payouts?state=lost')).status).toBe(400)
})

test('without PAYOUTS what was paid before is still shown', async () => {
  const service = await startPaying()
  const { id } = await ask(service)
  const without = service.with({ PAYOUTS: undefined })
  expect((await listed(without)).list.map((one) => one.id)).toEqual([id])
  expect(await listed(await startService())).toEqual({ list: [], count: 0 })
})
