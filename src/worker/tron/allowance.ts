import type { ChainFailure, RequestQuota } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { rateLimitMs } from './limits.ts'

/** The limits of a node, in requests. */
export interface NodeLimits {
  /** Identifies the node's counts in storage, so that they survive a change of its number. */
  readonly id: string
  readonly perSecond: number
  readonly perDay: number
}

type Limited = ChainFailure & { readonly kind: 'limited' }

/** Counts exactly the requests to nodes, and says whether one more is allowed. */
export interface Allowance {
  /** Resolves when the stored counts are loaded. */
  readonly ready: Promise<void>
  /**
   * Takes one request to node `number`: counts and stores it, and returns the present time. If this second is full, takes nothing and returns a later time.
   * Fails if the day, or the share of this quota, has no room. `sent` is how many requests this piece of work has sent to the node.
   */
  take(number: number, quota: RequestQuota, sent: number): Result<UnixMs, Limited>
  /**
   * The time at which a request could be sent if `ahead` others wait before it. Ticks and all other requests each have a share of a node's requests in a
   * second.
   */
  availableAt(number: number, quota: RequestQuota, ahead: number): UnixMs
  /** Requests to a node that count towards its limit of a day. They are counted by whole hours: the present hour, and the 24 before it. */
  used(number: number): number
  /** Called when a node has answered a request. A node that is slowed down later keeps the pace at which it answered. */
  noteAnswer(number: number): void
  /** Called when a node refuses a request because there were too many. The node gets fewer in a second, and more again after a while. */
  slowDown(number: number): void
  /** The earliest time for a tick before the usual interval is over, so that such ticks spread the rest of the day's requests evenly. */
  tickAvailableAt(): UnixMs
}

/**
 * Requests that a caught-up tick needs at one node: head, blocks and logs, then blocks and logs of the tail (the blocks that are not final). The rest of a
 * long tail is only information, and waits until the node has requests to spare.
 */
export const tickRequests = 5
const hourMs = 3_600_000
const secondMs = 1_000
/** Hours whose requests are counted: 24 whole ones and the present one. They include the last 24 hours, so the count is never too low. */
const hours = 25
/** A slowed node that has rested gets one more request in a second each time this has passed, until it gets one less than the number that it refused. */
const raisedEveryMs = 10_000
/**
 * The requests in a second that a slowed node gets also double each time this has passed since the refusal, up to its configured number. This is slow,
 * because a refusal costs more than a slow node, but the node is back at its number within the hour.
 */
const triedEveryMs = 600_000
const storageKey = 'requests'

/** The requests of one hour, by quota. */
interface Counts {
  tick: number
  caller: number
  sending: number
  leftover: number
  readonly byCaller: Map<number, number>
}
interface NodeState extends NodeLimits {
  /** Requests of a day that are reserved for ticks. */
  readonly tickNeed: number
  byHour: Map<number, Counts>
  /** Times of the requests in the last second, for ticks and for all others: each group has its own share of a second. */
  tickTimes: readonly number[]
  otherTimes: readonly number[]
  /** How the node is slowed down since it refused a request: to `perSecond`, from `refused` requests in a second. Null if it gets its configured number. */
  slowed: { readonly perSecond: number; readonly refused: number; readonly since: number } | null
  /** Times of the answers in the last second. */
  answerTimes: readonly number[]
}
type Stored = Pick<NodeState, 'byHour' | 'tickTimes' | 'otherTimes' | 'slowed'>

/**
 * Counts the requests to the nodes of a Durable Object, from the counts in the object's storage on. A request is stored before it is sent, because the
 * platform holds the request back until then. So a replaced instance, which cannot store, sends nothing.
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
      const whose = lacksRoom(state, quota, sent)
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
      // A second refusal within a second is for a request that was sent before the node was slowed down. It says nothing new.
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
  sumOf(state, ({ tick, caller, sending, leftover }) => tick + caller + sending + leftover)
/** The requests of a day that are not reserved for ticks: users share half of them, and the sending of payouts gets a quarter. */
const left = ({ perDay, tickNeed }: NodeState) => perDay - tickNeed

/** Whose limit has no room for one more request; null if there is room. */
function lacksRoom(state: NodeState, quota: RequestQuota, sent: number): Limited['whose'] | null {
  const total = used(state)
  if (total >= state.perDay) return 'nodes'
  const callers = sumOf(state, ({ caller }) => caller)
  const sendings = sumOf(state, ({ sending }) => sending)
  // The requests that are reserved for ticks, and that they have not used yet, count as used for all others.
  const withTicks = total + Math.max(state.tickNeed - sumOf(state, ({ tick }) => tick), 0)
  switch (quota.kind) {
    case 'tick':
      // A tick with more requests than usual reads old blocks. It must leave what the ticks of a day need.
      return sent < tickRequests || total + state.tickNeed < state.perDay ? null : 'nodes'
    case 'sending':
      return sendings < Math.max(Math.floor(left(state) / 4), 1) && withTicks < state.perDay ? null : 'nodes'
    case 'leftover': {
      const reserved = Math.max(left(state) / 2 - callers, 0) + Math.max(left(state) / 4 - sendings, 0)
      return withTicks + reserved < state.perDay ? null : 'nodes'
    }
    case 'caller': {
      if (callers >= Math.floor(left(state) / 2)) return 'callers'
      const own = sumOf(state, ({ byCaller }) => byCaller.get(quota.uid) ?? 0)
      if (own >= Math.max(Math.floor(left(state) / 20), 1)) return 'caller'
      return withTicks < state.perDay ? null : 'nodes'
    }
  }
}

function count({ byHour }: NodeState, quota: RequestQuota, now: number): void {
  const counts = byHour.get(hourOf(now)) ?? {
    tick: 0,
    caller: 0,
    sending: 0,
    leftover: 0,
    byCaller: new Map<number, number>(),
  }
  byHour.set(hourOf(now), counts)
  counts[quota.kind] += 1
  if (quota.kind === 'caller') counts.byCaller.set(quota.uid, (counts.byCaller.get(quota.uid) ?? 0) + 1)
}

function forgetOldHours({ byHour }: NodeState, now: number): void {
  for (const hour of byHour.keys()) if (hour <= hourOf(now) - hours) byHour.delete(hour)
}

/** Seconds until the oldest hour is no longer counted. */
function secondsUntilRoom({ byHour }: NodeState, now: number): number {
  const oldest = Math.min(...byHour.keys(), hourOf(now))
  return Math.max(Math.ceil(((oldest + hours) * hourMs - now) / 1_000), 1)
}

/** The requests in a second that a node gets now: its configured number, or fewer after a refusal. */
function perSecondOf({ perSecond, slowed }: NodeState, now: number): number {
  if (slowed === null) return perSecond
  const ms = Math.max(now - slowed.since, 0)
  const raised = slowed.perSecond + Math.floor(Math.max(ms - 1.5 * rateLimitMs, 0) / raisedEveryMs)
  const known = Math.max(slowed.refused - 1, slowed.perSecond)
  return Math.min(Math.min(raised, known) * 2 ** Math.floor(ms / triedEveryMs), perSecond)
}

/** Ticks and all other requests each have a share of a node's requests in a second. A node that allows only one has no shares. */
function partOf(state: NodeState, quota: RequestQuota, now: number) {
  const max = perSecondOf(state, now)
  const others = Math.floor(max / 2)
  const isOfTicks = quota.kind === 'tick' || others === 0
  return isOfTicks
    ? ({ times: 'tickTimes', max: max - others } as const)
    : ({ times: 'otherTimes', max: others } as const)
}

/** The time at which a request has room after `ahead` others in its share of a second. */
function availableInSecond(state: NodeState, quota: RequestQuota, now: number, ahead: number): UnixMs {
  const { times, max } = partOf(state, quota, now)
  state[times] = recent(state[times], now)
  const sent = state[times].slice(-max)
  const ordinal = sent.length + ahead
  const seconds = Math.floor(ordinal / max)
  const time = seconds === 0 ? now : (sent[ordinal % max] ?? now) + seconds * secondMs
  return time as UnixMs // safe: now or later
}

/** The times in the last second. A time in the future comes from a clock that has stepped back, and counts as now. */
function recent(times: readonly number[], now: number): readonly number[] {
  return times.filter((time) => time > now - secondMs).map((time) => Math.min(time, now))
}

/**
 * The time at which a tick has room in the present hour. Ticks use the requests reserved for them and two fifths of the others, spread over the day. A tenth
 * of an hour's share is free at its start, so that single ticks are not delayed.
 */
function roomForTickAt(state: NodeState, now: number): number {
  const hour = hourOf(now)
  const ofHour = (state.tickNeed + 0.4 * left(state)) / hours
  const usedInHour = state.byHour.get(hour)?.tick ?? 0
  return (hour + (usedInHour + tickRequests) / ofHour - 0.1) * hourMs
}

/** The part of the state to store. Only users with many requests in an hour are stored: all others have at least half of their share left. */
function toStored(state: NodeState): Stored {
  const { tickTimes, otherTimes, slowed } = state
  const many = left(state) / (40 * hours)
  const entries = [...state.byHour].map(([hour, { byCaller, ...counts }]) => {
    return [hour, { ...counts, byCaller: new Map([...byCaller].filter(([, own]) => own > many)) }] as const
  })
  return { byHour: new Map(entries), tickTimes, otherTimes, slowed }
}
