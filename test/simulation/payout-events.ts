import { confirmFeeSql } from '../../src/commands/operate/fee.ts'
import { payoutAddress } from '../support/payouts.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { actOf } from './aside-payments.ts'
import { tryDecimals } from './operator.ts'
import { askAgain, askTogether, startPayoutCall } from './payout-calls.ts'
import { drawAsking, keyOf, type PayoutWorld } from './payouts.ts'
import { currencies, fineToken } from './scenario.ts'
import { pass, type SimulatedRun } from './simulated-run.ts'
import type { StoredPayout } from './stored.ts'

// Events of payouts that do not come from the usual calls of backends. `further` in the scenario decides which of them a run has.

/** Starts the events that the scenario's `further` asks for. They go on until the part of the run with payouts is over. */
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
}

/** `cuy` of the token whose decimals an operator tries to correct. */
const fineCuy = 3

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

/** Between the signing and the sending of a payout, the issuer pauses the token or freezes the payout address. It ends that 20 to 500 s later. */
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

/** Lets a token take a fee from some block on. An operator confirms the fee, and does so again after a restore that has lost the confirmation. */
function takeFee(run: SimulatedRun, world: PayoutWorld): void {
  const { env, stored } = run
  const contract = world.further.pick([usdtAddress, fineToken])
  const raw = contract === usdtAddress ? 5_000_000n : 10n ** 18n
  const act = { contract, kind: 'fee-set', address: null, raw, basisPoints } as const
  const begin = () => {
    // The service need not read blocks from before the first address was shown, so it might never learn of a fee that was set in one.
    if (env.shown.size === 0) env.scheduler.after(env.blockMs, begin)
    else env.queued.push(actOf(act))
  }
  env.scheduler.after(feeAtBlock * env.blockMs, begin)
  const confirm = () => {
    if (world.isOver) return
    for (const { kind, txid, cuy, raw, isConfirmed } of stored.acts()) {
      if (kind !== 'fee-set' || isConfirmed === 1) continue
      run.repair((sqlite) => {
        if (sqlite.prepare(confirmFeeSql(txid, 'simulation')).all().length === 0) return // this fee is no longer the token's newest one
        const fee = `${currencies.find((one) => one.cuy === cuy)?.contract} ${raw}`
        if (!world.feesConfirmed.has(fee)) world.feesConfirmed.set(fee, env.scheduler.now())
        env.count('operator: fee confirmed')
      })
    }
    env.scheduler.after(world.further.int(10, 60) * 1_000, confirm)
  }
  confirm()
}

/** Lets backends go on while the chain is known to be forked. None of their calls may lead to a transaction. */
export async function callAmidFork(run: SimulatedRun, world: PayoutWorld): Promise<void> {
  for (let left = 20; left > 0; left -= 1) {
    startPayoutCall(run, world)
    await pass(run.env, 3_000)
  }
  askAgain(run, world)
}
