import { addressOf } from '../support/transaction-spec.ts'
import { tickLimitMs } from './database.ts'
import { isInHole, isUnreadGap } from './lacking.ts'
import { isLie, type TroubleName } from './node-troubles.ts'
import { beginTrouble, type SimulatedNode } from './nodes.ts'
import { expectedDeposit } from './oracle.ts'
import { payTrx } from './payments.ts'
import { freeAllowance, type Trial } from './scenario.ts'
import { pass, type SimulatedRun } from './simulated-run.ts'
import { createPositionCheck } from './storm.ts'

/** From which second of the trial until which one the platform or the clocks fail. */
const platformFrom = 60
const platformUntil = 120
/** Until which second the database is away. */
const awayUntil = 140
/** By how much all clocks are ahead for a while, before they step back. */
const clockStepMs = 600_000
/**
 * A node that lacks the newest final block can be taken for one without history: for a minute, and
 * until the next tick.
 */
const unfitMs = 80_000
/** For so many seconds a node shows a `far` tail: invented blocks far above the newest one. */
const farSeconds = 40

/**
 * One node does what it can to stop the service, or a clock or the database fails, while the other
 * nodes are well. Where the scenario is timed, the position must move, deposits must be credited
 * and reported in time, and the node must be named.
 */
export async function endureTrial(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored } = run
  const { trial } = env.scenario
  if (trial === null || env.shown.size === 0 || stored.scan() === undefined) return
  env.phase = 'storm'
  env.trial = trial
  env.named.clear()
  nodes.recover(null)
  const begunAt = env.scheduler.now()
  const { timed } = env.scenario
  const ticksBefore = env.counts.get('call: scanner alarm') ?? 0
  const node = beginTroubles(run, trial)
  env.troubled = node?.number ?? null
  const isNeeded = node !== null && nodes.list.length === env.scenario.quorum
  if (timed && env.scenario.hardships.lacking !== null) env.lackedFrom = env.chain.tip().height + 3
  const checkPosition = createPositionCheck(run)
  const checkCredits = createCreditCheck(run)
  const countRequests = createRequestCount(run)
  const { junkBytes = 0 } = node ?? {}
  if (node !== null) node.junkBytes = 0
  const { neighbour } = run
  if (neighbour !== null) void run.inIsolate(({ fetch }) => neighbour.begin(fetch))
  let unfitUntil = 0
  for (let second = 0; second < trial.minutes * 60 && env.violation === null; second += 5) {
    if (isInHole(env, env.finalized())) unfitUntil = env.scheduler.now() + unfitMs
    const excused = Math.max(failPlatform(run, trial, second), isNeeded ? excuse(trial, begunAt) : 0, unfitUntil)
    if (second % 30 === 0) pay(run)
    if (second % 30 === 0) neighbour?.pay()
    if (second === platformFrom) neighbour?.suffer(false)
    if (second === trial.minutes * 60 - platformFrom) neighbour?.suffer(true)
    if (second === farSeconds && node?.tail === 'far') node.tail = null
    if (second === trial.minutes * 30) {
      countRequests.half()
      if (node !== null) node.junkBytes = junkBytes
    }
    if (timed) {
      checkCredits(checkPosition(excused))
      checkEvents(run, excused)
    }
    await pass(env, 5_000)
  }
  env.clockMs = 0
  const isTold = env.alarmed.some(({ kind, at }) => kind === 'tick-failed' && at >= begunAt)
  if (timed && trial.platform === 'away' && env.scenario.scanEverySeconds <= 20 && !isTold)
    env.violate('the database was away, and no alarm said so')
  const takesBatches = !env.counts.has('batch limit') && !env.counts.has('batch refused')
  // decimals on which nodes differ cost further requests
  const isCalm = trial.platform === 'well' && env.openGaps.size === 0 && !env.scenario.decimalsDiffer
  const isQuiet = node === null && takesBatches && isCalm
  if (timed && isQuiet && env.violation === null) checkTicks(run, begunAt, ticksBefore)
  if (timed && node !== null && env.violation === null) {
    // Requests are not compared if the node is needed for the quorum, so that ranges are as short
    // as it needs, or if a node takes no batches, so that each call is a request.
    if (junkBytes > 0 && !isNeeded && takesBatches && trial.platform === 'well') countRequests.check(node)
    if (trial.trouble !== 'cut off' && canLie(run)) checkSeen(run, trial, begunAt)
    checkNamed(run, node, trial, begunAt)
  }
  nodes.recover(null)
  env.trial = null
  env.troubled = null
}

/**
 * Begins the trouble of one node, and returns the node. Null if no node may have it: for a lie, the
 * others must be a quorum.
 */
function beginTroubles({ env, nodes }: SimulatedRun, { trouble, tail, isFirst }: Trial): SimulatedNode | null {
  const [first, ...others] = nodes.list
  if (first === undefined || others.length === 0 || (isLie(trouble) && !canLie({ env, nodes }))) return null
  const node = isFirst ? first : env.troubles.pick(others)
  beginTrouble(env, node, trouble)
  if (tail !== null && canLie({ env, nodes })) node.tail = tail
  if (trouble === 'final head too high') env.troubles.pick(nodes.list.filter((one) => one !== node)).behind = 1
  return node
}

/** Whether one node may lie, because the other nodes are a quorum. */
const canLie = ({ env, nodes }: Pick<SimulatedRun, 'env' | 'nodes'>) =>
  env.scenario.quorum > 1 && nodes.list.length > env.scenario.quorum

/**
 * Until when the trouble of a node that is needed for the quorum excuses the scan. It is a minute
 * if the service can adapt to the trouble in this time, else the whole trial.
 */
function excuse({ trouble, platform }: Trial, begunAt: number): number {
  const isFast = (trouble === 'fewer requests a second' && platform === 'well') || trouble === 'junk'
  return isFast ? begunAt + 60_000 : Number.POSITIVE_INFINITY
}

/**
 * Extra time in which the service reads the blocks that it could not store for minutes, from a slow
 * node that it asks first.
 */
const backlogMs = 60_000

/**
 * Lets clocks or the platform fail or recover at this second, as the trial says. Returns until when
 * the failure excuses the scan.
 */
function failPlatform({ env }: SimulatedRun, { platform, trouble }: Trial, second: number): number {
  const until = env.scheduler.now() + ((platform === 'away' ? awayUntil : platformUntil) - second) * 1_000
  if (second === platformFrom) {
    if (platform !== 'well') env.count(`platform: ${platform}`)
    if (platform === 'clock') Object.assign(env, { clockMs: clockStepMs, steppedAt: env.scheduler.now() })
    if (platform === 'full') env.fullUntil = until
    if (platform === 'hanging') env.hangsNext = true
    if (platform === 'away') env.awayUntil = until
  }
  if (second === platformUntil) env.clockMs = 0
  if (second < platformFrom) return 0
  const { batchless, nodes, quorum } = env.scenario
  // Without batches, a node that is needed can give hardly more blocks than the chain makes.
  const readMs = batchless > 0 && nodes.length === quorum ? Number.POSITIVE_INFINITY : batchless > 0 ? backlogMs : 0
  if (platform === 'away') return until + readMs + (trouble.includes('slow') ? backlogMs : 0)
  if (platform === 'full') return until + Math.max(readMs, trouble.includes('slow') ? backlogMs : 0)
  return platform === 'hanging' ? until + tickLimitMs + readMs : 0
}

function pay({ env }: SimulatedRun): void {
  const to = env.troubles.pick([...env.shown.keys()])
  env.queued.push(payTrx(payer, to, BigInt(env.troubles.int(1, 1_000_000))))
}

const payer = addressOf(0x2003)

/**
 * Makes a check that all deposits up to a height are decided, also those in blocks that are put
 * aside.
 */
function createCreditCheck({ env, stored }: SimulatedRun): (due: number) => void {
  let checked = env.chain.tip().height
  return (due) => {
    for (const transfer of env.transfers.values()) {
      const { height, promised, txid, position } = transfer
      if (height <= checked || height > due || !promised || expectedDeposit(env, transfer) === null) continue
      if (!stored.isDecided(txid, position) && !isUnreadGap(env, height))
        env.violate(`${txid}:${position} was final long ago and is not decided`)
    }
    checked = Math.max(checked, due)
  }
}

/** How late the event of a credit may be at the endpoint that is well. */
const eventMsMax = 30_000

function checkEvents({ env, stored }: SimulatedRun, excusedUntil: number): void {
  if (env.scheduler.now() < excusedUntil + eventMsMax) return
  const waits = stored.oldestCredit()
  // a failure before `excusedUntil` may have delayed the delivery of this event
  if (waits === undefined || waits.createdAt < excusedUntil) return
  const ms = env.scheduler.now() - waits.createdAt
  if (env.clockMs === 0 && ms > eventMsMax) env.violate(`event ${waits.id} of a credit is ${ms} ms late`)
}

/**
 * For each trouble, the log events of which one must have named the node, as an alarm or as a
 * warning.
 */
const namedBy: Partial<Record<TroubleName, readonly string[]>> = {
  'values of any kind': ['node-error', 'node-lies', 'node-unfit', 'nodes-disagree'],
  'final head too high': ['node-lies', 'nodes-disagree'],
  'final head far too high': ['node-lies', 'node-error'],
  'tail far ahead': ['node-lies'],
  'no batches, and slow': ['node-error', 'node-slow', 'node-failing'],
  slow: ['node-error', 'node-slow'],
  'cut off': ['node-behind'],
  'final blocks missing': ['node-error'],
  'API switched off': ['node-unfit'],
  'lite node': ['node-unfit'],
  'contents refused': ['node-failing'],
}
/**
 * The kind of request whose answers show a trouble, if not every answer does. Requests for balances
 * show none, because a tick may have no time for them.
 */
const shownBy: Partial<Record<TroubleName, keyof SimulatedNode['askedFor']>> = {
  'final head too high': 'block',
  'final head far too high': 'head',
  'tail far ahead': 'tail',
  'no batches, and slow': 'head',
  slow: 'head',
  'cut off': 'head',
  'final blocks missing': 'final',
  'API switched off': 'final',
  'lite node': 'final',
  'contents refused': 'final',
}
/** After so many requests that show its trouble, a node must be named. */
const knownAfter = 5
/**
 * Troubles with another number of requests than `knownAfter`. Many changed fields are not read, and
 * a node without an HTTP API is asked only once a minute.
 */
const knownAfterOf: Partial<Record<TroubleName, number>> = {
  'values of any kind': 20,
  'API switched off': 1,
  'lite node': 1,
}
/**
 * The service names a node after 20 of its transfers were in no final block. It may need more,
 * because a failed tick counts nothing.
 */
const falseMax = 60
/**
 * For so long a node must have been asked before it must be named: one that is behind after three
 * minutes, one that refuses contents after five.
 */
const knownMsOf: Partial<Record<TroubleName, number>> = { 'cut off': 200_000, 'contents refused': 300_000 }

/**
 * Checks that the node is named, if it was asked often enough: by a log line of the trial, or by an
 * alarm that is raised.
 */
function checkNamed({ env, stored }: SimulatedRun, node: SimulatedNode, { trouble }: Trial, begunAt: number): void {
  const isFalse = stored.countFalse(node.number, begunAt) > falseMax
  const wanted = isFalse ? ['node-lies'] : namedBy[trouble]
  const isFar = trouble === 'tail far ahead'
  const until = isFar ? begunAt + farSeconds * 1_000 : Number.POSITIVE_INFINITY
  const shown = isFalse ? 'tail' : shownBy[trouble]
  const requests = shown === undefined ? node.requests : node.askedFor[shown]
  const asked = requests.filter((at) => at > begunAt && at < until && !isClockAhead(env, at))
  const ms = (asked.at(-1) ?? 0) - (asked[0] ?? 0)
  const enough = isFalse ? knownAfter : (knownAfterOf[trouble] ?? knownAfter)
  if (wanted === undefined || asked.length < enough || ms < (knownMsOf[trouble] ?? 0)) return
  const { number } = node
  const raised = stored.alarms().filter(({ subject }) => (JSON.parse(subject) as { node?: number }).node === number)
  const names = new Set([...(env.named.get(number) ?? []), ...raised.map(({ kind }) => kind)])
  const has = isFalse ? 'invented transfers' : trouble
  if (!wanted.some((name) => names.has(name))) env.violate(`node ${number} is not named, and has: ${has}`)
}

/**
 * Whether the clocks were ahead at the time `at`: a head that is far too high can be true by such a
 * clock.
 */
const isClockAhead = ({ steppedAt }: SimulatedRun['env'], at: number) =>
  at >= steppedAt && at < steppedAt + (platformUntil - platformFrom) * 1_000

/**
 * Counts the requests for final blocks in each half of the trial. Junk in one node's replies must
 * not make the others get half as many again. Requests for blocks that are not final do not count:
 * looks send them, and end at some time of the trial.
 */
function createRequestCount({ env, nodes }: SimulatedRun) {
  const ticks = () => env.counts.get('call: scanner alarm') ?? 0
  const begun = { at: env.scheduler.now(), ticks: ticks() }
  let half = begun
  return {
    half() {
      half = { at: env.scheduler.now(), ticks: ticks() }
    },
    check(node: SimulatedNode) {
      const mostOf = (list: readonly SimulatedNode[], from: typeof begun, to: typeof begun) =>
        Math.max(...list.map(({ askedFor }) => askedFor.final.filter((at) => at > from.at && at <= to.at).length)) /
        Math.max(1, to.ticks - from.ticks)
      const end = { at: env.scheduler.now(), ticks: ticks() }
      const before = mostOf(nodes.list, begun, half)
      const after = mostOf(
        nodes.list.filter((one) => one !== node),
        half,
        end,
      )
      if (after > before * 1.5 + 1) env.violate(`${after.toFixed(1)} requests a tick where it was ${before.toFixed(1)}`)
    },
  }
}

/**
 * Requests of a tick that is caught up: head, blocks and logs at each node of the quorum, and two
 * at one node for the blocks that are not final.
 */
const tickRequestsOf = (quorum: number) => 3 * quorum + 2
/**
 * Over all ticks of a trial, gaps, comparisons and repeated questions may add at most this part of
 * `tickRequestsOf`.
 */
const furtherPart = 0.5

/**
 * Checks that ticks send no more requests than they need, even if the platform evicts the instance
 * after each tick.
 */
function checkTicks({ env, nodes }: SimulatedRun, begunAt: number, ticksBefore: number): void {
  const ticks = (env.counts.get('call: scanner alarm') ?? 0) - ticksBefore
  const sent = nodes.list.flatMap(({ requests }) => requests.filter((at) => at > begunAt)).length
  const most = tickRequestsOf(env.scenario.quorum) * (1 + furtherPart)
  if (sent > ticks * most)
    env.violate(`a tick sends ${(sent / ticks).toFixed(1)} requests, and needs ${most.toFixed(1)} at most`)
}

/**
 * Checks that transfers are seen before they are final, once the node no longer invents blocks far
 * above the newest one.
 */
function checkSeen({ env, stored }: SimulatedRun, { tail, platform }: Trial, begunAt: number): void {
  const { scanEverySeconds, finalityLag } = env.scenario
  const isLong = finalityLag * 3 >= scanEverySeconds + 10
  if (tail !== 'far' || platform !== 'well' || !isLong || env.allowance !== freeAllowance) return
  const from = (begunAt + (farSeconds + scanEverySeconds + 10) * 1_000) / 1_000
  const to = env.scheduler.now() / 1_000 - scanEverySeconds - 10
  const isDue = ({ height }: { readonly height: number }) => {
    const { seconds = 0 } = env.chain.at(height) ?? {}
    return seconds > from && seconds < to
  }
  const due = [...env.transfers.values()].filter((one) => one.from === payer && isDue(one))
  const seen = new Set(stored.events().flatMap(({ type, txid }) => (type === 'deposit.seen' ? [txid] : [])))
  if (due.length >= 3 && !due.some(({ txid }) => seen.has(txid))) env.violate('no transfer is seen before it is final')
}
