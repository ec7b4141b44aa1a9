import { headSpreadMax } from '../../src/tron/limits.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import type { Client } from './callers/client.ts'
import { recharge } from './callers/recharge.ts'
import { expectedDeposits } from './oracle.ts'
import { drawUid, startRead } from './requests.ts'
import type { Scenario } from './scenario.ts'
import { finish, pass, type SimulatedRun } from './simulated-run.ts'

const minuteMs = 60_000
/** After this time no isolate avoids a node any more. */
export const longestAvoidanceMs = 4_000_000

/** Whether the service must work with Byzantine nodes: the correct ones are a quorum, and one of them has an API. */
export function hasEnoughCorrectNodes({ nodes, quorum }: Scenario): boolean {
  const correct = nodes.filter(({ byzantine }) => !byzantine)
  return correct.length >= quorum && correct.some(({ hasApi }) => hasApi)
}

/** Ends the faults, and runs ticks until the scan is caught up and no deposit is pending. */
export async function recover({ env, nodes, stored, tick }: SimulatedRun): Promise<void> {
  const { scenario, random } = env
  env.trace(() => 'RECOVERY')
  env.phase = 'recovery'
  const faultsGoOn = hasEnoughCorrectNodes(scenario) && random.chance(0.5)
  nodes.recover(faultsGoOn ? (random.chance(0.3) ? 'held-back head' : 'any') : null)
  // A Byzantine node can hold the head back by as many blocks as heads may differ.
  for (let i = scenario.finalityLag + (faultsGoOn ? headSpreadMax : 0); i >= 0; i -= 1) env.produce()
  const misconfigured = scenario.decimalsDiffer ? 3 : 0 // pending until the operator corrects its decimals
  const state = () => {
    return {
      height: stored.scan()?.height,
      pending: stored.countPendingBut(misconfigured),
      unread: stored.rescans().length,
    }
  }
  for (let round = 1; round <= 60; round += 1) {
    env.produce() // the chain grows, so that a head which is held back differs more and more
    await pass(env, round === 10 ? longestAvoidanceMs : minuteMs)
    await finish(env, tick())
    if (env.violation !== null) return
    const { height, pending, unread } = state()
    if (height === env.finalized() && pending === 0 && unread === 0) return
  }
  env.violate(`not caught up after the recovery: ${JSON.stringify(state())}, final is ${env.finalized()}`)
}

/** Makes everything healthy. What was promised must be stored then, and what callers ask for is stored by their request. */
export async function settle(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, request } = run
  const { random } = env
  nodes.recover(null)
  await pass(env, longestAvoidanceMs)
  env.phase = 'healthy'
  const expected = [...expectedDeposits(env).values()]
  // All callers together have so many requests to nodes in a minute: each question waits for the next one.
  const ask = async (kind: string, act: (client: Client) => Promise<void>) => {
    await pass(env, minuteMs)
    await finish(env, request(kind, act))
  }
  for (const { transfer, expected: deposit } of expected) {
    const { txid, position, to } = transfer
    if (stored.isKnown(txid, position, to)) continue
    if (transfer.promised) return env.violate(`${txid}:${position} of ${deposit.uid} was never credited`)
    await ask('transaction', (client) => checkTransaction(client, deposit.uid, txid))
  }
  for (let i = 0; i < 4; i += 1) {
    // Deposits, their owners and others, and transactions that are worth nothing.
    const transactions = env.chain.at(env.finalized() - random.int(0, 30))?.transactions ?? []
    const txids = [...expected.map(({ transfer }) => transfer.txid), ...transactions.map(({ txid }) => txid)]
    if (txids.length === 0) break
    const txid = random.pick(txids)
    const owner = expected.find(({ transfer }) => transfer.txid === txid)?.expected.uid
    const uid = owner !== undefined && random.chance(0.6) ? owner : drawUid(env)
    await ask('transaction', (client) => checkTransaction(client, uid, txid))
  }
  const uid = drawUid(env)
  await ask('recharge', (client) => recharge(client, uid))
  for (const kind of [1, 3, 5, 7]) await finish(env, startRead(run, drawUid(env), kind))
}
