import type { ChainFailure, RequestQuota } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import { hourMs, type UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { rateLimitMs } from './limits.ts'

/** How many requests a node may get in a second and in a day. */
export interface NodeLimits {
  /**
   * Identifies the node's counts in storage, because the node's number changes with its place in
   * `TRON_NODES`.
   */
  readonly id: string
  readonly perSecond: number
  readonly perDay: number
}

type Limited = ChainFailure & { readonly kind: 'limited' }

/** Counts exactly the requests to nodes, and says whether one more is allowed. */
export interface Allowance {
  /**
   * Resolves when the stored counts are loaded. Await this before the first call of another method.
   */
  readonly ready: Promise<void>
  /**
   * Counts and stores one request to node `number`, and returns the present time. If this second is
   * full, it counts nothing and returns the time to try again. Fails if the day, or the quota's
   * share of it, has no room. `sent` is how many requests this piece of work (a tick, a call) has
   * sent to the node.
   */
  take(number: number, quota: RequestQuota, sent: number): Result<UnixMs, Limited>
  /**
   * The time at which a request to node `number` could be sent if `ahead` requests wait before it
   * in its share of a second: that of ticks, or that of all other work.
   */
  availableAt(number: number, quota: RequestQuota, ahead: number): UnixMs
  /**
   * Requests to a node that count towards its limit of a day. They are counted by whole hours: the
   * present hour, and the 24 before it.
   */
  used(number: number): number
  /**
   * To be called when a node has answered a request. If the node refuses a request later, it gets
   * at most as many in a second as it has just answered.
   */
  noteAnswer(number: number): void
  /**
   * To be called when a node refuses a request because it got too many. The node gets fewer in a
   * second, and after a while more again.
   */
  slowDown(number: number): void
  /**
   * The earliest time for an extra tick, before the usual interval is over. Extra ticks are spread
   * so that the day's requests last.
   */
  tickAvailableAt(): UnixMs
}

/**
 * Requests that a caught-up tick needs at one node: one for the head, one each for final blocks and
 * their logs, and one each for the tail (blocks that are not final) and its logs. More of a long
 * tail is read only if the node has requests to spare, because nothing is credited by it.
 */
export const tickRequests = 5
const secondMs = 1_000
/**
 * Hours whose requests are counted: the present one and the 24 whole ones before it. So the count
 * is never less than the requests of the last 24 hours.
 */
const hours = 25
/**
 * After its rest, a slowed node gets one more request in a second each time this has passed, up to
 * one less than the pace at which it refused.
 */
const raisedEveryMs = 10_000
/**
 * Each time this has passed since the refusal, a slowed node's requests in a second also double, up
 * to the configured number. This is slow on purpose: a new refusal costs more than a slow node.
 * Still the node is back at the configured number within an hour.
 */
const triedEveryMs = 600_000
const storageKey = 'requests'

/** The requests of one hour, by quota. */
interface Counts {
  tick: number
  /** Absent in hours that a version without looks has counted. */
  look?: number
  caller: number
  sending: number
  leftover: number
  readonly byCaller: Map<number, number>
}
interface NodeState extends NodeLimits {
  /** Requests of a day (`hours`) that are reserved for ticks. */
  readonly tickNeed: number
  byHour: Map<number, Counts>
  /**
   * Times of the requests in the last second, for ticks and for all others: each group has its own
   * share of a second.
   */
  tickTimes: readonly number[]
  otherTimes: readonly number[]
  /**
   * Set at the refusal of a request: it came at `refused` requests in a second, and `perSecond` are
   * allowed now. Null: the node has never refused one.
   */
  slowed: { readonly perSecond: number; readonly refused: number; readonly since: number } | null
  /** Times of the node's answers in the last second. */
  answerTimes: readonly number[]
}
type Stored = Pick<NodeState, 'byHour' | 'tickTimes' | 'otherTimes' | 'slowed'>

/**
 * Counts the requests that a Durable Object sends to nodes, starting with the counts in its
 * storage. Each count is stored before its request leaves, because the platform holds requests back
 * until writes are stored. So an instance that was replaced, and can no longer write, sends
 * nothing.
 */
export function createAllowance(
  nodes: readonly NodeLimits[],
  quorum: number,
  scanEverySeconds: number,
  clock: Pick<Clock, 'now'>,
  host: Pick<ObjectHost, 'load' | 'save'>,
): Allowance {
  const tickNeed = Math.ceil((hours * 3_600) / scanEverySeconds) * tickRequests
  const states = nodes.map((node): NodeState => {
    return {
      ...node,
      tickNeed: Math.min(tickNeed, node.perDay),
      byHour: new Map(),
      tickTimes: [],
      otherTimes: [],
      slowed: null,
      answerTimes: [],
    }
  })
  const stateOf = (number: number) => {
    const state = states[number - 1]
    if (state === undefined) throw new Error(`no node ${number}`)
    return state
  }
  const save = () => host.save(storageKey, Object.fromEntries(states.map((state) => [state.id, toStored(state)])))
  const load = async () => {
    const stored = (await host.load<Record<string, Stored>>(storageKey)) ?? {}
    for (const state of states) Object.assign(state, stored[state.id])
  }
  return {
    ready: load(),
    take(number, quota, sent) {
      const state = stateOf(number)
      const now = clock.now()
      forgetOldHours(state, now)
      const whose = lacksRoom(state, quota, sent, perSecondOf(state, now))
      if (whose !== null) return err({ kind: 'limited', whose, seconds: secondsUntilRoom(state, now) })
      const time = availableInSecond(state, quota, now, 0)
      if (time > now) return ok(time)
      const part = partOf(state, quota, now)
      state[part.times] = [...state[part.times], now]
      count(state, quota, now)
      save()
      return ok(now)
    },
    availableAt: (number, quota, ahead) => availableInSecond(stateOf(number), quota, clock.now(), ahead),
    used(number) {
      const state = stateOf(number)
      forgetOldHours(state, clock.now())
      return used(state)
    },
    noteAnswer(number) {
      const state = stateOf(number)
      const now = clock.now()
      state.answerTimes = [...recent(state.answerTimes, now), now]
    },
    slowDown(number) {
      const state = stateOf(number)
      const now = clock.now()
      // A further refusal within a second answers a request that was sent before the node was
      // slowed down. It says nothing new.
      if (state.slowed !== null && Math.abs(now - state.slowed.since) < secondMs) return
      const refused = perSecondOf(state, now)
      const fewer = Math.floor((refused * 2) / 3)
      const answered = recent(state.answerTimes, now).length
      state.slowed = { perSecond: Math.max(Math.min(answered, fewer), 1), refused, since: now }
      save()
    },
    tickAvailableAt() {
      const now = clock.now()
      const times = states.map((state) => {
        forgetOldHours(state, now)
        return used(state) < state.perDay ? roomForTickAt(state, now) : now + secondsUntilRoom(state, now) * 1_000
      })
      const time = times.sort((a, b) => a - b)[quorum - 1] ?? now
      return Math.ceil(Math.max(time, now)) as UnixMs // safe: `now` or later, and a whole number
    },
  }
}

const hourOf = (ms: number) => Math.floor(ms / hourMs)
const sumOf = ({ byHour }: NodeState, of: (counts: Counts) => number) => {
  let total = 0
  for (const counts of byHour.values()) total += of(counts)
  return total
}
const used = (state: NodeState) =>
  sumOf(state, ({ tick, look = 0, caller, sending, leftover }) => tick + look + caller + sending + leftover)
/**
 * The requests of a day that are not reserved for ticks: users share half of them, and the sending
 * of payouts gets a quarter.
 */
const left = ({ perDay, tickNeed }: NodeState) => perDay - tickNeed

/**
 * Whose limit is used up (that of the nodes, of all users together or of this user), so that one
 * more request is refused; null if none is.
 */
function lacksRoom(state: NodeState, quota: RequestQuota, sent: number, perSecond: number): Limited['whose'] | null {
  const total = used(state)
  if (total >= state.perDay) return 'nodes'
  const callers = sumOf(state, ({ caller }) => caller)
  const sendings = sumOf(state, ({ sending }) => sending)
  // For all work but ticks, the requests that are reserved for ticks count as used, even if ticks
  // have not used them yet.
  const withTicks = total + Math.max(state.tickNeed - sumOf(state, ({ tick }) => tick), 0)
  switch (quota.kind) {
    case 'tick':
      // A tick that sends more than `tickRequests` reads old blocks. It must leave as many requests
      // as the ticks of a day need.
      return sent < tickRequests || total + state.tickNeed < state.perDay ? null : 'nodes'
    case 'sending':
      return sendings < Math.max(Math.floor(left(state) / 4), 1) && withTicks < state.perDay ? null : 'nodes'
    case 'leftover':
      return withTicks + reservedFor(state, callers, sendings) < state.perDay ? null : 'nodes'
    case 'look': {
      // A node that allows one request in a second has no part for other work than ticks, so a look
      // could delay a tick.
      const reserved = Math.min(reservedFor(state, callers, sendings), left(state) / 2)
      return withTicks + reserved < state.perDay && otherPart(perSecond) > 0 ? null : 'nodes'
    }
    case 'caller': {
      if (callers >= Math.floor(left(state) / 2)) return 'callers'
      const own = sumOf(state, ({ byCaller }) => byCaller.get(quota.uid) ?? 0)
      if (own >= Math.max(Math.floor(left(state) / 20), 1)) return 'caller'
      return withTicks < state.perDay ? null : 'nodes'
    }
  }
}

/** The requests that users and the sending of payouts may still take of their shares. */
function reservedFor(state: NodeState, callers: number, sendings: number): number {
  return Math.max(left(state) / 2 - callers, 0) + Math.max(left(state) / 4 - sendings, 0)
}

function count({ byHour }: NodeState, quota: RequestQuota, now: number): void {
  const counts = byHour.get(hourOf(now)) ?? {
    tick: 0,
    look: 0,
    caller: 0,
    sending: 0,
    leftover: 0,
    byCaller: new Map<number, number>(),
  }
  byHour.set(hourOf(now), counts)
  counts[quota.kind] = (counts[quota.kind] ?? 0) + 1
  if (quota.kind === 'caller') counts.byCaller.set(quota.uid, (counts.byCaller.get(quota.uid) ?? 0) + 1)
}

function forgetOldHours({ byHour }: NodeState, now: number): void {
  for (const hour of byHour.keys()) if (hour <= hourOf(now) - hours) byHour.delete(hour)
}

/** Seconds until the oldest counted hour is no longer counted, so that its requests become free. */
function secondsUntilRoom({ byHour }: NodeState, now: number): number {
  const oldest = Math.min(...byHour.keys(), hourOf(now))
  return Math.max(Math.ceil(((oldest + hours) * hourMs - now) / 1_000), 1)
}

/**
 * The requests in a second that a node gets now: its configured number, or fewer after a refusal.
 */
function perSecondOf({ perSecond, slowed }: NodeState, now: number): number {
  if (slowed === null) return perSecond
  const ms = Math.max(now - slowed.since, 0)
  const raised = slowed.perSecond + Math.floor(Math.max(ms - 1.5 * rateLimitMs, 0) / raisedEveryMs)
  const known = Math.max(slowed.refused - 1, slowed.perSecond)
  return Math.min(Math.min(raised, known) * 2 ** Math.floor(ms / triedEveryMs), perSecond)
}

/**
 * Ticks and all other requests each have a share of a node's requests in a second. A node that
 * allows only one has no shares.
 */
function partOf(state: NodeState, quota: RequestQuota, now: number) {
  const max = perSecondOf(state, now)
  const others = otherPart(max)
  const isOfTicks = quota.kind === 'tick' || others === 0
  return isOfTicks
    ? ({ times: 'tickTimes', max: max - others } as const)
    : ({ times: 'otherTimes', max: others } as const)
}

/** The part of a node's requests in a second for all work but ticks. */
const otherPart = (perSecond: number) => Math.floor(perSecond / 2)

/**
 * The time at which a request has room in its share of a second, after the `ahead` requests that
 * wait before it.
 */
function availableInSecond(state: NodeState, quota: RequestQuota, now: number, ahead: number): UnixMs {
  const { times, max } = partOf(state, quota, now)
  state[times] = recent(state[times], now)
  const sent = state[times].slice(-max)
  const ordinal = sent.length + ahead
  const seconds = Math.floor(ordinal / max)
  const time = seconds === 0 ? now : (sent[ordinal % max] ?? now) + seconds * secondMs
  return time as UnixMs // safe: now or later
}

/**
 * Those of the times that are in the last second. A time in the future was noted before the clock
 * stepped back, and counts as now.
 */
function recent(times: readonly number[], now: number): readonly number[] {
  return times.filter((time) => time > now - secondMs).map((time) => Math.min(time, now))
}

/**
 * The time at which an extra tick has room. Ticks may use the requests reserved for them and two
 * fifths of all others, the same number in each hour. At the start of an hour a tenth of its share
 * can be used at once, so that a single tick is not delayed.
 */
function roomForTickAt(state: NodeState, now: number): number {
  const hour = hourOf(now)
  const ofHour = (state.tickNeed + 0.4 * left(state)) / hours
  const usedInHour = state.byHour.get(hour)?.tick ?? 0
  return (hour + (usedInHour + tickRequests) / ofHour - 0.1) * hourMs
}

/**
 * The part of the state to store. A user's count of an hour is stored only if it is high: a user
 * with low counts has at least half of the daily share left.
 */
function toStored(state: NodeState): Stored {
  const { tickTimes, otherTimes, slowed } = state
  const many = left(state) / (40 * hours)
  const entries = [...state.byHour].map(([hour, { byCaller, ...counts }]) => {
    return [hour, { ...counts, byCaller: new Map([...byCaller].filter(([, own]) => own > many)) }] as const
  })
  return { byHour: new Map(entries), tickTimes, otherTimes, slowed }
}
