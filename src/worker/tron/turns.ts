import type { ChainFailure, Payer } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { Allowance } from './allowance.ts'
import { connectionsMax, otherConnectionsMax } from './limits.ts'

/** A request that is to be sent. */
export interface Request {
  /** Of the node. */
  readonly number: number
  readonly payer: Payer
  /** Requests that its piece of work has sent to the node. */
  readonly sent: number
  /** Pieces of work that began before its own. */
  readonly order: number
  readonly deadline: UnixMs
}

type Limited = ChainFailure & { readonly kind: 'limited' }

/** Why a request is not sent: the day has no room, or neither a second nor a connection does before the deadline. */
export type NoTurn = Limited | { readonly kind: 'late'; readonly seconds: number }

/** The order in which requests are sent. */
export interface Turns {
  /**
   * Resolves when the request is to be sent: its node has room in this second, and a connection is free. Both are taken then, and
   * nothing is held before. The function that it returns gives the connection back.
   */
  begin(request: Request): Promise<Result<() => void, NoTurn>>
}

interface Waiting extends Request {
  readonly start: (turn: Result<() => void, NoTurn>) => void
}

/** Ticks come first, then payouts, and then the piece of work that began first: so one is answered before the next one has taken its time. */
export function createTurns(clock: Pick<Clock, 'now' | 'sleep'>, allowance: Allowance): Turns {
  const waiting = new Set<Waiting>()
  const open = { tick: 0, other: 0 }
  let pause = new AbortController()
  const isOpen = (kind: keyof typeof open) =>
    open.tick + open.other < connectionsMax && (kind === 'tick' || open.other < otherConnectionsMax)
  const take = (kind: keyof typeof open) => {
    open[kind] += 1
    return () => {
      open[kind] -= 1
      advance()
    }
  }
  const after = (ms: number, until: AbortSignal, work: () => void) => {
    clock.sleep(ms, until).then(work, () => undefined) // it never rejects
  }
  /** Starts what can be started, and comes again when the next node has room. */
  const advance = () => {
    pause.abort(null) // no exception is made
    pause = new AbortController()
    const now = clock.now()
    const full = new Set<string>()
    let next = Number.POSITIVE_INFINITY
    for (const request of [...waiting].sort(byOrder)) {
      const kind = kindOf(request)
      const part = `${request.number} ${kind}`
      if (full.has(part) || !isOpen(kind)) continue
      const room = allowance.take(request.number, request.payer, request.sent)
      if (room.ok && room.value > now) {
        full.add(part)
        next = Math.min(next, room.value)
      } else request.start(room.ok ? ok(take(kind)) : room)
    }
    const { signal } = pause
    const isOver = () => signal.aborted || next === Number.POSITIVE_INFINITY
    if (!isOver()) after(next - now, signal, () => (isOver() ? undefined : advance()))
  }
  const msUntil = (request: Request) => {
    const ahead = [...waiting].filter((other) => isSamePart(other, request) && byOrder(other, request) <= 0)
    return allowance.roomAt(request.number, request.payer, ahead.length) - clock.now()
  }
  const late = (ms: number) => err<NoTurn>({ kind: 'late', seconds: Math.max(Math.ceil(ms / 1000), 1) })
  return {
    begin(request) {
      const ms = msUntil(request)
      if (clock.now() + ms >= request.deadline) return Promise.resolve(late(ms))
      return new Promise((resolve) => {
        const timer = new AbortController()
        const start = (turn: Result<() => void, NoTurn>) => {
          waiting.delete(one)
          timer.abort(null)
          resolve(turn)
        }
        const one: Waiting = { ...request, start }
        waiting.add(one)
        after(request.deadline - clock.now(), timer.signal, () =>
          waiting.has(one) ? start(late(msUntil(one))) : undefined,
        )
        advance()
      })
    },
  }
}

const kindOf = ({ payer }: Request) => (payer.kind === 'tick' ? 'tick' : 'other')
const isSamePart = (a: Request, b: Request) => a.number === b.number && kindOf(a) === kindOf(b)

/** Below 0 if `a` comes first. Equal ones keep their order. */
function byOrder(a: Request, b: Request): number {
  return rankOf(a) - rankOf(b) || a.order - b.order
}

const rankOf = ({ payer: { kind } }: Request) => (kind === 'tick' ? 0 : kind === 'sending' ? 1 : 2)
