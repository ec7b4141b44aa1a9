import type { Txid } from '../../src/worker/chain/block.ts'
import { payoutAddress } from '../support/payouts.ts'
import type { Environment } from './environment.ts'
import { forkAndReturn } from './final-phases.ts'
import { isStoppedByIssuer } from './issuer-audit.ts'
import { makeCopy, removeCopy, restore } from './operator.ts'
import { askAgain, decideAll } from './payout-calls.ts'
import { callAmidFork, endOtherwise } from './payout-events.ts'
import { isAllAsked, isLacking, keyOf, minedAs, type PayoutWorld } from './payouts.ts'
import { pass, passUntil, type SimulatedRun } from './simulated-run.ts'
import type { Stored, StoredPayout } from './stored.ts'

const minuteMs = 60_000
/**
 * How long payouts cannot go on after a restore, or with a new journal. It is an hour of final
 * blocks, and some time until they are final.
 */
const restMs = 85 * minuteMs
/**
 * Time in which the transaction of an open payout expires, and another one is signed and becomes
 * final.
 */
const roundMs = 12 * minuteMs
const rounds = 6

/**
 * A transaction that was sent at most `rarelySent` times is sent again after a minute, by the next
 * tick, so within `sentMs`. Others may wait for longer.
 */
const [rarelySent, sentMs] = [4, 150_000]

/** Checks that signed transactions are sent again and again, whatever nodes have answered. */
function checkSending(env: Environment, world: PayoutWorld, stored: Stored): void {
  if (!env.scenario.timed || env.restores > 0) return // nothing is sent in the hour after a restore
  const now = env.scheduler.now()
  for (const { txid, state, changedAt, cuy } of stored.payouts()) {
    const { expiration = 0 } = world.signed.get(txid as Txid) ?? {}
    if (state !== 'signed' || Math.max(changedAt, world.known.endedAt(cuy)) > now - sentMs) continue
    if (expiration < now + minuteMs || world.known.find(cuy) !== null || stored.sendsOf(txid ?? '') > rarelySent)
      continue
    const isSent = world.pool.has(txid as Txid) || minedAs(env, txid ?? '') !== null
    if (!isSent) env.violate(`${txid} is stored, and is not sent again`)
  }
}

/**
 * Ends the troubles of payouts. Each payout must come to its end, or an alarm must say why it does
 * not.
 */
export async function settlePayouts(run: SimulatedRun): Promise<void> {
  const { env, stored } = run
  const { payouts: world } = env
  if (world === null) return
  env.trace(() => 'PAYOUTS')
  env.blockMs = 15_000
  const { forks, restoresLate } = env.scenario.further
  const isCopied = restoresLate && stored.scan() !== undefined && stored.countSettings() > 0
  if (isCopied) makeCopy(run)
  await pass(env, world.random.pick([0, 0, 4, 12]) * minuteMs)
  world.isCalm = true
  askAgain(run, world)
  await pass(env, sentMs)
  checkSending(env, world, stored)
  if (isCopied) {
    await pass(env, world.further.int(0, 8) * minuteMs)
    restore(run)
    removeCopy(run)
  }
  if (forks) {
    await forkAndReturn(run, () => callAmidFork(run, world))
    env.blockMs = 15_000
    askAgain(run, world)
  }
  if (env.scenario.hardships.reverses) {
    await endOtherwise(run, world)
    askAgain(run, world)
  }
  if (!env.paysOut) {
    env.paysOut = true
    run.deploy()
    askAgain(run, world)
  }
  if (env.restores > 0 || env.counts.has('signer: journal lost')) {
    await rest(run, world)
    askAgain(run, world)
  }
  // After a restore no payout is open until backends have asked again.
  const isSettled = () => isAllAsked(world) && world.pool.size === 0 && findOpen(stored).length === 0
  for (let i = 0; i < rounds; i += 1) {
    decideAll(run, world)
    await pass(env, 10_000) // time for the decisions to take effect
    if (await passUntil(env, isSettled, 3 * minuteMs, 5_000)) break
    await sleep(env, world, roundMs)
  }
  world.isOver = true
  env.blockMs = 3_000
  // Time in which a transaction that the service wrongly takes for dead would be mined, and in
  // which the last payment becomes final.
  await pass(env, env.scenario.finalityLag * 3_000 + 130_000)
  const fault = env.violation === null ? auditPayouts(run, world) : null
  if (fault !== null) env.violate(fault)
}

/**
 * Lets the hour after a restore pass. The hour begins when the service notices that the database is
 * a copy. If only a tick can notice it, the hour begins after the first sleep, which has no ticks.
 * In this case a second sleep follows.
 */
async function rest({ env, stored }: SimulatedRun, world: PayoutWorld): Promise<void> {
  await sleep(env, world, restMs)
  const awakeAt = env.scheduler.now() - minuteMs // clocks differ
  await pass(env, 2 * env.scenario.scanEverySeconds * 1_000)
  if ((stored.scan()?.restoredAt ?? 0) > awakeAt) await sleep(env, world, restMs)
}

/**
 * Lets time pass in which the service does nothing and signers do little. Blocks come, as many as a
 * signer needs.
 */
async function sleep(env: Environment, world: PayoutWorld, ms: number): Promise<void> {
  env.sleepsUntil = env.scheduler.now() + ms
  world.sleepFactor = 90
  await pass(env, ms)
  world.sleepFactor = 6
}

const findOpen = (stored: Stored) =>
  stored.payouts().filter(({ state }) => state === 'waiting' || state === 'approved' || state === 'signed')

/**
 * The fault of payouts at the end, or null. As much must have left the payout address as was taken
 * from wallets.
 */
function auditPayouts({ env, stored }: SimulatedRun, world: PayoutWorld): string | null {
  const alarms = stored.alarms()
  const has = (kind: string) => alarms.some((one) => one.kind === kind)
  const payouts = stored.payouts()
  const byKey = new Map(payouts.map((payout) => [keyOf(payout), payout]))
  const isUnknown = has('payout-unknown')
  // With a lost journal nobody has the bytes of an unknown transaction, or its payout cannot be
  // asked for again.
  const isForgotten = env.counts.has('signer: journal lost') && isUnknown
  // Payouts stay stopped while the database lacks a transaction. Nobody can hand it in if a second
  // signer has handed in a later one of its payout, if the user has spent the money otherwise, so
  // that the payout cannot be asked for again, or if its block is never read. No operator resumes
  // payouts in a run.
  const isInGap = env.restores > 0 && env.openGaps.size > 0
  const isStopped = isForgotten || (isUnknown && (isInGap || isLacking(env, world)))
  // While a block is not read, or not read again, nobody knows that it does not contain a payout's
  // transaction.
  const isUnread = (env.openGaps.size > 0 || stored.rescans().length > 0) && has('gap-unread')
  const isHidden = ({ state }: StoredPayout) =>
    isUnread && (state === 'signed' || (state === 'approved' && env.restores > 0))
  for (const [key, { isAccepted }] of world.asked) {
    if (isAccepted && !byKey.has(key)) return `the accepted payout ${key} is not stored`
  }
  for (const [txid, { key }] of world.signed) {
    const payout = byKey.get(key)
    const isPaid = minedAs(env, txid)?.succeeded === true
    if (isPaid && payout === undefined && !isUnknown) return `${txid} pays ${key}, which nobody knows`
    if (!isPaid || payout === undefined || payout.txid === txid) continue
    const isOpen = payout.state === 'approved' || payout.state === 'waiting'
    // Another signer's transaction was handed in. It is not sent, and it cannot end before all
    // blocks of its time are read.
    if (isHidden(payout)) continue
    if (!isForgotten || !isOpen) return `${txid} pays ${key}, which is ${payout.state} with ${payout.txid}`
  }
  for (const payout of payouts) {
    const { uid, cuy, osn, state, amount, fee, txid } = payout
    const name = `the payout ${keyOf(payout)} is ${state}`
    const paid = txid !== null && minedAs(env, txid)?.succeeded === true
    if (state === 'cancelled' && paid) return `${name}, and ${txid} has paid it`
    if (state === 'paid' && !paid) return `${name}, and nothing has paid it`
    const sums = [2, 4, 5].map((type) => stored.entryOf(uid, cuy, type, osn)?.amount ?? 0n)
    const due = [-amount, -fee, state === 'cancelled' ? amount + fee : 0n]
    if (sums.join() !== due.join()) return `${name}, and its entries are ${sums}`
    const isEnded = state === 'paid' || state === 'cancelled'
    const waits = state === 'approved' && isStoppedByIssuer(stored, cuy, payoutAddress)
    const isExplained =
      isEnded ||
      world.unmined.has(keyOf(payout)) ||
      isStopped ||
      isHidden(payout) ||
      waits ||
      (state === 'stuck' && has('payout-stuck'))
    if (!isExplained) return `${name} at the end, and no alarm says why`
  }
  return null
}
