import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../../src/worker/chain/address.ts'
import { eventSchema } from '../../../src/worker/schemas/event.ts'
import { addressOf } from '../../support/transaction-spec.ts'
import {
  addressIn,
  dropTransfer,
  failed,
  firstAddress,
  payFinal,
  type RunningService,
  read,
  startService,
  trxTo,
  usdtTo,
} from '../service.ts'

let service: RunningService

const trc10To = (to: Address) => ({ kind: 'trc10', from: addressOf(99), to, amount: 5_000_000n }) as const
const ownAddress = async () => addressIn(await service.get('/tron/generate'))

/** The events that the route returns, without their times. Each must fit its documented schema. */
async function events(query = ''): Promise<Record<string, unknown>[]> {
  const { body } = await read(await service.ledger(`/ledger/events${query}`))
  const { list, count } = (body as { data: { list: Record<string, unknown>[]; count: number } }).data
  expect(list).toHaveLength(count)
  return list.map((documented) => {
    expect(eventSchema().safeParse(documented)).toMatchObject({ success: true })
    const { created_at: at, ...event } = documented
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    return event
  })
}

describe('GET /ledger/events', () => {
  beforeEach(async () => {
    service = await startService()
  })

  test('shows a deposit from its block to its entry', async () => {
    const to = await ownAddress()
    const [txid] = service.chain.add([usdtTo(to, 25_500_000n)]).transactions.map((one) => one.txid)
    await service.tick()
    const place = { txid, position: 0 }
    const seen = { ...place, cuy: 2, amt: 25.5, address: firstAddress, seconds: 57 }
    expect(await events()).toEqual([{ id: 1, type: 'deposit.seen', uid: 7, data: seen }])
    service.chain.addEmpty(19)
    service.clock.seconds += 60
    await service.tick()
    const wallet = { id: 2, uid: 7, wid: 1, osn: `${txid}:0`, type: 1, cuy: 2, amt: 25.5, balance: 25.5 }
    const entry = { ...wallet, mark: 'deposit', created_at: expect.any(String), by: '' }
    const data = { ...place, address: firstAddress, entry }
    expect(await events('?after=1')).toEqual([{ id: 2, type: 'deposit.credited', uid: 7, data }])
  })

  test('shows a deposit that is held, with its reason and the sentence of the txid question', async () => {
    const to = await ownAddress()
    for (const node of service.nodes) node.decimals.clear()
    const [txid] = payFinal(service, usdtTo(to, 1n))
    await service.tick()
    const { body } = await read(await service.get(`/tron/recharge?txid=${txid}`))
    const why = (body as { msg: string }).msg
    const data = { txid, position: 0, cuy: 2, address: firstAddress, reason: 'decimals-unknown', why }
    expect(await events()).toEqual([{ id: 1, type: 'deposit.held', uid: 7, data }])
  })

  test('shows a transfer that is worth nothing, once, with the sentence of the txid question', async () => {
    service = await startService({ CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 6, minDeposit: '2' }] })
    const to = await ownAddress()
    const [txid] = payFinal(service, trxTo(to, 1_000_000n), trc10To(to))
    await service.tick()
    const { body } = await read(await service.get(`/tron/recharge?txid=${txid}`))
    const place = { txid, position: 0, cuy: 1, address: firstAddress }
    const data = { ...place, reason: 'below-minimum', why: (body as { msg: string }).msg }
    expect(await events()).toEqual([{ id: 1, type: 'deposit.refused', uid: 7, data }])
    service.clock.seconds += 60
    await service.tick()
    expect(await events('?after=1')).toEqual([])
  })

  test('shows a transfer that is not in the chain after all', async () => {
    const txid = await dropTransfer(service)
    expect((await events()).map(({ type, data }) => [type, (data as { txid: string }).txid])).toEqual([
      ['deposit.seen', txid],
      ['deposit.dropped', txid],
    ])
    expect(await events('?after=1')).toEqual([{ id: 2, type: 'deposit.dropped', uid: 7, data: { txid, position: 0 } }])
  })

  test('shows a reader nothing below what it has read, and leaves out nothing, while entries are posted', async () => {
    const read: number[] = []
    let isPosting = true
    const readOn = async () => {
      for (;;) {
        const isLast = !isPosting
        const page = (await events(`?after=${read.at(-1) ?? 0}&limit=7`)).map(({ id }) => Number(id))
        read.push(...page)
        if (isLast && page.length === 0) return
      }
    }
    const reading = readOn()
    const posts = Array.from({ length: 40 }, (_, i) =>
      service.post([
        { uid: 7 + (i % 3), cuy: 1, type: 5, osn: `${i}`, amt: '1' },
        { uid: 8, cuy: 2, type: 5, osn: `${i}`, amt: '1' },
      ]),
    )
    await Promise.all(posts)
    isPosting = false
    await reading
    expect(read).toEqual(Array.from({ length: 80 }, (_, i) => i + 1))
  })

  test('shows the entries of backends, in the order of their posts', async () => {
    await service.post([{ uid: 8, cuy: 1, type: 9, osn: 'start', amt: '9' }])
    await service.post([{ uid: 8, cuy: 1, type: 4, osn: 'order', amt: '-1.25' }])
    await service.post([{ uid: 8, cuy: 1, type: 4, osn: 'order', amt: '-1.25' }])
    expect(await events()).toMatchObject([
      { id: 1, type: 'entry.posted', uid: 8, data: { entry: { osn: 'start', amt: 9, by: 'shop' } } },
      { id: 2, type: 'entry.posted', uid: 8, data: { entry: { osn: 'order', amt: -1.25, balance: 7.75 } } },
    ])
    expect((await events('?limit=1')).map(({ id }) => id)).toEqual([1])
    expect((await events('?after=1&limit=1')).map(({ id }) => id)).toEqual([2])
    expect(await events('?after=2')).toEqual([])
  })
})

describe('a refusal', () => {
  beforeAll(async () => {
    service = await startService()
  })

  test.each([
    ['after=-1', /^after: 0 or the id of an event: a whole number up to 9007199254740991$/],
    ['after=9007199254740992', /^after: /],
    ['limit=101', /^limit: /],
  ])('refuses %s', async (query, msg) => {
    const refused = failed(400, expect.stringMatching(msg))
    expect(await read(await service.ledger(`/ledger/events?${query}`))).toEqual(refused)
  })
})
