import type { ChainFailure, RequestQuota } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { Allowance } from './allowance.ts'
import { connectionsMax, otherConnectionsMax, sendingConnectionsMax } from './limits.ts'

/** A request that waits to be sent. */
export interface Request {
  /**
   * The numbers of the nodes that may get the request now, in order of preference. It goes to the
   * first one that has room. At least one number.
   */
  readonly numbers: () => readonly number[]
  readonly quota: RequestQuota
  /** How many requests the same piece of work has sent to a node before. */
  readonly sent: (number: number) => number
  /** The number of pieces of work that began before the one of this request. */
  readonly order: number
  readonly deadline: UnixMs
}

type Limited = ChainFailure & { readonly kind: 'limited' }

/**
 * Why a request is not sent. `limited`: an allowance of the day has no room. `late`: before the
 * deadline no second has room, or no connection becomes free.
 */
export type NoTurn = Limited | { readonly kind: 'late'; readonly seconds: number }

/**
 * The turn of a request: the number of the node that gets it, and a function that gives its
 * connection back.
 */
export interface Turn {
  readonly number: number
  readonly end: () => void
}

export interface Turns {
  /**
   * Resolves when the request is to be sent: a node has room in this second, and a connection is
   * free. Both are taken at that moment, and neither is held before.
   */
  begin(request: Request): Promise<Result<Turn, NoTurn>>
}

interface Waiting extends Request {
  readonly start: (turn: Result<Turn, NoTurn>) => void
}

/**
 * Makes the order of requests. Ticks come first, then payouts, then the piece of work that began
 * first, and looks at the tail last. So one piece of work is finished before the next one takes
 * time.
 */
export function createTurns(clock: Pick<Clock, 'now' | 'sleep'>, allowance: Allowance): Turns {
  const waiting = new Set<Waiting>()
  const connections = createConnections(() => advance())
  let pause = new AbortController()
  const after = (ms: number, until: AbortSignal, work: () => void) => {
    clock.sleep(ms, until).then(work, () => undefined) // `sleep` never rejects
  }
  /** Starts every request that can start, and runs again when the next node has room. */
  const advance = () => {
    pause.abort(null) // without a reason, so that no exception with a stack is made
    pause = new AbortController()
    const now = clock.now()
    const full = new Set<string>()
    let next = Number.POSITIVE_INFINITY
    /** The request's turn at the first of its nodes that has room. Null: it waits for one. */
    const turnOf = (request: Request): Result<Turn, NoTurn> | null => {
      let limited: Result<Turn, NoTurn> | null = null
      let mayWait = false
      for (const number of request.numbers()) {
        const part = `${number} ${kindOf(request)}`
        if (full.has(part) || !connections.isFree(request, number)) {
          mayWait = true
          continue
        }
        const taken = allowance.take(number, request.quota, request.sent(number))
        if (taken.ok && taken.value <= now) return ok(connections.take(request, number))
        if (taken.ok) {
          mayWait = true
          full.add(part)
          next = Math.min(next, taken.value)
        } else limited ??= taken
      }
      return mayWait ? null : limited
    }
    for (const request of [...waiting].sort(byOrder)) {
      const turn = turnOf(request)
      if (turn !== null) request.start(turn)
    }
    const { signal } = pause
    const isOver = () => signal.aborted || next === Number.POSITIVE_INFINITY
    if (!isOver()) after(next - now, signal, () => (isOver() ? undefined : advance()))
  }
  const msUntil = (request: Request) => {
    const before = [...waiting].filter((other) => kindOf(other) === kindOf(request) && byOrder(other, request) <= 0)
    const times = request.numbers().map((number) => {
      const ahead = before.filter((other) => other.numbers().includes(number))
      return allowance.availableAt(number, request.quota, ahead.length)
    })
    return Math.min(...times) - clock.now()
  }
  const late = (ms: number) => err<NoTurn>({ kind: 'late', seconds: Math.max(Math.ceil(ms / 1000), 1) })
  return {
    begin(request) {
      const ms = msUntil(request)
      if (clock.now() + ms >= request.deadline) return Promise.resolve(late(ms))
      return new Promise((resolve) => {
        const timer = new AbortController()
        const start = (turn: Result<Turn, NoTurn>) => {
          waiting.delete(entry)
          timer.abort(null)
          resolve(turn)
        }
        const entry: Waiting = { ...request, start }
        waiting.add(entry)
        after(request.deadline - clock.now(), timer.signal, () =>
          waiting.has(entry) ? start(late(msUntil(entry))) : undefined,
        )
        advance()
      })
    },
  }
}

/** Counts the connections in use. `freed` is called when a connection is given back. */
function createConnections(freed: () => void) {
  const open = { tick: 0, other: 0 }
  /** The connections on which payouts are sent, by the number of the node. */
  const sendings = new Map<number, number>()
  const sendingsTo = (number: number) => sendings.get(number) ?? 0
  const isSending = ({ quota }: Request) => quota.kind === 'sending'
  const add = (request: Request, number: number, count: 1 | -1) => {
    open[kindOf(request)] += count
    if (isSending(request)) sendings.set(number, sendingsTo(number) + count)
  }
  return {
    /** Whether a connection is free for this request to this node. */
    isFree(request: Request, number: number): boolean {
      const isOpen = kindOf(request) === 'tick' || open.other < otherConnectionsMax
      if (open.tick + open.other >= connectionsMax || !isOpen) return false
      return !isSending(request) || sendingsTo(number) < sendingConnectionsMax
    },
    take(request: Request, number: number): Turn {
      add(request, number, 1)
      const end = () => {
        add(request, number, -1)
        freed()
      }
      return { number, end }
    },
  }
}

const kindOf = ({ quota }: Request) => (quota.kind === 'tick' ? 'tick' : 'other')

/** Below 0 if `a` comes first. Equal requests keep their order. */
function byOrder(a: Request, b: Request): number {
  return rankOf(a) - rankOf(b) || a.order - b.order
}

const ranks = { tick: 0, sending: 1, caller: 2, leftover: 2, look: 3 } as const satisfies Record<
  RequestQuota['kind'],
  number
>
const rankOf = ({ quota: { kind } }: Request) => ranks[kind]
