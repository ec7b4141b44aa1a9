import type { Context } from 'hono'
import type { DeciderName, Uid } from '../common/ids.ts'
import type { Result } from '../common/result.ts'
import type { Invocation } from '../d1/sessions.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { Cell, FollowUp, RequestWriteContext, Services } from '../services.ts'
import type { Backend, Scope } from './auth/authenticate.ts'

/**
 * Which of a user's two rate limits a request counts against: `nodes` if it can cost requests to
 * Tron nodes, else `lists`.
 */
export type RateClass = 'lists' | 'nodes'

/** What handlers find in Hono's context: `c.env` (`Bindings`) and `c.get(…)` (`Variables`). */
export interface Env {
  Bindings: {
    /**
     * The parts of the cell (one database with its users) that the request concerns; of the first
     * cell if it concerns none.
     */
    readonly services: Services
    /**
     * Every cell of the deployment; only the request's own cell once `middleware/cells.ts` has
     * chosen it.
     */
    readonly cells: readonly Cell[]
  }
  Variables: {
    invocation: Invocation
    /** The user whom the token names. Set on routes that require a user's token. */
    uid: Uid
    /**
     * The backend that sends the request. Set on `/ledger/*`, unless a person at the desk sends it.
     */
    backend: Backend
    /** The backend or person that sends the request. Set on `/ledger/*`. */
    decider: Decider
  }
}

/**
 * Who sends a request to `/ledger/*`. The name is stored with whatever they approve, cancel or
 * decide; the scopes are their rights.
 */
export interface Decider {
  readonly name: DeciderName
  readonly scopes: readonly string[]
}

/** Hono's context of one request. Its `req.path` is the path of a route, or `noRoute`. */
export type RequestContext = Context<Env>

/** The `req.path` of a request whose path is not that of a route. */
export const noRoute = '/'

/**
 * The name of the route in a log line: its path, or `unknown`, so that the log contains no text
 * from outside.
 */
export const routeName = ({ req }: RequestContext): string => (req.path === noRoute ? 'unknown' : req.path)

/** One route for users or monitoring. It answers GET and, unless `acts` is set, HEAD. */
export interface Route {
  readonly path: `/${string}`
  /** The GET may change something. HEAD must not, so the route has no HEAD. */
  readonly acts?: true
  /** The rate limit for a request with this URL; null for a route that requires no token. */
  readonly rateClass: ((url: string) => RateClass) | null
  readonly handle: (c: RequestContext) => Promise<Response>
}

/**
 * One route for backends and people at the desk. It exists only if a key for backends' tokens or
 * `DESK_ACCESS` is configured.
 */
export interface LedgerRoute {
  readonly path: `/ledger/${string}`
  readonly method: 'GET' | 'POST'
  /** The GET may change something, so the route has no HEAD. */
  readonly acts?: true
  /**
   * Where a request names its users, by whom its cell is chosen if there are several: in the
   * parameter `uid`, or in the items of this member of its body. Null if it names none; then its
   * parameter `cell` chooses.
   */
  readonly usersIn: 'uid' | 'entries' | 'payouts' | 'orders' | null
  /** The scopes for a request with this URL. Its sender must have one of them. */
  readonly scope: (url: string) => Scope | readonly Scope[]
  /** The route exists only if payouts are configured (`PAYOUTS`). */
  readonly isOfPayouts?: true
  /** People at the desk may use this POST route, too. GET routes allow that without this member. */
  readonly isForPeople?: true
  readonly handle: (c: RequestContext) => Promise<Response>
}

/**
 * Runs `work`, which can only read, in the request's cell, on a copy of the database that is at
 * least as new as the request's bookmark.
 */
export function reading<T>(c: RequestContext, work: (context: ReadContext) => Promise<T>): Promise<T> {
  return c.env.services.read(c.get('invocation'), work)
}

/**
 * Runs `work`, which may write, in the request's cell, on the primary database, and then the
 * follow-up if `work` has succeeded.
 */
export function writing<T, E>(
  c: RequestContext,
  followUp: FollowUp,
  work: (context: RequestWriteContext) => Promise<Result<T, E>>,
): Promise<Result<T, E>> {
  return c.env.services.write(c.get('invocation'), followUp, work)
}
