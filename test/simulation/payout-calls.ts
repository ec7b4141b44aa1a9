import { formatUnits } from '../../src/worker/common/amount.ts'
import { bearer } from '../support/tokens.ts'
import { checkAnswer } from './callers/client.ts'
import { type BackendToken, backendTokenAt } from './callers/tokens.ts'
import { trackOperation } from './event-loop.ts'
import { type Asking, drawAsking, keyOf, minedAs, type PayoutWorld, sentAsking } from './payouts.ts'
import { currencies, fineToken } from './scenario.ts'
import type { SimulatedRun } from './simulated-run.ts'
import type { StoredPayout } from './stored.ts'

/** An answer about payouts: its status and its `x-reason`. */
interface Answer {
  readonly status: number
  readonly reason: string | null
}

/**
 * Sends a request about payouts as one of the backends. If no answer comes, the promise never
 * resolves.
 */
function send(run: SimulatedRun, by: BackendToken, path: string, body: object): Promise<Answer> {
  const { env } = run
  return run.ledger('payout', async (fetch, invocation) => {
    const headers = { ...bearer(backendTokenAt(env, by)), 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`https://wallet.test/ledger/payouts${path}`, init))
    const text = await trackOperation(response.text())
    const { status } = response
    env.trace(() => `${invocation.name} ${path} ${by} ${JSON.stringify(body)} ← ${status} ${text}`)
    env.count(`payouts${path}: ${status}`)
    checkAnswer(env, invocation, response, text)
    return { status, reason: response.headers.get('x-reason') }
  })
}

/** Does one thing that backends do with payouts. */
export function startPayoutCall(run: SimulatedRun, world: PayoutWorld): void {
  const { random, asked } = world
  const kind = random.int(1, 10)
  if (kind <= 5 || asked.size === 0) askNew(run, world)
  else if (kind === 6) ask(run, random.pick([...asked.values()]), 0)
  else if (kind <= 8) approveAny(run, world)
  else cancelAny(run, world)
}

function askNew(run: SimulatedRun, world: PayoutWorld): void {
  const { random, asked } = world
  const full = run.stored.wallets().filter(({ balance }) => balance > 10n)
  if (full.length === 0) return
  const { uid, cuy, balance } = random.pick(full)
  const asking = drawAsking(world, uid, cuy, balance)
  asked.set(keyOf(asking), asking)
  for (let copies = random.chance(0.2) ? 2 : 1; copies > 0; copies -= 1) ask(run, asking, 3)
}

/**
 * Asks for a payout, for the first time or again. If there is no answer within 20 s, asks again, at
 * most `triesLeft` times.
 */
function ask(run: SimulatedRun, asking: Asking, triesLeft: number): void {
  void askOnce(run, asking)
  callLater(run, asking, 20_000, () => {
    if (!asking.isAnswered && triesLeft > 0) ask(run, asking, triesLeft - 1)
  })
}

/** Makes a call after `ms`. Until then `asking.calls` counts it. */
function callLater({ env }: SimulatedRun, asking: Asking, ms: number, call: () => void): void {
  asking.calls += 1
  env.scheduler.after(ms, () => {
    asking.calls -= 1
    call()
  })
}

/** A payout request in the form in which it is sent. */
function written(asking: Asking) {
  const scale = currencies.find(({ cuy }) => cuy === asking.cuy)?.scale ?? 0
  const { amount, fee } = asking
  return { ...sentAsking(asking), amt: formatUnits(amount, scale), ...(fee > 0n && { fee: formatUnits(fee, scale) }) }
}

/**
 * Asks for payouts of one wallet in one request, which the service accepts or refuses as a whole.
 * If there is no answer within 20 s, asks for each payout alone.
 */
export async function askTogether(run: SimulatedRun, all: readonly Asking[]): Promise<void> {
  for (const asking of all) {
    callLater(run, asking, 20_000, () => {
      if (!asking.isAnswered) ask(run, asking, 3)
    })
  }
  const { status } = await send(run, 'shop', '', { payouts: all.map(written) })
  if (status !== 200 && status !== 422) return
  for (const asking of all) Object.assign(asking, { isAnswered: true, isAccepted: status === 200 })
}

async function askOnce(run: SimulatedRun, asking: Asking): Promise<void> {
  const { env } = run
  const { isAccepted: wasAccepted } = asking
  const { restores } = env
  const before = whyNotWritten(run, asking)
  const { status, reason } = await send(run, 'shop', '', { payouts: [written(asking)] })
  if (status >= 500 || (status === 404 && env.scenario.payouts?.losesSetting === true)) return
  // the payout is asked for again later
  if (status === 409 && [...before, ...whyNotWritten(run, asking)].includes(reason ?? '')) return
  asking.isAnswered = true
  if (status === 200) asking.isAccepted = true
  else if (wasAccepted && env.restores === restores)
    env.violate(`${keyOf(asking)} was accepted and is now ${status} ${reason}`)
  else if (status !== 422) env.violate(`${keyOf(asking)} is right and was answered with ${status} ${reason}`)
}

/**
 * The reasons (`x-reason`) for which a correct payout request can be refused now: nodes have not
 * agreed on the token's decimals, or the chain is forked.
 */
function whyNotWritten({ env, stored }: SimulatedRun, { cuy }: Asking): readonly string[] {
  const contract = currencies.find((one) => one.cuy === cuy)?.contract ?? null
  const isKnown = contract === null || stored.countAgreed(contract) > 0
  const differs = !isKnown && contract === fineToken && env.scenario.decimalsDiffer
  return [
    ...(stored.scan()?.halted == null ? [] : ['chain-forked']),
    ...(isKnown ? [] : ['decimals-unknown']),
    ...(differs ? ['decimals-differ'] : []),
  ]
}

/** Asks again for what a restored database lacks, and what has no answer yet. */
export function askAgain(run: SimulatedRun, world: PayoutWorld): void {
  for (const asking of world.asked.values()) {
    if (!asking.isAccepted && asking.isAnswered) continue
    if (run.stored.payoutOf(asking.uid, asking.cuy, asking.osn) !== undefined && asking.isAnswered) continue
    asking.isAccepted = false
    asking.isAnswered = false
    callLater(run, asking, world.random.int(1, 20_000), () => ask(run, asking, 3))
  }
}

/**
 * Approves a payout that waits or is stuck. Sometimes the backend that has asked for the payout
 * approves it, which must be refused.
 */
function approveAny(run: SimulatedRun, { random }: PayoutWorld): void {
  const waiting = run.stored.payouts().filter(({ state }) => state === 'waiting' || state === 'stuck')
  if (waiting.length === 0) return
  const { id } = random.pick(waiting)
  if (random.chance(0.8)) void send(run, 'boss', '/approve', { ids: [id] })
  else void approveOwn(run, id)
}

async function approveOwn(run: SimulatedRun, id: number): Promise<void> {
  const { status } = await send(run, 'own', '/approve', { ids: [id] })
  if (status === 200) run.env.violate(`payout ${id} was approved by the name that has asked for it`)
}

function cancelAny(run: SimulatedRun, { random }: PayoutWorld): void {
  const all = run.stored.payouts().filter(({ state }) => state !== 'paid' && state !== 'cancelled')
  if (all.length > 0)
    void send(run, random.pick(['shop', 'boss']), '/cancel', { ids: [random.pick(all).id], why: 'simulation' })
}

/** Has a signer's transaction handed in again, with the id of its payout. */
export function handInAgain(run: SimulatedRun, { random, signed }: PayoutWorld): void {
  const all = run.stored.payouts().flatMap((payout) => {
    const key = keyOf(payout)
    return [...signed.values()].flatMap((one) =>
      one.key === key ? [{ id: payout.id, transaction: one.transaction }] : [],
    )
  })
  if (all.length > 0) void send(run, 'signer', '/signed', { signed: [random.pick(all)] })
}

/** Cancels one of these payouts, as a person who believes what the service shows of it. */
export function cancelOne(run: SimulatedRun, { id }: StoredPayout): void {
  void send(run, 'boss', '/cancel', { ids: [id], why: 'simulation', moved: true })
}

/** Approves a payout, as a person who believes what the service shows of it. */
export function approveOne(run: SimulatedRun, { id }: StoredPayout): void {
  void send(run, 'boss', '/approve', { ids: [id], moved: true })
}

/** Asks for a payout of any wallet that has something. */
export const askForOne = askNew

/**
 * Approves all waiting payouts, and approves or cancels each stuck one. If a transaction that the
 * database lacks has paid a payout, the payout is approved with `moved: true`, as
 * `docs/guides/payouts.md` says, and the signer hands in the bytes.
 */
export function decideAll(run: SimulatedRun, world: PayoutWorld): void {
  const { random, unmined } = world
  for (const payout of run.stored.payouts()) {
    const { id, state, attempts } = payout
    if (state !== 'waiting' && state !== 'stuck') continue
    const isPaid = isPaidUnseen(run, world, payout)
    const paid = isPaid ? { moved: true } : {}
    if (state === 'waiting') void send(run, 'boss', '/approve', { ids: [id], ...paid })
    if (state !== 'stuck') continue
    const isApproved = (!unmined.has(keyOf(payout)) && random.chance(0.5)) || isPaid
    void send(run, 'boss', isApproved ? '/approve' : '/cancel', {
      ids: [id],
      ...(isApproved ? { attempts, ...paid } : { why: 'simulation' }),
    })
  }
}

/** Whether a transaction that the payout does not name has paid it. */
function isPaidUnseen({ env }: SimulatedRun, { signed }: PayoutWorld, payout: StoredPayout): boolean {
  return [...signed].some(
    ([txid, { key }]) => key === keyOf(payout) && txid !== payout.txid && minedAs(env, txid)?.succeeded === true,
  )
}
