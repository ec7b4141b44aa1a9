import type { ChainFailure, Payer } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'

/** What a node allows. */
export interface NodeLimits {
  /** Names the node in storage: not its URL, which can contain a key. */
  readonly id: string
  readonly perSecond: number
  readonly perDay: number
}

type Limited = ChainFailure & { readonly kind: 'limited' }

/** The requests that nodes allow, counted exactly. */
export interface Allowance {
  /** Resolves when the stored counts are known. */
  readonly ready: Promise<void>
  /**
   * Counts one request to node `number` and returns when it may be sent. `sent` is how many this piece of work has sent to it. One
   * that may not be sent before `deadline` is not to be sent, and is not counted.
   */
  take(number: number, payer: Payer, sent: number, deadline: number): Result<UnixMs, Limited>
  /**
   * Right before a request is sent: stores something at least once a second. So an instance that was replaced, which cannot store
   * and sends nothing that follows, stops within a second.
   */
  confirm(): void
  /** Earliest time for a tick that is not due by the interval: as often as the rest of the day leaves room for. */
  tickRoomAt(): UnixMs
  /** A piece of work has ended: the counts are stored as they are. */
  settle(): void
}

/**
 * Requests that a tick which is caught up needs at one node: head, blocks and logs, and blocks and logs of the tail. More of the
 * tail, where the node's newest block is late, is information only, and can wait for room.
 */
export const tickRequests = 5
/** Requests between two saves during a piece of work: so many can be counted twice where it is killed. */
export const reservedRequests = 10
const hourMs = 3_600_000
/** Hours that are counted: 24 whole ones and the present one, so that no 24 hours have more. */
const hours = 25
const confirmMs = 1_000
const storageKey = 'allowance'

/** Counts of one hour. */
interface Counts {
  tick: number
  caller: number
  rest: number
  readonly byCaller: Map<number, number>
}
interface NodeState extends NodeLimits {
  /** Set aside for ticks. */
  readonly tickNeed: number
  byHour: Map<number, Counts>
  /** Requests that are stored as used already. */
  reserved: number
  /** Times of the newest requests of ticks and of all others: each has a part of a second of its own. */
  readonly tickTimes: number[]
  readonly otherTimes: number[]
}
type Stored = Pick<NodeState, 'byHour' | 'reserved'> & { readonly savedAt: number }

/** The allowance of an object's nodes. Counts of earlier objects are loaded from its storage. */
export function createAllowance(
  nodes: readonly NodeLimits[],
  quorum: number,
  scanEverySeconds: number,
  clock: Clock,
  host: Pick<ObjectHost, 'load' | 'save'>,
): Allowance {
  const tickNeed = Math.ceil((hours * 3_600) / scanEverySeconds) * tickRequests
  const states = nodes.map((node): NodeState => {
    const empty = { byHour: new Map(), reserved: 0, tickTimes: [], otherTimes: [] }
    return { ...node, tickNeed: Math.min(tickNeed, node.perDay), ...empty }
  })
  let isSettled = true
  let savedAt = 0
  const save = (reserved: number) => {
    isSettled = reserved === 0
    savedAt = clock.now()
    const stored: Record<string, Stored> = {}
    for (const state of states) {
      state.reserved = reserved
      stored[state.id] = { byHour: withMany(state), reserved, savedAt }
    }
    host.save(storageKey, stored)
  }
  const load = async () => {
    const stored = (await host.load<Record<string, Stored>>(storageKey)) ?? {}
    for (const state of states) restore(state, stored[state.id], clock.now())
    save(0)
  }
  return {
    ready: load(),
    take(number, payer, sent, deadline) {
      const state = states[number - 1]
      if (state === undefined) throw new Error(`no node ${number}`)
      const now = clock.now()
      forgetOldHours(state, now)
      const whose = lacksRoom(state, payer, sent)
      if (whose !== null) return err({ kind: 'limited', whose, seconds: secondsUntilRoom(state, now) })
      const time = takeTime(state, payer, now, deadline)
      if (time >= deadline) return ok(time)
      if (state.reserved === 0) save(reservedRequests)
      state.reserved -= 1
      count(state, payer, now)
      return ok(time)
    },
    confirm() {
      if (clock.now() - savedAt >= confirmMs) save(reservedRequests)
    },
    tickRoomAt() {
      const now = clock.now()
      const times = states.map((state) => {
        forgetOldHours(state, now)
        return used(state) < state.perDay ? roomForTickAt(state, now) : now + secondsUntilRoom(state, now) * 1_000
      })
      const time = times.sort((a, b) => a - b)[quorum - 1] ?? now
      return Math.ceil(Math.max(time, now)) as UnixMs // safe: a later time
    },
    settle() {
      if (!isSettled) save(0)
    },
  }
}

const hourOf = (ms: number) => Math.floor(ms / hourMs)
const sumOf = ({ byHour }: NodeState, of: (counts: Counts) => number) => {
  let total = 0
  for (const counts of byHour.values()) total += of(counts)
  return total
}
const used = (state: NodeState) => sumOf(state, ({ tick, caller, rest }) => tick + caller + rest)
/** What the need of ticks leaves: callers share half of it. */
const left = ({ perDay, tickNeed }: NodeState) => perDay - tickNeed

/** Whose limit has no room for one more request, or null. */
function lacksRoom(state: NodeState, payer: Payer, sent: number): Limited['whose'] | null {
  const total = used(state)
  if (total >= state.perDay) return 'nodes'
  const callers = sumOf(state, ({ caller }) => caller)
  // What ticks have not used of their need yet is theirs.
  const withTicks = total + Math.max(state.tickNeed - sumOf(state, ({ tick }) => tick), 0)
  switch (payer.kind) {
    case 'tick':
      // Reading blocks that are behind leaves the need of a day.
      return sent < tickRequests || total + state.tickNeed < state.perDay ? null : 'nodes'
    case 'rest':
      return withTicks + Math.max(left(state) / 2 - callers, 0) < state.perDay ? null : 'nodes'
    case 'caller': {
      if (callers >= Math.floor(left(state) / 2)) return 'callers'
      const own = sumOf(state, ({ byCaller }) => byCaller.get(payer.uid) ?? 0)
      if (own >= Math.max(Math.floor(left(state) / 20), 1)) return 'caller'
      return withTicks < state.perDay ? null : 'nodes'
    }
  }
}

function count({ byHour }: NodeState, payer: Payer, now: number): void {
  const counts = byHour.get(hourOf(now)) ?? { tick: 0, caller: 0, rest: 0, byCaller: new Map<number, number>() }
  byHour.set(hourOf(now), counts)
  counts[payer.kind] += 1
  if (payer.kind === 'caller') counts.byCaller.set(payer.uid, (counts.byCaller.get(payer.uid) ?? 0) + 1)
}

function forgetOldHours({ byHour }: NodeState, now: number): void {
  for (const hour of byHour.keys()) if (hour <= hourOf(now) - hours) byHour.delete(hour)
}

/** When the oldest hour is no longer counted. */
function secondsUntilRoom({ byHour }: NodeState, now: number): number {
  const oldest = Math.min(...byHour.keys(), hourOf(now))
  return Math.max(Math.ceil(((oldest + hours) * hourMs - now) / 1_000), 1)
}

/**
 * The time of a request: within a second, ticks and others have their own part of what the node allows. From `deadline` on it is
 * not taken.
 */
function takeTime(state: NodeState, payer: Payer, now: number, deadline: number): UnixMs {
  const { perSecond, tickTimes } = state
  const others = Math.floor(perSecond / 2)
  const isOwn = payer.kind === 'tick' || others === 0
  const [times, max] = isOwn ? [tickTimes, perSecond - others] : [state.otherTimes, others]
  const isFull = times.length >= max
  const time = isFull ? Math.max(now, (times[0] ?? now) + 1_000) : now
  if (isFull && time < deadline) times.shift()
  if (time < deadline) times.push(time)
  return time as UnixMs // safe: now or later
}

/**
 * When a tick has room in the present hour. Ticks use their need and two fifths of what is left, spread over the day; a tenth
 * of an hour's part is free at its start, so that single ticks come when they are due.
 */
function roomForTickAt(state: NodeState, now: number): number {
  const hour = hourOf(now)
  const ofHour = (state.tickNeed + 0.4 * left(state)) / hours
  const usedInHour = state.byHour.get(hour)?.tick ?? 0
  return (hour + (usedInHour + tickRequests) / ofHour - 0.1) * hourMs
}

/** The counts with the callers that have many in an hour. The others have half of their share left in any case, and are not stored. */
function withMany(state: NodeState): NodeState['byHour'] {
  const many = left(state) / (40 * hours)
  const entries = [...state.byHour].map(([hour, { byCaller, ...counts }]) => {
    return [hour, { ...counts, byCaller: new Map([...byCaller].filter(([, own]) => own > many)) }] as const
  })
  return new Map(entries)
}

/**
 * What was reserved before a restart is counted as if it had been used. The instance before, which can run on for a second after
 * its last save, can have sent all that a second allows: the next one waits until that is over.
 */
function restore(state: NodeState, stored: Stored | undefined, now: number): void {
  if (stored === undefined) return
  const { byHour, reserved, savedAt } = stored
  state.byHour = byHour
  for (let i = 0; i < reserved; i += 1) count(state, { kind: 'tick' }, now)
  if (reserved === 0 && now - savedAt >= 2 * confirmMs) return
  const others = Math.floor(state.perSecond / 2)
  for (let i = 0; i < state.perSecond; i += 1) (i < others ? state.otherTimes : state.tickTimes).push(now + confirmMs)
}
