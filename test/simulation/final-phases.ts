import type { Txid } from '../../src/chain/block.ts'
import { readingAheadBlocks, runIntervalMs } from '../../src/reconciliation/judge-reading.ts'
import { addressOf } from '../support/transaction-spec.ts'
import { auditReconciliation, findUnread } from './alarm-checks.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { readHealth } from './callers/health.ts'
import { recharge } from './callers/recharge.ts'
import { clockSkewMaxMs } from './invocation.ts'
import { payTrx } from './payments.ts'
import { hasEnoughCorrectNodes, longestAvoidanceMs } from './recovery.ts'
import { drawUid } from './requests.ts'
import { finish, pass, type SimulatedRun } from './simulated-run.ts'

/**
 * Lets the service compare all balances with the chain: those that moved, then all once with Byzantine nodes, and twice
 * without them, the last time a day later. The last comparison finds what the others, under way while balances changed, did not. Then the records and
 * the chain must agree.
 */
export async function reconcileRepeatedly(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored } = run
  if (env.owners.size === 0) return
  await compareMoved(run)
  await pass(env, runIntervalMs)
  if (hasEnoughCorrectNodes(env.scenario)) nodes.recover('false balances')
  await compareSome(run)
  nodes.recover(null)
  for (const waitMs of [longestAvoidanceMs, runIntervalMs]) {
    await pass(env, waitMs)
    await compareAll(run, waitMs === runIntervalMs ? env.scheduler.now() - clockSkewMaxMs : 0)
  }
  const fault = auditReconciliation(env, stored)
  if (fault !== null && env.violation === null) env.violate(fault)
}

/** Longest wait of an endpoint that was failing for its next try. */
const longestRetryMs = 4_400_000

/** Lets every endpoint get every event, now that all of them are well. */
export async function deliverAll({ env, stored, endpoints, tick }: SimulatedRun): Promise<void> {
  await pass(env, longestRetryMs)
  for (let round = 0; round < 200 && env.violation === null; round += 1) {
    await finish(env, tick())
    if (stored.countUndelivered() === 0) break
    await pass(env, 60_000)
  }
  const fault = endpoints.audit(stored.newestEvent())
  if (fault !== null) env.violate(fault)
}

/** Runs ticks until each address that moved was compared: within minutes, not after the day until the next run. */
async function compareMoved(run: SimulatedRun): Promise<void> {
  const { env, stored } = run
  for (let round = 0; round < 10; round += 1) {
    await compareSome(run)
    if (env.violation !== null || findUnread(env, stored) === null) return
  }
  env.violate(`an address moved and was not compared: ${JSON.stringify(findUnread(env, stored))}`)
}

/** Runs ticks until each currency was compared after `since`, and nothing is left to examine. */
async function compareAll(run: SimulatedRun, since: number): Promise<void> {
  for (let round = 0; round < 40; round += 1) {
    await compareSome(run)
    if (run.env.violation !== null || run.stored.reconciliation.isReconciled(since)) return
  }
  run.env.violate('the comparison with the chain does not end')
}

/** Makes so many blocks that the balances of the ticks before can be judged, and runs ticks. */
async function compareSome({ env, tick }: SimulatedRun): Promise<void> {
  for (let i = readingAheadBlocks + 2; i > 0; i -= 1) env.produce()
  for (let ticks = 0; ticks < 3; ticks += 1) {
    await pass(env, 50_000)
    await finish(env, tick())
  }
}

/** Payments of TRX that are final and stored, and that wait for their bytes: no API gives them for one tick. */
async function leaveWaiting({ env, nodes, tick }: SimulatedRun): Promise<Txid | null> {
  const { random, shown, scenario } = env
  const [to] = shown.keys()
  if (to === undefined) return null
  const payments = Array.from({ length: random.int(1, 3) }, (_, i) => payTrx(addressOf(2), to, BigInt(1_000 + i)))
  env.produce(payments)
  const txid = env.chain.tip().transactions[0]?.txid ?? null
  // Below the fork: its nodes show the same evidence.
  for (let i = scenario.finalityLag + 5; i > 0; i -= 1) env.produce()
  for (const node of nodes.list) node.lacksBytes = true
  await pass(env, 60_000)
  await finish(env, tick())
  for (const node of nodes.list) node.lacksBytes = false
  return txid
}

/**
 * Makes all nodes show another chain below the position of the scan: more than a quorum tolerates. The scan must halt, and
 * nothing is credited by any path until the nodes show the chain that stays. What waited is credited by the first tick then.
 */
export async function forkAndReturn(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, tick, request } = run
  const { random } = env
  if (stored.scan() === undefined) return
  const waiting = await leaveWaiting(run)
  const before = stored.scan()
  if (before === undefined) return
  const decided = stored.countPendingBut(env.scenario.decimalsDiffer ? 3 : 0)
  if (decided > 0) env.count('deposits that wait while halted')
  for (let i = random.int(1, 5); i > 0; i -= 1) env.produce()
  env.isForked = true
  nodes.rewriteAll(before.height - random.int(0, 3))
  const deposits = stored.countDeposits()
  await pass(env, 60_000) // what waits is due
  await finish(env, tick())
  await pass(env, 5_000) // longer than an isolate may use an answer again
  const uid = drawUid(env)
  const owner = [...env.shown.values()][0] ?? uid
  for (const ending of [
    () => request('health', readHealth),
    () => request('recharge', (client) => recharge(client, uid)),
    () => (waiting === null ? tick() : request('transaction', (client) => checkTransaction(client, owner, waiting))),
    () => tick(),
    () => request('recharge', (client) => recharge(client, owner)),
  ]) {
    if (stored.scan()?.halted === null) env.violate('the scan is not halted while the chain is forked')
    await finish(env, ending())
  }
  if (stored.countDeposits() > deposits || stored.scan()?.height !== before.height) {
    env.violate('the scan went on while the chain was forked')
  }
  nodes.rewriteAll(null)
  await pass(env, 20_000)
  await finish(env, tick())
  const after = stored.scan()
  const left = stored.countPendingBut(env.scenario.decimalsDiffer ? 3 : 0)
  if (left > 0) env.violate(`${left} deposits wait after the chain was no longer forked`)
  if (after?.halted !== null || after.height !== env.finalized()) {
    env.violate('the scan did not go on after the chain was no longer forked')
  }
  env.isForked = false
  await finish(env, request('health', readHealth))
}

/** Minutes of an outage: long enough for the longest rest of a node. */
const outageMinutes = 15

/** No node answers for a quarter of an hour. The first tick after that must read, whatever the isolates remember of the nodes. */
export async function endOutage({ env, nodes, stored, tick }: SimulatedRun): Promise<void> {
  if (stored.scan() === undefined) return
  nodes.setAway(true)
  for (let minute = 0; minute < outageMinutes; minute += 1) {
    await pass(env, 60_000)
    await finish(env, tick())
  }
  nodes.setAway(false)
  env.produce()
  await finish(env, tick())
  const height = stored.scan()?.height ?? 0
  if (height < env.finalized())
    env.violate(`the position is ${height} after an outage, and ${env.finalized()} is final`)
}
