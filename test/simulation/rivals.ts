import { checkTransaction } from './callers/check-transaction.ts'
import { recharge } from './callers/recharge.ts'
import { startDecision } from './decisions.ts'
import { startOrderCall } from './orders.ts'
import { handInAgain, startPayoutCall } from './payout-calls.ts'
import { drawTxid, drawUid } from './requests.ts'
import type { SimulatedRun } from './simulated-run.ts'

/**
 * Lets something act between two trips of an invocation to the database, at the rate of the
 * scenario: a tick of another instance, a decision about a deposit or a payout, a signer that hands
 * in, or a question. What it does has mostly ended before the invocation goes on.
 */
export function startRivals(run: SimulatedRun): void {
  const { env } = run
  const { hard, scheduler, scenario, payouts: world, orders } = env
  if (scenario.hardships.rivals === 0) return
  const tickBeside = () => {
    env.supersedesScanner = true
    void run.cron()
  }
  const ask = () => {
    const uid = drawUid(env)
    const txid = drawTxid(env, uid)
    void run.request('transaction', (client) => checkTransaction(client, uid, txid))
  }
  const always = [tickBeside, tickBeside, ...(world === null ? [] : [() => handInAgain(run, world)])]
  const acts = [
    ...always,
    ask,
    () => void run.request('recharge', (client) => recharge(client, drawUid(env))),
    ...(scenario.reviews ? [() => startDecision(run)] : []),
    ...(world === null ? [] : [() => startPayoutCall(run, world)]),
    ...(orders === null ? [] : [() => startOrderCall(run, orders)]),
  ]
  env.rival = async () => {
    // Payouts go on when nothing else fails any more: until they have ended, ticks and signers have
    // rivals.
    const isOver = env.phase !== 'faults' && (world === null || world.isOver)
    if (isOver) return
    hard.pick(env.phase === 'faults' ? acts : always)()
    await scheduler.wait(hard.int(100, 5_000))
  }
}
