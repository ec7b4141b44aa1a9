import { readingAheadBlocks, runIntervalMs } from '../../src/reconciliation/judge-reading.ts'
import { auditReconciliation, findUnread } from './alarm-checks.ts'
import { readHealth } from './callers/health.ts'
import { recharge } from './callers/recharge.ts'
import { clockSkewMaxMs } from './invocation.ts'
import { hasEnoughCorrectNodes, longestAvoidanceMs } from './recovery.ts'
import { drawUid } from './requests.ts'
import { finish, pass, type SimulatedRun } from './simulated-run.ts'

/**
 * Lets the service compare all balances with the chain: those that moved, then all once with Byzantine nodes, and twice
 * without them, the last time a day later. The last comparison finds what the others, under way while balances changed, did not. Then the books and the
 * chain must agree.
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
  for (let round = 0; round < 40 && env.violation === null; round += 1) {
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

/**
 * Makes all nodes show another chain below the position of the scan: more than a quorum tolerates. The scan must halt and
 * credit nothing until the nodes show the chain that stays.
 */
export async function forkAndReturn(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, tick, request } = run
  const { random } = env
  const before = stored.scan()
  if (before === undefined) return
  for (let i = random.int(1, 5); i > 0; i -= 1) env.produce()
  env.isForked = true
  nodes.rewriteAll(before.height - random.int(0, 3))
  const deposits = stored.countDeposits()
  await finish(env, tick())
  await pass(env, 5_000) // longer than an isolate may answer from memory
  const uid = drawUid(env)
  for (const ending of [
    () => request('health', readHealth),
    () => request('recharge', (client) => recharge(client, uid)),
  ]) {
    if (stored.scan()?.halted === null) env.violate('the scan is not halted while the chain is forked')
    await finish(env, ending())
  }
  if (stored.countDeposits() > deposits || stored.scan()?.height !== before.height) {
    env.violate('the scan went on while the chain was forked')
  }
  nodes.rewriteAll(null)
  await pass(env, 60_000)
  await finish(env, tick())
  const after = stored.scan()
  if (after?.halted !== null || after.height !== env.finalized()) {
    env.violate('the scan did not go on after the chain was no longer forked')
  }
  env.isForked = false
  await finish(env, request('health', readHealth))
}
