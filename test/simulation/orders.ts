import { formatUnits } from '../../src/worker/common/amount.ts'
import { bearer } from '../support/tokens.ts'
import { checkAnswer } from './callers/client.ts'
import { sendPost } from './callers/post.ts'
import { backendTokenAt } from './callers/tokens.ts'
import { mayFail } from './database.ts'
import { offered } from './deployed.ts'
import type { Environment, SentPost } from './environment.ts'
import { trackOperation } from './event-loop.ts'
import type { Invocation } from './invocation.ts'
import type { Isolate } from './isolate.ts'
import { observe } from './observed.ts'
import { isContentOf, keyOf, type OrderWorld, type SentOrder } from './order-world.ts'
import { payCurrency } from './payments.ts'
import { rawOf } from './payouts.ts'
import { currencies } from './scenario.ts'
import { pass, passUntil, type SimulatedRun } from './simulated-run.ts'
import type { StoredOrder } from './stored.ts'

/** Does one thing that backends and payers do with orders. */
export function startOrderCall(run: SimulatedRun, world: OrderWorld): void {
  const { random, sent } = world
  const kind = random.int(1, 12)
  const known = sent.length > 0 ? random.pick(sent) : undefined
  if (known === undefined || kind <= 3) askNew(run, world)
  else if (kind === 4) askAgain(run, world, known)
  else if (kind <= 8) payForOrder(run, world)
  else if (kind === 9) payInParts(run, world)
  else if (kind === 10) spend(run, world, known)
  else cancelAny(run, world)
}

function askNew(run: SimulatedRun, world: OrderWorld): void {
  const { random, sent } = world
  const count = random.pick([1, 1, 2, 3])
  const uid = random.int(1, run.env.scenario.users)
  const first = drawOrder(run.env, world, uid, sent.length + 1)
  const orders = Array.from({ length: count }, (_, i): SentOrder => {
    if (i === 0) return first
    // several of one user at once, often of the same amount
    const other = drawOrder(run.env, world, uid, sent.length + 1 + i)
    return random.chance(0.6) ? { ...first, order: other.order } : other
  })
  sent.push(...orders)
  for (let copies = random.chance(0.2) ? 2 : 1; copies > 0; copies -= 1) ask(run, world, orders, 3)
}

function drawOrder(env: Environment, { random }: OrderWorld, uid: number, number: number): SentOrder {
  const { scheduler } = env
  const { cuy } = random.pick(offered(env))
  const amount = BigInt(cuy === 3 ? random.int(600_000, 5_000_000) : random.int(1_000, 50_000))
  const atLeast = random.chance(0.4) ? amount - BigInt(random.int(1, Number(amount) / 10)) : amount
  const seconds = Math.ceil(scheduler.now() / 1_000) + random.int(10, 90)
  const until = random.chance(0.5) ? seconds * 1_000 : null
  return { uid, cuy, order: `o${number}`, amount, atLeast, until, take: random.chance(0.5), isAccepted: false }
}

/** Asks for orders again: as they were, or with another amount under the same reference. */
function askAgain(run: SimulatedRun, world: OrderWorld, known: SentOrder): void {
  const { random, sent } = world
  const isChanged = known.isAccepted && random.chance(0.4)
  const other = isChanged ? { ...known, amount: known.amount + 1n, isAccepted: false } : known
  if (isChanged) sent.push(other)
  ask(run, world, [other], isChanged ? 0 : 3)
}

/** Asks again, soon, for the accepted orders that a restored database lacks. */
export function askLostOrders(run: SimulatedRun): void {
  const { env, stored } = run
  const { orders: world } = env
  if (world === null) return
  for (const one of world.sent) {
    const known = stored.orderOf(one.uid, one.order)
    if (!one.isAccepted || (known !== undefined && isContentOf(known, one))) continue
    one.isAccepted = false
    env.count('order lost with the database')
    env.scheduler.after(world.random.int(1, 20_000), () => ask(run, world, [one], 3))
  }
}

function ask(run: SimulatedRun, world: OrderWorld, orders: readonly SentOrder[], triesLeft: number): void {
  let isAnswered = false
  const again = () => {
    if (!isAnswered && triesLeft > 0) ask(run, world, orders, triesLeft - 1)
  }
  run.env.scheduler.after(20_000, again)
  void askOnce(run, world, orders).then((isOver) => {
    isAnswered = isOver
  })
}

/**
 * Asks once. Returns whether an answer has said that the orders are stored, or why they are not.
 */
async function askOnce(run: SimulatedRun, world: OrderWorld, orders: readonly SentOrder[]): Promise<boolean> {
  const { env, stored } = run
  const { restores } = env
  const accepted = orders.map(({ isAccepted }) => isAccepted)
  const observed = observe(env, () => orders.map((one) => stored.orderOf(one.uid, one.order)))
  const halted = observe(env, () => stored.scan()?.halted != null)
  const body = orders.map(({ uid, cuy, order, amount, atLeast, until, take }) => ({
    ...{ uid, cuy, order, amt: formatUnits(amount, scaleOf(cuy)), atLeast: formatUnits(atLeast, scaleOf(cuy)) },
    ...(until === null ? {} : { until: new Date(until).toISOString().replace('.000', '') }),
    take,
  }))
  const answer = await run.orders('order', (isolate, invocation) => send(env, world, isolate, invocation, 'ask', body))
  const states = observed.end()
  const wasHalted = halted.end().includes(true)
  const violate = (promise: string) => env.violate(`orders ${orders.map(keyOf)} ${promise}`)
  env.count(`orders: ${answer.kind} ${answer.reason ?? ''}`)
  if (answer.kind === 'failed') return false
  if (answer.kind === 'ok') {
    for (const [i, one] of orders.entries()) {
      const item = answer.items[i]
      const isTrue = states.some((state) => isShown(state[i], item) && isContentOf(state[i] as StoredOrder, one))
      // safe: `isShown` has compared it
      if (!isTrue) violate(`were answered with ${JSON.stringify(item)}, which is not stored`)
      one.isAccepted = true
    }
    for (const known of states.at(-1) ?? []) {
      if (known === undefined) continue
      world.addresses.add(known.address)
      if (!env.lost || env.lost.isSet) env.shown.set(known.address, known.uid)
    }
    return true
  }
  const isSame = env.restores === restores
  if (isSame && accepted.some(Boolean) && answer.kind !== 'conflict')
    violate(`were accepted and are now ${answer.kind}`)
  const hasOther = (state: readonly (StoredOrder | undefined)[]) =>
    state.some((known, i) => known !== undefined && !isContentOf(known, orders[i] as SentOrder))
  const causes: Readonly<Record<string, () => boolean>> = {
    'content-differs': () => states.some(hasOther),
    'partly-known': () => states.some((state) => state.some(Boolean) && !state.every(Boolean)),
    'chain-forked': () => wasHalted,
    retired: () => env.retiredAt > 0,
    'decimals-differ': () => env.scenario.decimalsDiffer,
    'decimals-unknown': () => orders.some(({ cuy }) => cuy !== 1),
    'too-many-orders': () => false,
    'key-in-use': () => false,
    'backend-differs': () => false,
  }
  if (answer.kind === 'conflict' && causes[answer.reason ?? '']?.() === false)
    violate(`are ${answer.reason} without cause`)
  const isPast = orders.some(({ until }) => until !== null && until < env.scheduler.now() + skewMsMax)
  if (answer.kind === 'refused' && !isPast) violate('are right and were refused')
  return answer.kind !== 'conflict' || causes[answer.reason ?? ''] !== undefined
}

/** The clocks of two simulated machines differ by less than this, in milliseconds. */
const skewMsMax = 2_000

function cancelAny(run: SimulatedRun, world: OrderWorld): void {
  const { random, sent } = world
  const first = random.pick(sent)
  const other = random.pick(sent)
  const orders = random.chance(0.3) && keyOf(other) !== keyOf(first) ? [first, other] : [first]
  // A payer pays while a backend cancels, often when the payment is just final.
  if (random.chance(0.5)) payOne(run, world, first, first.amount)
  const { scenario, blockMs, scheduler } = run.env
  const finalMs = (scenario.finalityLag + 1) * blockMs
  const ms = random.chance(0.5) ? random.int(0, finalMs + 10_000) : finalMs + random.int(-2_000, 3_000)
  scheduler.after(ms, () => void cancel(run, world, orders))
}

async function cancel(run: SimulatedRun, world: OrderWorld, orders: readonly SentOrder[]): Promise<void> {
  const { env, stored } = run
  for (const one of orders) world.cancelled.add(keyOf(one))
  const observed = observe(env, () => orders.map((one) => stored.orderOf(one.uid, one.order)))
  const body = orders.map(({ uid, order }) => ({ uid, order }))
  const answer = await run.orders('order', (isolate, invocation) =>
    send(env, world, isolate, invocation, 'cancel', body),
  )
  const states = observed.end()
  env.count(`orders cancelled: ${answer.kind} ${answer.reason ?? ''}`)
  const violate = (promise: string) => env.violate(`the cancellation of ${orders.map(keyOf)} ${promise}`)
  const is = (isSo: (known: StoredOrder | undefined) => boolean) => states.some((state) => state.some(isSo))
  const isDone = states.some((state) => state.every((known) => known?.state === 'cancelled'))
  if (answer.kind === 'ok' && !isDone) violate('was answered as stored, and is not')
  if (answer.kind === 'refused') violate('is right and was refused')
  if (answer.kind === 'unknown' && !is((known) => known === undefined))
    violate('names an order as unknown that is known')
  if (answer.kind === 'conflict' && !is((known) => (known?.credited ?? 0n) > 0n)) violate('was refused without a cause')
}

/** Pays for some order: exactly, enough, too little, twice or more. */
function payForOrder(run: SimulatedRun, world: OrderWorld): void {
  const { random, sent } = world
  const one = random.pick(sent)
  const { amount, atLeast } = one
  const amounts = random.pick([
    [amount],
    [amount],
    [atLeast],
    [atLeast - 1n],
    [amount / 2n, amount - amount / 2n],
    [amount, amount],
    [amount * 2n],
  ])
  for (const units of amounts) payOne(run, world, one, units)
}

function payOne({ env, stored }: SimulatedRun, { random }: OrderWorld, one: SentOrder, amount: bigint): void {
  const known = stored.orderOf(one.uid, one.order)
  if (known === undefined || amount <= 0n || !env.shown.has(known.address)) return
  // now and then in another currency, which never counts for it
  const cuy = random.chance(0.1) ? random.pick(offered(env)).cuy : one.cuy
  env.count(`order: payment while ${known.state}`)
  env.queued.push(payCurrency(random, cuy, known.address, rawOf({ cuy, amount })))
}

/** Pays an order in two parts. Between them its user spends what the wallet has. */
function payInParts(run: SimulatedRun, world: OrderWorld): void {
  const { env, stored } = run
  const one = world.random.pick(world.sent)
  if (stored.orderOf(one.uid, one.order)?.state !== 'open') return
  payOne(run, world, one, one.amount / 2n)
  const until = env.scheduler.now() + 120_000
  const look = () => {
    const isPartly = stored.orderOf(one.uid, one.order)?.state === 'partly'
    if (isPartly) spend(run, world, one)
    if (isPartly) payOne(run, world, one, one.amount - one.amount / 2n)
    else if (env.scheduler.now() < until) env.scheduler.after(1_000, look)
  }
  look()
}

/** The user of an order spends what the wallet has, or a half of it. */
function spend(run: SimulatedRun, { random }: OrderWorld, { uid, cuy }: SentOrder): void {
  const { backends: env, stored } = run
  const { balance = 0n } = stored.wallets().find((one) => one.uid === uid && one.cuy === cuy) ?? {}
  if (balance === 0n) return
  const amount = random.chance(0.7) ? -balance : -((balance + 1n) / 2n)
  const entry = { uid, cuy, type: 4, osn: `s${env.posts.length + 1}`, amount, mark: '' } as const
  const post: SentPost = { entries: [entry], isAccepted: false, isAnswered: false }
  env.posts.push(post)
  void run.post((backend) => sendPost(backend, post))
}

/**
 * When no fault occurs any more: each order is asked for again, and some are paid, also those that
 * have ended.
 */
export async function settleOrders(run: SimulatedRun): Promise<void> {
  const { env } = run
  const { orders: world } = env
  if (world === null || world.sent.length === 0) return
  for (const one of world.sent.slice(-12)) {
    let isOver = false
    void askOnce(run, world, [one]).then(() => {
      isOver = true
    })
    await passUntil(env, () => isOver, 60_000)
  }
  for (let left = 6; left > 0; left -= 1) {
    payForOrder(run, world)
    await pass(env, 3_000)
  }
  cancelAny(run, world)
  await pass(env, (env.scenario.finalityLag * 3 + 2 * env.scenario.scanEverySeconds + 20) * 1_000)
}

interface OrderAnswer {
  readonly kind: 'ok' | 'conflict' | 'unknown' | 'refused' | 'failed'
  readonly reason?: string
  readonly items: readonly Readonly<Record<string, unknown>>[]
}

/** Sends a request about orders over HTTP or RPC. */
async function send(
  env: Environment,
  { random }: OrderWorld,
  isolate: Isolate,
  invocation: Invocation,
  what: 'ask' | 'cancel',
  orders: readonly object[],
): Promise<OrderAnswer> {
  if (random.chance(0.5)) {
    const path = what === 'ask' ? '/ledger/orders' : '/ledger/orders/cancel'
    const headers = { ...bearer(backendTokenAt(env)), 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ orders }) }
    const response = await isolate.fetch(new Request(`https://wallet.test${path}`, init))
    const text = await trackOperation(response.text())
    env.trace(() => `${invocation.name} ${what} ${JSON.stringify(orders)} ← ${response.status} ${text}`)
    const { status, data } = checkAnswer(env, invocation, response, text)
    const reason = response.headers.get('x-reason') ?? ''
    const kind = kinds.get(status) ?? (status >= 429 ? 'failed' : 'refused')
    return { kind, reason, items: (data?.list ?? []) as OrderAnswer['items'] } // safe: compared with what is stored
  }
  const ledger = isolate.ledger()
  // safe: the service checks what it gets
  const answer =
    what === 'ask'
      ? await ledger.askOrders(orders as never, 'shop')
      : await ledger.cancelOrders(orders as never, 'shop')
  env.trace(() => `${invocation.name} ${what} ${JSON.stringify(orders)} ← ${JSON.stringify(answer)}`)
  if (answer.ok) return { kind: 'ok', items: answer.list as unknown as OrderAnswer['items'] }
  const { error } = answer
  const reason = 'reason' in error ? String(error.reason) : ''
  if (error.kind === 'conflict') return { kind: 'conflict', reason, items: [] }
  if (error.kind === 'bad-input') return { kind: 'refused', reason, items: [] }
  if (error.kind === 'unknown-order') return { kind: 'unknown', reason, items: [] }
  if ((error.kind as string) === 'internal' && !mayFail(env, invocation))
    env.violate(`${invocation.name} failed while the platform worked`)
  return { kind: 'failed', reason, items: [] }
}

const kinds = new Map([
  [200, 'ok'],
  [404, 'unknown'],
  [409, 'conflict'],
] as const) as ReadonlyMap<number, OrderAnswer['kind']>

/** Whether an item of an answer shows the stored order. */
function isShown(stored: StoredOrder | undefined, item: Readonly<Record<string, unknown>> | undefined): boolean {
  if (stored === undefined || item === undefined) return false
  const { uid, order, state, credited, late, taken, cuy } = stored
  return (
    String(item.uid) === String(uid) &&
    item.order === order &&
    item.state === state &&
    String(item.credited) === formatUnits(credited, scaleOf(cuy)) &&
    String(item.late) === String(late === 1) &&
    String(item.taken) === String(taken === 1)
  )
}

const scaleOf = (cuy: number) => currencies.find((one) => one.cuy === cuy)?.scale ?? 0
