import { addressOf } from '../support/transaction-spec.ts'
import { auditHoldings } from './alarm-checks.ts'
import { createBranch } from './branches.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { readHealth } from './callers/health.ts'
import { recharge } from './callers/recharge.ts'
import { endFork } from './environment.ts'
import { auditActs } from './issuer-audit.ts'
import { payTrx } from './payments.ts'
import { comes, findUndone, hasEnoughCorrectNodes } from './recovery.ts'
import { drawUid } from './requests.ts'
import { freeAllowance } from './scenario.ts'
import { finish, pass, passUntil, type SimulatedRun } from './simulated-run.ts'
import { tickMaxMs } from './storm.ts'

/**
 * A payment must be seen no later than the time between two scans and these milliseconds after its
 * block.
 */
const seenAfterMs = 3_000
// The service credits within six seconds if the allowance has room for a tick. The allowance of a
// free key has room for one tick in 10 s.
const creditedAfterMs = 16_000
const slackMs = 3_000

/**
 * A payment is seen with the next scan, and credited seconds after its block is final, however rare
 * scans are.
 */
export async function creditInTime(run: SimulatedRun): Promise<void> {
  const { env, stored } = run
  const [to] = env.shown.keys()
  if (to === undefined || env.isForked || env.retired.size > 0) return
  const place = env.queued.length // acts of issuers can be queued still
  env.queued.push(payTrx(addressOf(0x2001), to, 1_000n))
  await passUntil(env, () => env.queued.length === 0, env.blockMs * 2)
  const { height, transactions } = env.chain.tip()
  const txid = transactions[place]?.txid ?? ''
  const isSeen = () => stored.transfer(txid, 0) !== undefined
  if (!(await comes(env, isSeen, env.scenario.scanEverySeconds * 1_000 + seenAfterMs + slackMs))) {
    return env.violate(`${txid} was not seen in time`)
  }
  await passUntil(env, () => env.finalized() >= height, 100_000)
  const isDecided = () => stored.isDecided(txid, 0)
  if (!(await comes(env, isDecided, creditedAfterMs + slackMs))) env.violate(`${txid} was not credited in time`)
}

const dayMs = 86_400_000

/**
 * Lets the service compare balances with the chain. The balances that have moved must be compared
 * soon. Then Byzantine nodes show false balances for a while. At last all balances are compared,
 * until what is recorded and the chain agree.
 */
export async function compareRepeatedly(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored } = run
  if (env.owners.size === 0) return
  if (!(await passUntil(env, () => stored.unreadHolding() === undefined, 1_800_000))) {
    env.violate(`an address moved and was not compared: ${JSON.stringify(stored.unreadHolding())}`)
  }
  if (hasEnoughCorrectNodes(env.scenario)) {
    nodes.recover('false balances')
    await pass(env, 300_000)
  }
  nodes.recover(null)
  for (let day = 0; day < 3; day += 1) {
    if (await passUntil(env, () => auditHoldings(env, stored) === null, 1_800_000, 5_000)) break
    env.sleepsUntil = env.scheduler.now() + dayMs
    env.blockMs = 3_600_000
    await pass(env, dayMs)
    env.blockMs = 3_000
  }
  const fault = auditHoldings(env, stored)
  if (fault !== null && env.violation === null) env.violate(fault)
}

/** A block that was put aside this long ago is tried every quarter of an hour, or more rarely. */
const oftenTriedMs = 1_200_000

/**
 * Blocks that no node could give, however often they were asked for, must be read within a minute
 * once other nodes are configured.
 */
export async function replaceNodes(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, deploy } = run
  const isPossible = stored.scan() !== undefined && env.allowance === freeAllowance && env.scenario.ending === 'none'
  if (!isPossible || (env.hidden.size === 0 && env.lackedFrom === null)) return
  env.blockMs = 60_000
  await pass(env, oftenTriedMs)
  env.blockMs = 3_000
  const isNamed = stored.alarms().some(({ kind }) => kind === 'gap-unread')
  if (env.openGaps.size > 0 && !isNamed) return env.violate('blocks are unread for long, and no alarm says so')
  for (const [key, transfer] of env.hidden) env.transfers.set(key, transfer)
  env.unreadable.clear()
  env.lackedFrom = null
  for (const node of nodes.list) {
    const host = `https://other-node-${node.number}.test`
    Object.assign(node, { rpc: `${host}/jsonrpc`, api: host })
  }
  deploy()
  env.count('operator: nodes replaced')
  const soonMs = 60_000 + env.scenario.scanEverySeconds * 1_000 + tickMaxMs
  const behindMax = soonMs / env.blockMs // only blocks that were unread before matter here
  if (await comes(env, () => findUndone(run, behindMax) === null, soonMs)) return
  env.violate(`not read soon after the nodes were replaced: ${findUndone(run, behindMax)}`)
}

/** What alarms say that end as soon as the nodes and the scan are well again. */
const endingAlarms = new Set([
  ...['node-failing', 'node-behind', 'scan-stalled', 'scan-behind', 'finality-stalled'],
  ...['archive-behind', 'chain-forked'],
])

/** Every node is well, and so is the scan: what alarms said of them must end. */
export async function endAlarms({ env, stored }: SimulatedRun): Promise<void> {
  const raised = () => stored.alarms().filter(({ kind }) => endingAlarms.has(kind))
  if (stored.scan() === undefined || (await passUntil(env, () => raised().length === 0, alarmsEndMs, 5_000))) return
  const [{ kind = '', subject = '' } = {}] = raised()
  env.violate(`all is well, and the alarm ${kind} ${subject} has not ended`)
}

/** The longest time after which an alarm ends whose cause is over. */
const alarmsEndMs = 1_800_000

/**
 * The acts of issuers must be stored, and those that still hold must have an alarm, soon after all
 * blocks were read.
 */
export async function watchIssuers({ env, stored }: SimulatedRun): Promise<void> {
  if (await passUntil(env, () => auditActs(env, stored) === null, 180_000)) return
  env.violate(auditActs(env, stored) ?? 'what issuers did was stored late')
}

/** Longest wait of an endpoint that was failing for some minutes for its next try. */
export const longestRetryMs = 4_400_000

/** Lets every endpoint get every event, now that all of them are well. */
export async function deliverAll({ env, stored, endpoints }: SimulatedRun): Promise<void> {
  env.blockMs = 30_000
  await passUntil(env, () => stored.countEndpoints() === 0 || stored.countUndelivered() === 0, longestRetryMs)
  const fault = endpoints.audit(stored.newestEvent())
  if (fault !== null) env.violate(fault)
}

/**
 * Transfers that were dropped a day ago must be removed, however many: nobody can fill the database
 * with transfers that never were.
 */
export async function forgetDropped({ env, stored }: SimulatedRun): Promise<void> {
  const before = env.scheduler.now()
  // Not if an operator lowered the finalized height: within a day the service would find that
  // credited deposits are not on the chain.
  const isPossible = env.scenario.trial !== null && env.creditedElsewhere.size === 0
  if (!isPossible || stored.countDroppedBefore(before) === 0) return
  env.sleepsUntil = before + dayMs
  env.blockMs = 3_600_000
  await pass(env, dayMs)
  env.blockMs = 3_000
  if (await passUntil(env, () => stored.countDroppedBefore(before) === 0, 1_800_000, 5_000)) return
  env.violate(`${stored.countDroppedBefore(before)} transfers were dropped a day ago and are stored still`)
}

/**
 * Makes all nodes show another chain below the position of the scan, against which no quorum
 * protects. The scan must halt, and nothing may be credited by any path until the nodes show the
 * canonical chain. `meanwhile` runs while the scan is halted.
 */
export async function forkAndReturn(
  run: SimulatedRun,
  meanwhile: () => Promise<void> = () => pass(run.env, 60_000),
): Promise<void> {
  const { env, nodes, stored, request } = run
  const { random } = env
  const triedAt = stored.scan()?.triedAt
  const [to, owner] = [...env.shown][0] ?? []
  if (to === undefined || owner === undefined) return
  // The chain must change between two scans. A block that changes during a scan is put aside, and
  // then the next block has no parent to compare it with.
  const isBetween = () => stored.scan()?.triedAt !== triedAt && stored.scan()?.hash != null
  await passUntil(env, isBetween, 300_000, 100)
  const before = stored.scan()
  if (before === undefined || !isBetween()) return env.violate('no scan has ended with a block that was read')
  env.queued.push(payTrx(addressOf(0x2002), to, 2_000n))
  env.isForked = true
  nodes.rewriteAll(createBranch(env, before.height - random.int(0, 3)))
  const isHalted = () => stored.scan()?.halted != null
  if (!(await passUntil(env, isHalted, 300_000))) return env.violate('the scan is not halted while the chain is forked')
  // A request about a transaction that began before the fork can have led to a credit until now.
  const [credited, position] = [stored.countCredited(), stored.scan()?.height]
  const txid = env.chain.tip().transactions[0]?.txid
  await meanwhile()
  for (const ending of [
    () => request('health', readHealth),
    () => request('recharge', (client) => recharge(client, owner)),
    () => request('transaction', (client) => checkTransaction(client, owner, txid ?? ('00'.repeat(32) as never))),
    () => request('recharge', (client) => recharge(client, drawUid(env))),
  ]) {
    if (!isHalted()) env.violate('the scan is not halted while the chain is forked')
    await finish(env, ending())
  }
  if (stored.countCredited() > credited || stored.scan()?.height !== position) {
    env.violate('the scan went on while the chain was forked')
  }
  nodes.rewriteAll(null)
  const behindMax = Math.ceil(tickMaxMs / env.blockMs) // blocks that become final during a long tick
  // blocks that change while they are read become a gap, which is read later
  const isWell = () => !isHalted() && findUndone(run, behindMax) === null
  if (!(await comes(env, isWell, 300_000))) {
    return env.violate('the scan did not go on after the chain was no longer forked')
  }
  endFork(env)
  await finish(env, request('health', readHealth))
}

/** Longer than the service ever leaves a failing node alone. */
const outageMs = 900_000
/**
 * No node answers for a quarter of an hour. Soon after that the scan must read, whatever it
 * remembers of the nodes.
 */
export async function endOutage(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored } = run
  if (stored.scan() === undefined) return
  nodes.setAway(true)
  await pass(env, outageMs)
  nodes.setAway(false)
  const final = env.finalized()
  const soonMs = (env.scenario.scanEverySeconds + 30) * 1_000
  if (await comes(env, () => (stored.scan()?.height ?? 0) >= final, soonMs)) return
  env.violate(`the position is ${stored.scan()?.height} after an outage, and ${final} was final`)
}
