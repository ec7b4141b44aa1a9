import { startDecision } from './decisions.ts'
import { offered } from './deployed.ts'
import type { Environment } from './environment.ts'
import { startOrderCall } from './orders.ts'
import { drawPayment, type Payment, payCurrency } from './payments.ts'
import { askForOne, decideAll } from './payout-calls.ts'
import { startPost } from './posts.ts'
import { createRandom } from './random.ts'
import { createRequests } from './requests.ts'
import { fineToken } from './scenario.ts'
import type { SimulatedRun } from './simulated-run.ts'

/** How much happens on a day, on average. */
export interface YearRates {
  readonly deposits: number
  readonly posts: number
  readonly payouts: number
  readonly orders: number
  readonly requests: number
}

const trafficSeeds = 2 ** 51
const hoursOfDay = 24

/** Starts what users, backends and people do in each window. */
export function startTraffic(run: SimulatedRun, rates: YearRates) {
  const { env } = run
  const random = createRandom(trafficSeeds)
  const requests = createRequests()
  const { payouts, orders } = env
  const parties = {
    get shown() {
      return [...env.shown.keys()]
    },
    unshown: [],
    balanceOf: (address: Parameters<typeof env.balances.at>[1], contract: Parameters<typeof env.balances.at>[2]) =>
      env.balances.at(env.chain.tip().height + 1, address, contract),
  }
  const pay = () => {
    if (env.shown.size > 0) env.queued.push(drawUsual(env, random, parties))
  }
  const acts: readonly (readonly [perDay: number, act: () => void])[] = [
    [rates.deposits, pay],
    [rates.posts, () => startPost(run)],
    [rates.payouts, () => payouts !== null && askForOne(run, payouts)],
    [rates.orders, () => orders !== null && startOrderCall(run, orders)],
    [rates.requests, () => requests.startAny(run)],
  ]
  return {
    /** Starts what happens in the window around an hour. Returns whether anything does. */
    begin(hour: number, elapsed: number): boolean {
      let isBusy = false
      const at = (act: () => void) => {
        isBusy = true
        env.scheduler.after(random.int(1_000, 70_000), act)
      }
      for (const [perDay, act] of acts) {
        for (let left = perDay / hoursOfDay; left > 0; left -= 1) if (random.chance(left)) at(act)
      }
      if (elapsed < 24) at(() => requests.startAny(run)) // the first users come on the first day
      const date = new Date(hour)
      if (date.getUTCHours() === 0)
        for (let left = isBoundary(date) ? 6 : 1; left > 0; left -= 1) at(() => startPost(run))
      // people look twice a day
      if (date.getUTCHours() === 9 || date.getUTCHours() === 15) {
        if (payouts !== null) at(() => decideAll(run, payouts))
        const open = run.stored.transfers().filter(({ review }) => review === 'open').length
        for (let left = open * 2; left > 0; left -= 1) at(() => startDecision(run))
      }
      return isBusy
    },
  }
}

/** Whether a month begins, or a day at which clocks change: in statements more happens there. */
const isBoundary = (date: Date) => date.getUTCDate() === 1 || /-(03-31|10-27|02-29)T/.test(date.toISOString())

function drawUsual(
  env: Environment,
  random: ReturnType<typeof createRandom>,
  parties: Parameters<typeof drawPayment>[1],
): Payment {
  const open = offered(env).filter(({ cuy }) => !env.retired.has(cuy))
  for (;;) {
    const { cuy } = random.pick(open)
    const raw = cuy === 3 ? BigInt(random.int(1, 4_000)) * 10n ** 15n : BigInt(random.int(1_000, 900_000_000))
    const payment = random.chance(0.85)
      ? payCurrency(random, cuy, random.pick(parties.shown), raw)
      : drawPayment(random, parties)
    const isFine = payment.changes.some(({ contract }) => contract === fineToken)
    const isSeized = payment.changes.some(({ hidden }) => hidden === true)
    if (!isSeized && (!isFine || open.some((one) => one.cuy === 3))) return payment
  }
}

/** Whether something is under way that ends within minutes. */
export function hasOpenWork({ env, stored }: SimulatedRun): boolean {
  const isSigned = stored.payouts().some(({ state }) => state === 'signed')
  const isSeen = stored.countSeen() > 0
  return isSigned || isSeen || env.queued.length > 0
}
