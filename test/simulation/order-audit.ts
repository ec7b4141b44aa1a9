import { amountMax } from '../../src/worker/common/amount.ts'
import type { Environment } from './environment.ts'
import { isContentOf, keyOf } from './order-world.ts'
import type { Stored, StoredEntry, StoredOrder, StoredTransfer } from './stored.ts'

// The rules of orders, written from contract 14 and without any code of the service.

/** The clocks of two simulated machines differ by less than this, in milliseconds. */
const skewMsMax = 2_000
const dayMs = 86_400_000
/** A tick ends what has passed; at the end of a run none is later than this. */
const passedMsMax = 200_000

/** The states that may follow each state. A state that follows itself counts a deposit. */
const steps: Readonly<Record<StoredOrder['state'], readonly StoredOrder['state'][]>> = {
  open: ['partly', 'paid', 'expired', 'cancelled'],
  partly: ['partly', 'paid', 'expired'],
  expired: ['expired', 'paid', 'cancelled'],
  paid: ['paid'],
  cancelled: [],
}

/**
 * Checks orders after each write. After `restart` later states are compared with the present one.
 */
export function createOrderCheck(env: Environment, stored: Stored) {
  let orders = new Map<number, StoredOrder>()
  return {
    check(by: string, ids: Iterable<number>) {
      for (const id of ids) {
        const now = stored.orderById(id)
        if (now === undefined) continue
        checkOrder(env, stored, by, orders.get(id), now)
        orders.set(id, now)
      }
    },
    restart() {
      orders = new Map(stored.orders().map((one) => [one.id, one]))
    },
  }
}

/** `before` is undefined if the order is new. */
function checkOrder(
  env: Environment,
  stored: Stored,
  by: string,
  before: StoredOrder | undefined,
  now: StoredOrder,
): void {
  const violate = (promise: string) => env.violate(`${by} made order ${keyOf(now)} ${promise}`)
  const sent = env.orders?.sent.filter((one) => keyOf(one) === keyOf(now)) ?? []
  if (!sent.some((one) => isContentOf(now, one))) violate('which nobody has asked for')
  const isSame = before?.state === now.state && before.credited === now.credited
  if (before === undefined ? now.state !== 'open' : !isSame && !steps[before.state].includes(now.state))
    violate(`${now.state} after it was ${before?.state ?? 'new'}`)
  if (now.credited < (before?.credited ?? 0n)) violate('count less than before')
  if ((now.state === 'paid') !== now.credited >= now.atLeast) violate(`${now.state} with ${now.credited}`)
  if (now.state === 'cancelled' && now.credited > 0n) violate('cancelled although something is credited')
  if (now.state === 'cancelled' && env.orders?.cancelled.has(keyOf(now)) !== true) violate('cancelled, and nobody did')
  const isPassed = now.until <= env.scheduler.now() + env.clockMs + skewMsMax
  if (now.state === 'expired' && before?.state !== 'expired' && !isPassed) violate('expired too early')
  const owner = env.owners.get(now.address)
  if (owner !== now.uid) violate(`at an address of ${owner}`)
  const counted = sum(stored.creditsOf(now.id))
  const isCut = counted > amountMax && now.credited === amountMax // no stored amount is larger
  if (!isCut && now.credited !== (now.state === 'cancelled' ? 0n : counted))
    violate(`count ${now.credited}, and its deposits are ${counted}`)
}

const sum = (entries: readonly StoredEntry[]) => entries.reduce((all, { amount }) => all + amount, 0n)

/**
 * The fault of the orders at the end of a run, or null: each is what its deposits, its time and its
 * cancellation say, and has exactly the events of its steps.
 */
export function auditOrders(env: Environment, stored: Stored): string | null {
  const { orders: world } = env
  if (world === null) return null
  const all = stored.orders()
  const lost = world.sent.find((one) => {
    const known = stored.orderOf(one.uid, one.order)
    return one.isAccepted && (known === undefined || !isContentOf(known, one))
  })
  if (lost !== undefined) return `the accepted order ${keyOf(lost)} is not stored`
  const transfers = new Map(stored.transfers().map((one) => [one.id, one]))
  const credited = [...transfers.values()].filter(({ state }) => state === 'credited')
  for (const order of all) {
    const fault = auditDeposits(env, stored, order, credited) ?? auditState(env, stored, order, transfers) ?? null
    if (fault !== null) return `order ${keyOf(order)} ${fault}`
  }
  const takes = stored.entries().filter(({ type, osn }) => type === 4 && /^o\d+$/.test(osn))
  const stray = takes.find(({ uid, osn }) => stored.orderOf(uid, osn)?.taken !== 1)
  return stray === undefined ? null : `entry ${stray.osn} takes for an order that takes nothing`
}

/**
 * The time of the block of a credited transfer; null if it was credited in a block that was
 * replaced later.
 */
function madeAtOf(env: Environment, { txid, position, height }: StoredTransfer): number | null {
  const key = `${txid}:${position}`
  const mined = env.transfers.get(key) ?? env.sent.get(key)
  const block = env.chain.at(height)
  if (env.creditedElsewhere.has(key) || mined?.height !== height || block === undefined) return null
  return block.seconds * 1_000
}

/** Exactly the deposits to its address, in its currency, in its time name the order. */
function auditDeposits(
  env: Environment,
  stored: Stored,
  order: StoredOrder,
  credited: readonly StoredTransfer[],
): string | null {
  const { state, until, endedAt, createdAt, afterHeight } = order
  const firstEnd = state === 'expired' ? until : Math.min(until, endedAt ?? until)
  for (const transfer of credited) {
    const { txid, position, to, cuy, uid, height } = transfer
    if (to !== order.address || uid !== order.uid) continue
    const madeAt = madeAtOf(env, transfer)
    if (madeAt === null || (madeAt > createdAt && height <= afterHeight)) continue
    const isDue = cuy === order.cuy && madeAt > createdAt && madeAt < firstEnd + dayMs
    const isNamed = stored.markOf(transfer.id) === String(order.id)
    if (isDue !== isNamed) return `${isNamed ? 'counts' : 'does not count'} ${txid}:${position}`
  }
  return null
}

/** Its state, `late`, `taken` and events follow from the deposits in the order of their credits. */
function auditState(
  env: Environment,
  stored: Stored,
  order: StoredOrder,
  transfers: ReadonlyMap<number, StoredTransfer>,
): string | null {
  const { state, until, atLeast, take, amount } = order
  const expected: string[] = []
  let [counted, inTime] = [0n, 0n]
  let isPaid = false
  for (const credit of state === 'cancelled' ? [] : stored.creditsOf(order.id)) {
    counted += credit.amount
    const transfer = transfers.get(stored.transferOfEntry(credit.id))
    const madeAt = transfer === undefined ? null : madeAtOf(env, transfer)
    if (madeAt === null || madeAt <= until) inTime += credit.amount
    if (isPaid) continue
    isPaid = counted >= atLeast
    expected.push(`${isPaid ? 'paid' : 'partly'} ${counted}`)
    if (!isPaid) continue
    const isSure = env.creditedElsewhere.size === 0
    if (isSure && (order.late === 1) !== inTime < atLeast) return `is ${order.late === 1 ? '' : 'not '}late`
    const due = counted < amount ? counted : amount
    const takes = take === 1 && credit.balance >= due
    if ((order.taken === 1) !== takes) return `has ${order.taken === 1 ? '' : 'not '}taken its money`
    const entry = stored.entryOf(order.uid, order.cuy, 4, order.order)
    if (takes && (entry?.amount !== -due || entry.balance !== credit.balance - due))
      return `has taken ${entry?.amount}, and not ${-due} at once`
  }
  if (state === 'cancelled') expected.push('cancelled 0')
  else if (isPaid !== (state === 'paid')) return `is ${state} with ${counted}`
  else if (!isPaid && state === 'open' && counted > 0n) return 'is open, and a deposit counts'
  if ((state === 'open' || state === 'partly') && until < env.scheduler.now() - passedMsMax) return 'never expires'
  const events = stored.orderEvents(order.id)
  const told = events.map(({ type, credited }) => `${type.replace('order.', '')} ${credited}`)
  const ends = told.filter((one) => one.startsWith('expired'))
  if (ends.length > 1 || (state === 'expired' && ends.length === 0)) return `has the events ${told}`
  const others = told.filter((one) => !one.startsWith('expired'))
  if (others.join() !== expected.join()) return `has the events ${told}, and not ${expected}`
  const end = told.findIndex((one) => one.startsWith('paid') || one.startsWith('cancelled'))
  const isAfter = end >= 0 && told.slice(end).some((one) => one.startsWith('expired'))
  return isAfter ? `has the events ${told}` : null
}
