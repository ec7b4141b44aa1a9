import { describe, expect, it } from 'vitest'
import { addressFrom, finalityLag, oneEndpoint, postInit, type RunningService, usdtTo } from '../http/service.ts'
import { followChain } from '../orders/answers.ts'
import { fund, payoutRequest, payoutsSetting, send } from '../payouts/harness.ts'
import { correct, headOf, tickLater, usdtWith } from '../scan/harness.ts'
import { type Act, faultsBeside, startContest } from './contest.ts'

/**
 * Longer than other tests may take: an act runs with its rival once for each of its round trips.
 */
const timeout = 900_000

const postOrders = (orders: readonly object[]) => (service: RunningService) =>
  service.ledger('/ledger/orders', postInit({ orders }))
const order = (reference: string, changes: object = {}) => {
  return { uid: 7, cuy: 2, amt: '25', order: reference, take: true, ...changes }
}
const cancel =
  (...references: readonly string[]): Act =>
  (service) =>
    service.ledger('/ledger/orders/cancel', postInit({ orders: references.map((one) => ({ uid: 7, order: one })) }))

/**
 * A service with orders in each state: one that is partly paid, one that is paid in a block that is
 * not scanned yet, one that expires, one whose deposit is in review, and one that waits.
 */
async function prepare() {
  const variables = { ...oneEndpoint, PAYOUTS: payoutsSetting, CURRENCIES: usdtWith({ reviewFrom: '200' }) }
  const contest = await startContest(variables)
  const { service } = contest
  const { chain, clock } = service
  followChain(service)
  await service.get('/tron/generate', 7)
  await service.tick()
  await fund(service)
  const until = new Date((clock.seconds + 100) * 1000).toISOString()
  const asked = await postOrders([
    order('partly'),
    order('unscanned', { take: false }),
    order('expires', { until }),
    order('review', { amt: '300', atLeast: '250' }),
    order('waits', { until }),
  ])(service)
  const { data } = await asked.json<{ data: { list: readonly { order: string; address: string }[] } }>()
  const to = (reference: string, units: bigint) =>
    usdtTo(addressFrom(data.list.find((one) => one.order === reference)?.address ?? ''), units)
  const scanned = chain.add([to('partly', 10_000_000n), to('review', 250_000_000n)])
  chain.addEmpty(finalityLag)
  followChain(service)
  await tickLater(service, 60)
  const unscanned = chain.add([
    to('partly', 15_000_000n),
    to('unscanned', 30_000_000n),
    to('expires', 1_000_000n),
    to('review', 1_000_000n),
  ])
  chain.addEmpty(finalityLag + 4)
  chain.add([to('waits', 25_000_000n)])
  followChain(service)
  clock.seconds += 60
  const review = { txid: scanned.transactions[1]?.txid, position: 0 }
  return { contest, review, txid: unscanned.transactions[0]?.txid }
}
type Prepared = Awaited<ReturnType<typeof prepare>>

const decide =
  ({ review }: Prepared, decision: string): Act =>
  (service) =>
    service.ledger('/ledger/deposits/decide', postInit({ deposits: [{ ...review, decision, why: 'looked at' }] }))
const askNew: Act = postOrders([order('contested'), order('contested-2')])
const payOut: Act = (service) =>
  send(service, '', { payouts: [payoutRequest({ osn: 'contested', fee: '1', amt: '20' })] })
const post: Act = (service) => service.post([{ uid: 7, cuy: 2, type: 4, osn: 'contested', amt: '-1' }])
const spend: Act = (service) => service.post([{ uid: 7, cuy: 2, type: 4, osn: 'spent', amt: '-1005' }])

const rivals = {
  'a tick': () => (service) => service.tick(),
  'requests of others': (prepared) => async (service) => {
    await decide(prepared, 'credit')(service)
    await spend(service)
    await askNew(service)
    await cancel('waits', 'expires')(service)
  },
  'a payout': () => payOut,
  'an entry': () => post,
  'a cancellation': () => cancel('waits'),
  'another order': () => postOrders([order('other'), order('another')]),
  'a correction': () => async (service) => correct(service, (await headOf(service)).height - 8),
  'a fork':
    () =>
    ({ db }) =>
      db.prepare(`UPDATE scan SET halted = 'block 5 does not follow block 4'`).run(),
} satisfies Readonly<Record<string, (prepared: Prepared) => Act>>

const names = Object.keys(rivals) as (keyof typeof rivals)[]
const acts: Readonly<Record<string, (prepared: Prepared) => Act>> = {
  'a tick': () => (service) => service.tick(),
  'asking for orders': () => askNew,
  'a payout with a fee': () => payOut,
  'an entry of an order': () => post,
  'a cancellation': () => cancel('waits', 'expires'),
  'a decision to credit': (prepared) => decide(prepared, 'credit'),
  'a question':
    ({ txid }) =>
    (service) =>
      service.get(`/tron/recharge?txid=${txid}`),
  'a list': () => (service) => service.ledger('/ledger/orders?uid=7'),
}

describe('orders, and what somebody else does between any two round trips to the database', () => {
  it.each(Object.entries(acts))('of %s', { timeout }, async (_name, actOf) => {
    const prepared = await prepare()
    const { contest } = prepared
    contest.begin()
    expect(await contest.alone(actOf(prepared))).toBe(200)
    const others = names.map((name) => [name, rivals[name](prepared)] as const)
    expect(await faultsBeside(contest, actOf(prepared), others)).toEqual([])
  })
})
