import type { ChainFailure, RequestQuota } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { Allowance } from './allowance.ts'
import { connectionsMax, otherConnectionsMax } from './limits.ts'

/** A request that waits to be sent. */
export interface Request {
  /** The number of the node. */
  readonly number: number
  readonly quota: RequestQuota
  /** How many requests the same piece of work has sent to the node before. */
  readonly sent: number
  /** The number of pieces of work that began before the one of this request. */
  readonly order: number
  readonly deadline: UnixMs
}

type Limited = ChainFailure & { readonly kind: 'limited' }

/** Why a request is not sent. `limited`: an allowance of the day has no room. `late`: before the deadline no second has room, or no connection becomes free. */
export type NoTurn = Limited | { readonly kind: 'late'; readonly seconds: number }

export interface Turns {
  /**
   * Resolves when the request is to be sent: its node has room in this second, and a connection is free. Both are taken at that moment, and neither is held
   * before. The returned function gives the connection back.
   */
  begin(request: Request): Promise<Result<() => void, NoTurn>>
}

interface Waiting extends Request {
  readonly start: (turn: Result<() => void, NoTurn>) => void
}

/**
 * Makes the order of requests. Ticks come first, then payouts, then the piece of work that began first. So one piece of work is finished before the next one
 * takes time.
 */
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
    clock.sleep(ms, until).then(work, () => undefined) // `sleep` never rejects
  }
  /** Starts every request that can start, and runs again when the next node has room. */
  const advance = () => {
    pause.abort(null) // without a reason, so that no exception with a stack is made
    pause = new AbortController()
    const now = clock.now()
    const full = new Set<string>()
    let next = Number.POSITIVE_INFINITY
    for (const request of [...waiting].sort(byOrder)) {
      const kind = kindOf(request)
      const part = `${request.number} ${kind}`
      if (full.has(part) || !isOpen(kind)) continue
      const taken = allowance.take(request.number, request.quota, request.sent)
      if (taken.ok && taken.value > now) {
        full.add(part)
        next = Math.min(next, taken.value)
      } else request.start(taken.ok ? ok(take(kind)) : taken)
    }
    const { signal } = pause
    const isOver = () => signal.aborted || next === Number.POSITIVE_INFINITY
    if (!isOver()) after(next - now, signal, () => (isOver() ? undefined : advance()))
  }
  const msUntil = (request: Request) => {
    const ahead = [...waiting].filter((other) => isSamePart(other, request) && byOrder(other, request) <= 0)
    return allowance.availableAt(request.number, request.quota, ahead.length) - clock.now()
  }
  const late = (ms: number) => err<NoTurn>({ kind: 'late', seconds: Math.max(Math.ceil(ms / 1000), 1) })
  return {
    begin(request) {
      const ms = msUntil(request)
      if (clock.now() + ms >= request.deadline) return Promise.resolve(late(ms))
      return new Promise((resolve) => {
        const timer = new AbortController()
        const start = (turn: Result<() => void, NoTurn>) => {
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

const kindOf = ({ quota }: Request) => (quota.kind === 'tick' ? 'tick' : 'other')
const isSamePart = (a: Request, b: Request) => a.number === b.number && kindOf(a) === kindOf(b)

/** Below 0 if `a` comes first. Equal requests keep their order. */
function byOrder(a: Request, b: Request): number {
  return rankOf(a) - rankOf(b) || a.order - b.order
}

const rankOf = ({ quota: { kind } }: Request) => (kind === 'tick' ? 0 : kind === 'sending' ? 1 : 2)
