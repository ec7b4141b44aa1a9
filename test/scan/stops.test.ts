import { describe, expect, it } from 'vitest'
import type { DepositStep, Fact } from '../../src/worker/ledger/stops.ts'
import { addressIn, payFinal, postInit, type RunningService, usdtTo } from '../http/service.ts'
import { type Cause, causes } from '../payouts/causes.ts'
import { signedPayout, startPaying, withKilledSending } from '../payouts/harness.ts'
import { facts, mayGoOnBy } from '../support/contract-11.ts'
import { alarmsOf, correct, finalizedIn, stateOf, tickLater, usdtWith } from './harness.ts'

const nothing: Cause = async (service) => service
/** Of a fork that is real: a new block would end one that is only stored. */
const causeOf = (fact: Fact): Cause => (fact === 'forked' ? fork : causes[fact])

/**
 * All nodes show another chain from below the newest final block. It has a deposit of 5 USDT to
 * user 7.
 */
const fork: Cause = async (service) => {
  const own = await addressIn(await service.get('/tron/generate'))
  const { height } = await stateOf(service)
  const other = service.chain.fork(Math.min(height, finalizedIn(service)) - 3)
  other.addEmpty(30)
  other.add([usdtTo(own, 5_000_000n)])
  other.addEmpty(60)
  for (const node of service.nodes) node.chain = other
  await tickLater(service, 200)
  expect((await stateOf(service)).halted).not.toBeNull()
  return service
}

/** A service where a payout is signed, and deposits from 20 USDT on are held for review. */
async function start() {
  const service = await startPaying({ CURRENCIES: usdtWith({ reviewFrom: '20' }) })
  await signedPayout(withKilledSending(service))
  return { service, own: await addressIn(await service.get('/tron/generate')) }
}

/** Decides about a deposit; returns the status and the reason. */
async function decide(service: RunningService, txid: string, decision: 'credit' | 'refuse') {
  const deposits = [{ txid, position: 0, decision, why: 'looked at' }]
  const { status, headers } = await service.ledger('/ledger/deposits/decide', postInit({ deposits }))
  return { status, reason: headers.get('x-reason') }
}

const stateIn = ({ db }: RunningService, sql: string) =>
  db.prepare(`SELECT state FROM transfer WHERE ${sql} ORDER BY id DESC`).first<string>('state')

/**
 * The steps of deposits that are still possible after `cause`, as far as they need no correction.
 */
async function doneAfter(cause: Cause) {
  const { service, own } = await start()
  const [liked = '', disliked = ''] = payFinal(service, usdtTo(own, 25_000_000n), usdtTo(own, 26_000_000n))
  await tickLater(service, 60)
  const now = await cause(service)
  const [credited, refused] = [await decide(now, liked, 'credit'), await decide(now, disliked, 'refuse')]
  const isOperator = credited.reason === 'from-operator'
  const txid = payFinal(now, usdtTo(own, 5_000_000n))[0] ?? ''
  await tickLater(now, 60)
  // A step that was refused has changed nothing. What an operator has sent is a movement from the
  // next tick on.
  if (credited.status !== 200) expect(await stateIn(now, `txid = '${liked}'`)).toBe(isOperator ? 'moved' : 'held')
  return {
    done: {
      credit: (await stateIn(now, `txid = '${txid}' OR raw = '5000000'`)) === 'credited',
      decide: credited.status === 200,
      refuse: refused.status === 200,
    },
    reasons: { decide: credited.reason, refuse: refused.reason },
  }
}

describe('what is known to be wrong stops each step of a deposit that the contract names, and no other', () => {
  it('nothing', async () => {
    expect((await doneAfter(nothing)).done).toEqual({ credit: true, decide: true, refuse: true })
  })

  it.each(facts)('%s', async (fact) => {
    const { done, reasons } = await doneAfter(causeOf(fact))
    const said = Object.keys(done).map((step) => [step, mayGoOnBy(fact, step as DepositStep)])
    expect(done).toEqual(Object.fromEntries(said))
    const word = fact === 'forked' ? 'chain-forked' : fact
    for (const [step, reason] of Object.entries(reasons))
      expect([step, reason]).toEqual([step, mayGoOnBy(fact, step as DepositStep) ? null : word])
  })
})

/** Whether a deposit that was credited above a corrected height is found again after `cause`. */
async function isFoundAfter(cause: Cause) {
  const { service, own } = await start()
  const [txid = ''] = payFinal(service, usdtTo(own, 5_000_000n))
  await tickLater(service, 60)
  const credit = `SELECT height, sought FROM transfer WHERE txid = '${txid}'`
  await correct(service, Number(await service.db.prepare(credit).first('height')) - 1)
  expect(await service.db.prepare(credit).first('sought')).toBe(1)
  const now = await cause(service)
  await tickLater(now, 60)
  expect(alarmsOf(now, 'corrected-credit')).toEqual([]) // after the alarm it would not be sought any more either
  return (await service.db.prepare(credit).first('sought')) === 0
}

describe('a deposit that was credited above a corrected height is found again', () => {
  // A scan that reads the block again is not halted any more, so what is forked shows in the
  // database alone: test/migrations/stops.test.ts.
  it.each(facts.filter((fact) => fact !== 'forked'))('as the contract says: %s', async (fact) => {
    expect(await isFoundAfter(causes[fact])).toBe(mayGoOnBy(fact, 'find'))
  })
})
