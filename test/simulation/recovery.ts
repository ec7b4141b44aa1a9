import { checkTransaction } from './callers/check-transaction.ts'
import type { Client } from './callers/client.ts'
import { recharge } from './callers/recharge.ts'
import type { Environment } from './environment.ts'
import { isLacked, isUnreadGap } from './lacking.ts'
import { expectedDeposits } from './oracle.ts'
import { isUnrendered } from './refusals.ts'
import { drawUid, startRead } from './requests.ts'
import { freeAllowance, type Scenario } from './scenario.ts'
import { finish, pass, passUntil, type SimulatedRun } from './simulated-run.ts'

/**
 * Within this time after the faults, the service uses every node again and makes every pending
 * retry, however far apart retries have become.
 */
const longestAvoidanceMs = 4_000_000

/**
 * If a node allows fewer requests a day than this, ticks are rare, and no requests are left for
 * reading gaps and comparing balances.
 */
const enoughPerDay = 7_000

/** Whether the service must work with Byzantine nodes: the correct ones are a quorum. */
export function hasEnoughCorrectNodes({ nodes, quorum }: Scenario): boolean {
  return nodes.filter(({ byzantine }) => !byzantine).length >= quorum
}

/**
 * What the service still has to read or decide, in words; null if nothing. When all nodes answer,
 * only what waits for an operator may be left.
 */
export function findUndone({ env, stored }: SimulatedRun, behindMax = 1): string | null {
  const height = stored.scan()?.height
  if (height === undefined || height < env.finalized() - behindMax)
    return `the position is ${height} of ${env.finalized()}`
  const unreadable = (at: number) =>
    isLacked(env, at) ||
    isUnrendered(env, at) ||
    env.chain.at(at)?.transactions.some(({ txid }) => env.unreadable.has(txid)) === true
  // If no node can give one transaction of a block, the transfers of the block's other transactions
  // must still be decided.
  const isWaiting = (at: number) =>
    [...env.transfers.values()].some(
      (one) =>
        one.height === at &&
        one.promised &&
        !isLacked(env, at) &&
        !isUnrendered(env, at) &&
        !stored.isDecided(one.txid, one.position),
    )
  const unread = [...env.openGaps].filter((at) => !unreadable(at) || isWaiting(at))
  if (unread.length > 0) return `the gaps ${unread} are unread`
  const asked = stored.rescans().filter(({ kind }) => kind === 'request')
  const open = asked.find(({ from, to }) => !Array.from({ length: to - from + 1 }, (_, i) => from + i).some(unreadable))
  if (open !== undefined) return `${open.from} to ${open.to} are not read again`
  const waits = stored.waiting()
  return waits === undefined ? null : `${waits.txid}:${waits.position} is held: ${waits.reason}`
}

/**
 * Ends the faults, except those of Byzantine nodes in some runs. Lets time pass until the scan is
 * caught up and `findUndone` finds nothing.
 */
export async function recover(run: SimulatedRun): Promise<void> {
  const { env, nodes, deploy } = run
  const { scenario, random } = env
  env.trace(() => 'RECOVERY')
  env.phase = 'recovery'
  env.hangsNext = false
  env.fullUntil = 0
  env.awayUntil = 0
  if (env.allowance.perDay < enoughPerDay) {
    env.allowance = freeAllowance
    deploy()
  }
  const faultsGoOn = hasEnoughCorrectNodes(scenario) && random.chance(0.5)
  nodes.recover(faultsGoOn ? (random.chance(0.3) ? 'held-back head' : 'any') : null)
  const isCaughtUp = () => catchUp(env, () => findUndone(run) === null)
  const isWell = await isCaughtUp()
  const waits = env.unrenderedAt !== null
  env.unrenderedAt = null
  if (isWell && (!waits || (await isCaughtUp()))) return
  env.violate(`not caught up after the recovery: ${findUndone(run)}`)
}

/**
 * Lets time pass until `isCaughtUp` returns true. After ten minutes it makes blocks more rarely.
 * Returns false if the scan does not catch up.
 */
async function catchUp(env: Environment, isCaughtUp: () => boolean): Promise<boolean> {
  if (await passUntil(env, isCaughtUp, 600_000)) return true
  env.blockMs = 60_000
  const isDone = await passUntil(env, isCaughtUp, longestAvoidanceMs)
  env.blockMs = 3_000
  return isDone
}

/**
 * Waits until `isThere` returns true: at most `ms` if the scenario is timed, otherwise as long as a
 * recovery may take. Returns whether it did.
 */
export function comes(env: Environment, isThere: () => boolean, ms: number): Promise<boolean> {
  return env.scenario.timed ? passUntil(env, isThere, ms) : catchUp(env, isThere)
}

/** For at most this many transfers of TRX by contracts, the owner asks about the transaction. */
const sentQuestionsMax = 6

/**
 * Makes all nodes healthy. Then every promised transfer must be stored. A transfer that was not
 * promised is stored when its owner asks about it.
 */
export async function settle(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, request, forgetNodes } = run
  const { random } = env
  nodes.recover(null)
  forgetNodes()
  await pass(env, 60_000)
  env.phase = 'healthy'
  env.supersedesScanner = false // the last rival's tick may have met no instance that was working
  const expected = [...expectedDeposits(env).values()]
  const ask = async (kind: string, act: (client: Client) => Promise<void>) => {
    await pass(env, 3_100) // the rate limit allows a caller 20 such requests in a minute
    await finish(env, request(kind, act))
  }
  for (const { transfer, expected: deposit } of expected) {
    const { txid, position, height } = transfer
    if (stored.isDecided(txid, position) || height > (stored.scan()?.height ?? 0) || isUnreadGap(env, height)) continue
    if (transfer.promised) return env.violate(`${txid}:${position} of ${deposit.uid} was never decided`)
    await ask('transaction', (client) => checkTransaction(client, deposit.uid, txid))
  }
  for (const transfer of [...env.sent.values()].slice(0, sentQuestionsMax)) {
    const uid = env.owners.get(transfer.to)
    if (uid !== undefined && transfer.height <= env.finalized()) {
      await ask('transaction', (client) => checkTransaction(client, uid, transfer.txid))
    }
  }
  for (let i = 0; i < 4; i += 1) {
    // The user who asks about a deposit or a worthless transaction is its owner or another user.
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
