import { beforeAll, expect, it } from 'vitest'
import { parseAddress } from '../../src/worker/chain/address.ts'
import { payFinal, type RunningService, usdtTo } from '../http/service.ts'
import { ask, recipientBase58, send, signedPayout, startPaying } from './harness.ts'

// A statement says what each entry was: payouts, their fees and what came back of them, and orders.

let service: RunningService
let [paidTxid, depositTxid] = ['', '']

beforeAll(async () => {
  service = await startPaying()
  paidTxid = (await signedPayout(service)).txid
  await ask(service, { osn: 'with fee', fee: '1' })
  const { id } = await ask(service, { osn: 'given back', fee: '0.5' })
  expect((await send(service, '/cancel', { ids: [id], why: 'a test' })).status).toBe(200)
  await ask(service, { osn: 'without fee' })
  const entries = [
    { uid: 7, cuy: 2, type: 4, osn: 'without fee', amt: '-2' },
    { uid: 7, cuy: 2, type: 2, osn: 'by hand', amt: '-3' },
    { uid: 7, cuy: 2, type: 5, osn: 'by hand', amt: '3' },
    // one of another user with the `osn` of a payout
    { uid: 8, cuy: 2, type: 5, osn: 'with fee', amt: '3' },
  ]
  for (const entry of entries) expect((await service.post([entry])).status).toBe(200)
  service.clock.seconds = service.chain.tip().timeMs / 1000 // an order counts blocks that are made after it
  const order = { uid: 7, cuy: 2, amt: '25', order: 'a pot', take: true }
  const asked = await service.send('/ledger/orders', { orders: [order] })
  const { data } = await asked.json<{ data: { list: { address: string }[] } }>()
  const address = parseAddress(data.list[0]?.address ?? '')
  if (!address.ok) throw new Error('the order has no address')
  depositTxid = payFinal(service, usdtTo(address.value, 25_000_000n))[0] ?? ''
  service.clock.seconds += 60
  await service.tick()
})

interface Item {
  readonly osn: string
  readonly type: number
  readonly what: string
  readonly to?: string
  readonly txid?: string
}
const statement = async (path: string, uid = 7) => {
  const response = await (path.startsWith('/ledger/') ? service.ledger(path) : service.get(path, uid))
  const { data } = await response.json<{ data: { list: Item[] } }>()
  return data.list.map(({ type, what, osn, to, txid }) => [type, what, osn.split(':')[0], to ?? '', txid ?? ''])
}

it('names payouts with recipient and transaction, their fees, what came back, and what orders took', async () => {
  const expected = [
    [9, 'adjustment', 'fund-1000', '', ''],
    [9, 'adjustment', 'fund-1000', '', ''],
    [2, 'payout', expect.stringMatching(/^payout-/), recipientBase58, paidTxid],
    [2, 'payout', 'with fee', recipientBase58, ''],
    [4, 'fee', 'with fee', recipientBase58, ''],
    [2, 'payout', 'given back', recipientBase58, ''],
    [4, 'fee', 'given back', recipientBase58, ''],
    [5, 'payout-refund', 'given back', recipientBase58, ''],
    [2, 'payout', 'without fee', recipientBase58, ''],
    [4, 'payment', 'without fee', '', ''],
    [2, 'withdrawal', 'by hand', '', ''],
    [5, 'refund', 'by hand', '', ''],
    [1, 'deposit', depositTxid, '', depositTxid],
    [4, 'order', 'a pot', '', ''],
  ]
  expect(await statement('/wallet/statement')).toEqual(expected)
  expect(await statement('/ledger/statement?uid=7')).toEqual(expected)
  expect(await statement('/wallet/statement', 8)).toEqual([[5, 'refund', 'with fee', '', '']])
})

it('has the same as CSV, with empty cells where an entry has none', async () => {
  const text = await (await service.get('/wallet/statement?format=csv&cuy=2')).text()
  const [names = '', ...lines] = text.split('\r\n')
  expect(names).toMatch(/"created_at","what","to","txid"$/)
  const ends = lines.map((line) => line.replace(/^.*Z",/, ''))
  expect(ends).toContain(`"payout","${recipientBase58}","${paidTxid}"`)
  expect(ends).toContain(`"fee","${recipientBase58}",`)
  expect(ends).toContain(`"deposit",,"${depositTxid}"`)
  expect(ends).toContain('"order",,')
})
