import { confirmFeeSql } from '../../src/commands/operate/fee.ts'
import { payoutAddress } from '../support/payouts.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { actOf } from './aside-payments.ts'
import { payInBlock, replaceFinal } from './correction.ts'
import { startDecision } from './decisions.ts'
import { tryDecimals } from './operator.ts'
import {
  approveOne,
  askAgain,
  askForOne,
  askTogether,
  cancelOne,
  decideAll,
  handInAgain,
  startPayoutCall,
} from './payout-calls.ts'
import { checkReached } from './payout-checks.ts'
import { drawAsking, keyOf, type PayoutWorld } from './payouts.ts'
import { currencies, fineCuy, fineToken } from './scenario.ts'
import { pass, passUntil, type SimulatedRun } from './simulated-run.ts'
import type { StoredPayout } from './stored.ts'

// Events of payouts that do not come from the usual calls of backends. `further` in the scenario
// decides which of them a run has.

/**
 * Starts the events that the scenario's `further` asks for. They go on until the part of the run
 * with payouts is over.
 */
export function startFurther(run: SimulatedRun, world: PayoutWorld): void {
  const { env } = run
  const { crowd, fee } = env.scenario.further
  world.onSigned = (payout) => stopBeforeSending(run, world, payout)
  if (crowd > 0) env.scheduler.after(crowdAtBlock * env.blockMs, () => void askMany(run, world, crowd))
  if (fee) takeFee(run, world)
  const correct = () => {
    if (world.isOver) return
    tryDecimals(run, fineCuy)
    env.scheduler.after(world.further.int(20, 200) * 1_000, correct)
  }
  correct()
  const look = () => {
    if (world.isOver) return
    checkReached(env, run.stored, world)
    env.scheduler.after(1_000, look)
  }
  if (env.scenario.timed) look()
}

const crowdAtBlock = 12
/** Most payouts that `askMany` asks for in one request. */
const togetherMax = 20

/** Asks for hundreds of payouts within a minute or two, as soon as wallets have anything. */
async function askMany(run: SimulatedRun, world: PayoutWorld, count: number): Promise<void> {
  const { env, stored } = run
  for (let left = count; left > 0 && !world.isOver && env.violation === null; ) {
    await env.scheduler.wait(3_000)
    const full = stored.wallets().filter(({ balance }) => balance > 200n)
    if (full.length === 0) continue
    const { uid, cuy } = world.further.pick(full)
    const together = Math.min(left, togetherMax)
    const asked = Array.from({ length: together }, () => {
      const asking = { ...drawAsking(world, uid, cuy, 3n), fee: 0n }
      world.asked.set(keyOf(asking), asking)
      return asking
    })
    env.count('payouts asked for together')
    void askTogether(run, asked)
    left -= together
  }
}

/**
 * Between the signing and the sending of a payout, the issuer pauses the token or freezes the
 * payout address. It ends that 20 to 500 s later.
 */
function stopBeforeSending({ env }: SimulatedRun, { further }: PayoutWorld, { cuy }: StoredPayout): void {
  const contract = currencies.find((one) => one.cuy === cuy)?.contract ?? null
  if (contract === null || !further.chance(env.scenario.further.acts)) return
  const isFrozen = further.chance(0.5)
  const act = { contract, address: isFrozen ? payoutAddress : null, raw: null }
  env.count('issuer stops a signed payout')
  env.queued.push(actOf({ ...act, kind: isFrozen ? 'frozen' : 'paused' }))
  env.scheduler.after(further.int(20, 500) * 1_000, () => {
    env.queued.push(actOf({ ...act, kind: isFrozen ? 'released' : 'unpaused' }))
  })
}

/** The fee that a token takes: this many hundredths of a percent of the amount, up to a maximum. */
const basisPoints = 100n
const feeAtBlock = 6

/** The operator confirms the fees that tokens take now. */
export function confirmFees({ env, stored, repair }: SimulatedRun, world: PayoutWorld): void {
  for (const { kind, txid, isConfirmed } of stored.acts()) {
    if (kind !== 'fee-set' || isConfirmed === 1) continue
    repair((sqlite) => {
      // nothing, if this fee is no longer the token's newest one
      const confirmed = sqlite.prepare(confirmFeeSql(txid, 'simulation')).all()
      for (const { cuy, raw } of confirmed) {
        const fee = `${currencies.find((one) => one.cuy === cuy)?.contract} ${raw}`
        if (!world.feesConfirmed.has(fee)) world.feesConfirmed.set(fee, env.scheduler.now())
        env.count('operator: fee confirmed')
      }
    })
  }
}

/**
 * Lets a token take a fee from some block on. An operator confirms the fee, and does so again after
 * a restore that has lost the confirmation.
 */
function takeFee(run: SimulatedRun, world: PayoutWorld): void {
  const { env } = run
  const contract = world.further.pick([usdtAddress, fineToken])
  const raw = contract === usdtAddress ? 5_000_000n : 10n ** 18n
  const act = { contract, kind: 'fee-set', address: null, raw, basisPoints } as const
  const begin = () => {
    // The service need not read blocks from before the first address was shown, so it might never
    // learn of a fee that was set in one.
    if (env.shown.size === 0) env.scheduler.after(env.blockMs, begin)
    else env.queued.push(actOf(act))
  }
  env.scheduler.after(feeAtBlock * env.blockMs, begin)
  const confirm = () => {
    if (world.isOver) return
    confirmFees(run, world)
    env.scheduler.after(world.further.int(10, 60) * 1_000, confirm)
  }
  confirm()
}

/**
 * How long blocks are shown at most until a transaction has ended in one of them. It takes the
 * expiration of a transaction, and finality.
 */
const shownMsMax = 2_400_000

/**
 * All nodes show, as final, blocks in which transactions of payouts end otherwise than in the
 * chain: they pay, fail or expire. Then they show the chain. Nobody acts on the wrong end before
 * the service knows that it is wrong, but from then on everybody does, until an operator corrects
 * the height.
 */
export async function endOtherwise(run: SimulatedRun, world: PayoutWorld): Promise<void> {
  const { env, stored } = run
  world.isHeld = true // so that transactions wait for a block when the wrong blocks begin
  for (let left = 6; left > 0; left -= 1) askForOne(run, world)
  await pass(env, 10_000)
  decideAll(run, world)
  await passUntil(env, () => stored.payouts().filter(({ state }) => state === 'signed').length >= 3, 120_000, 1_000)
  const open = new Map(stored.payouts().flatMap((one) => (one.state === 'signed' ? [[one.id, one]] : [])))
  const ended = () => stored.payouts().filter((one) => open.has(one.id) && one.state !== 'signed')
  const wanted = env.hard.pick([
    () => ended().length > 0,
    () => ended().length === open.size,
    () => ended().some(({ state, reason }) => state === 'approved' || reason === 'expired'),
  ])
  world.isPaused = true
  world.isHeld = false
  await replaceFinal(run, {
    async show() {
      const until = env.scheduler.now() + shownMsMax
      while (env.violation === null && !wanted() && env.scheduler.now() < until) await payInBlock(run)
      for (const { state, reason } of ended()) env.count(`payout ended otherwise: ${state} ${reason ?? ''}`)
    },
    async beforeCorrection() {
      world.isPaused = false
      for (const one of ended()) {
        for (const act of [cancelOne, approveOne]) if (env.hard.chance(0.7)) act(run, one)
      }
      for (let left = 10; left > 0; left -= 1) {
        env.hard.pick([startPayoutCall, handInAgain])(run, world)
        if (env.scenario.reviews) startDecision(run)
        await pass(env, 3_000)
      }
    },
  })
  world.isPaused = false
}

/**
 * Lets backends go on while the chain is known to be forked. None of their calls may lead to a
 * transaction.
 */
export async function callAmidFork(run: SimulatedRun, world: PayoutWorld): Promise<void> {
  for (let left = 20; left > 0; left -= 1) {
    startPayoutCall(run, world)
    await pass(run.env, 3_000)
  }
  askAgain(run, world)
}
