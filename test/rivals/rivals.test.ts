import { describe, expect, it } from 'vitest'
import { addressIn, finalityLag, oneEndpoint, postInit, trxTo, usdtTo } from '../http/service.ts'
import {
  ask,
  contentOf,
  expiringAfter,
  fund,
  handIn,
  mined,
  offered,
  payoutRequest,
  payoutsSetting,
  send,
  sign,
  signedPayout,
} from '../payouts/harness.ts'
import { correct, headOf, rescan, tickLater, usdtWith } from '../scan/harness.ts'
import { signTransfer } from '../support/payouts.ts'
import { type Act, faultsBeside, startContest } from './contest.ts'

/**
 * Longer than other tests may take: an act runs with its rival once for each of its round trips.
 */
const timeout = 900_000

/**
 * A service in which everything is under way: deposits and payouts in each state, blocks to be
 * read, and blocks to be read again.
 */
async function prepare() {
  const variables = { ...oneEndpoint, PAYOUTS: payoutsSetting, CURRENCIES: usdtWith({ reviewFrom: '200' }) }
  const contest = await startContest(variables)
  const { service } = contest
  const { chain, clock } = service
  clock.seconds = chain.tip().timeMs / 1000 + 3
  const to7 = await addressIn(await service.get('/tron/generate', 7))
  const to8 = await addressIn(await service.get('/tron/generate', 8))
  await service.tick()
  await fund(service)
  // Scanned already: a credit, a deposit in review, and a payout whose transaction has failed.
  const { id: stuck } = await ask(service)
  const failed = await sign(service)
  await handIn(service, stuck, failed.transaction)
  const scanned = chain.add([usdtTo(to7, 250_000_000n), usdtTo(to8, 30_000_000n), mined(failed, { failed: true })])
  chain.addEmpty(finalityLag)
  await tickLater(service, 60)
  const review = { txid: scanned.transactions[0]?.txid, position: 0 }
  // Payouts: one that waits, one that is approved, one that expires, one that is paid, and one that
  // is on its way.
  const { id: waiting } = await ask(service, { amt: '150' })
  const { id: approved } = await ask(service)
  await expiringAfter(service, 3)
  const paid = await signedPayout(service)
  await signedPayout(service, { timestamp: 7n })
  const head = await headOf(service)
  const signed = [8n, 9n].map((timestamp) => signTransfer(contentOf(head, { timestamp })))
  await rescan(service, scanned.height, head.height)
  // Final and not scanned yet, and then not final.
  const unscanned = chain.add([usdtTo(to7, 25_000_000n), trxTo(to8, 4_000_000n), mined(paid)])
  chain.addEmpty(finalityLag + 4)
  chain.add([usdtTo(to7, 9_000_000n)])
  clock.seconds = chain.tip().timeMs / 1000 + 3
  return { contest, stuck, waiting, approved, signed, review, txid: unscanned.transactions[0]?.txid }
}
type Prepared = Awaited<ReturnType<typeof prepare>>

const handInFirst =
  ({ approved, signed: [first] }: Prepared): Act =>
  (service) =>
    send(service, '/signed', { signed: [{ id: approved, transaction: first?.transaction }] }, 'signer')
const decide =
  ({ review }: Prepared, decision: string): Act =>
  (service) =>
    service.ledger('/ledger/deposits/decide', postInit({ deposits: [{ ...review, decision, why: 'looked at' }] }))
const order = payoutRequest({ amt: '20', osn: 'contested' })
const askOrder: Act = (service) => send(service, '', { payouts: [order] })
const spend =
  (amt: string): Act =>
  (service) =>
    service.post([{ uid: 7, cuy: 2, type: 4, osn: 'spent', amt }])
const approve =
  (...ids: number[]): Act =>
  (service) =>
    send(service, '/approve', { ids }, 'boss')
const cancel =
  (...ids: number[]): Act =>
  (service) =>
    send(service, '/cancel', { ids, why: 'changed' })

/** What somebody else does meanwhile. */
const rivals = {
  'a tick': () => (service) => service.tick(),
  'requests of others': (prepared) => async (service) => {
    await handInFirst(prepared)(service)
    await approve(prepared.waiting, prepared.stuck)(service)
    await askOrder(service)
    await decide(prepared, 'credit')(service)
    await spend('-664')(service)
  },
  'a cancellation': ({ waiting, approved, stuck }) => cancel(waiting, approved, stuck),
  'a first address': () => (service) => service.get('/tron/generate', 9),
  'a correction': () => async (service) => correct(service, (await headOf(service)).height - 5),
  'a fork':
    () =>
    ({ db }) =>
      db.prepare(`UPDATE scan SET halted = 'block 5 does not follow block 4'`).run(),
  'a stop after a restore':
    () =>
    ({ db }) =>
      db.prepare('UPDATE scan SET restored_at = 5').run(),
} satisfies Readonly<Record<string, (prepared: Prepared) => Act>>
type Rival = keyof typeof rivals

const all = [
  'a tick',
  'requests of others',
  'a cancellation',
  'a correction',
  'a fork',
  'a stop after a restore',
] as const
const ofChain = ['a tick', 'a correction', 'a fork'] as const
/** Each act, with the rivals that write rows which it reads. */
const acts: Readonly<Record<string, readonly [(prepared: Prepared) => Act, readonly Rival[]]>> = {
  'a tick': [() => (service) => service.tick(), all],
  'a check': [() => (service) => service.get('/tron/recharge'), ['a tick', 'a correction']],
  'a question about a transaction': [
    ({ txid }) =>
      (service) =>
        service.get(`/tron/recharge?txid=${txid}`),
    ofChain,
  ],
  'a first address': [() => (service) => service.get('/tron/generate', 9), ['a tick', 'a first address']],
  'a further address': [() => (service) => service.get('/tron/generate?fresh=1'), ['a tick', 'a first address']],
  'a post': [() => spend('-1'), ['a tick', 'requests of others', 'a cancellation']],
  'asking for a payout': [() => askOrder, all],
  'an approval': [({ waiting, stuck }) => approve(waiting, stuck), all],
  'a cancellation': [({ waiting, approved, stuck }) => cancel(waiting, approved, stuck), all],
  'the offer to the signer': [() => offered, all],
  'a hand-in': [handInFirst, all],
  'a decision to credit': [(prepared) => decide(prepared, 'credit'), ['requests of others', ...ofChain]],
  'a decision to refuse': [(prepared) => decide(prepared, 'refuse'), ['requests of others', ...ofChain]],
  'a delivery of events': [() => (service) => service.deliver(), ['a tick', 'requests of others']],
}

describe('what somebody else does between any two round trips to the database', () => {
  it.each(Object.entries(acts))(
    'of %s breaks no rule and crashes nothing',
    { timeout },
    async (_name, [actOf, names]) => {
      const prepared = await prepare()
      const { contest } = prepared
      contest.begin()
      expect(await contest.alone(actOf(prepared))).toBe(200)
      const others = names.map((name) => [name, rivals[name](prepared)] as const)
      expect(await faultsBeside(contest, actOf(prepared), others)).toEqual([])
    },
  )
})

describe('a restore of an older copy, which lacks a transaction that is on its way,', () => {
  it.each<[string, (prepared: Prepared) => Act]>([
    ['a tick', () => (service) => service.tick()],
    [
      'the offer to the signer',
      ({ approved }) =>
        async (service) =>
          expect(await offered(service)).not.toContain(approved),
    ],
    ['a hand-in of the same transaction', handInFirst],
    [
      'a hand-in of another transaction',
      ({ approved, signed: [, second] }) =>
        (service) =>
          send(service, '/signed', { signed: [{ id: approved, transaction: second?.transaction }] }, 'signer'),
    ],
    ['a cancellation', ({ approved }) => cancel(approved)],
  ])('between any two round trips of %s pays and gives back nothing twice', { timeout }, async (_name, actOf) => {
    const prepared = await prepare()
    const { contest, approved, signed } = prepared
    contest.begin(handInFirst(prepared))
    const found = await contest.run(actOf(prepared), contest.restore, (query) => {
      const others = query(
        `SELECT txid FROM payout_transaction WHERE payout_id = ${approved} AND txid <> '${signed[0]?.txid}'`,
      )
      const cancelled = query(`SELECT id FROM payout WHERE id = ${approved} AND state = 'cancelled'`)
      return [...others, ...cancelled].map((one) => `paid or given back twice: ${String(one)}`)
    })
    expect(found).toEqual([])
  })
})
