import type { Context } from 'hono'
import type { DeciderName, Uid } from '../common/ids.ts'
import type { Invocation } from '../d1/sessions.ts'
import type { ReadContext, WriteContext } from '../ledger/context.ts'
import type { Cell, Services } from '../services.ts'
import type { Backend, Scope } from './auth/authenticate.ts'

/** The rate limit of a user that a request counts against. */
export type RateClass = 'lists' | 'nodes'

/** Hono's environment: the variables that handlers find in their context. */
export interface Env {
  Bindings: {
    /** Those of the cell that the request concerns; of the first one where it concerns none. */
    readonly services: Services
    /** All cells, or the one that the request concerns. */
    readonly cells: readonly Cell[]
  }
  Variables: {
    invocation: Invocation
    /** The user. Set on routes that require a user's token. */
    uid: Uid
    /** The backend. Set on routes for backends, unless a person sends the request. */
    backend: Backend
    /** The backend or person. Set on routes for backends. */
    decider: Decider
  }
}

/** The backend or person that sends a request, with their scopes. */
export interface Decider {
  readonly name: DeciderName
  readonly scopes: readonly string[]
}

/** One request. `req.path` is the path of a route or `noRoute`. */
export type RequestContext = Context<Env>

/** The `req.path` of a request whose path is not that of a route. */
export const noRoute = '/'

/** The name of the route in a log line: its path, or `unknown`, so that the log contains no text from outside. */
export const routeName = ({ req }: RequestContext): string => (req.path === noRoute ? 'unknown' : req.path)

/** One route, for GET and, unless it changes something, for HEAD. */
export interface Route {
  readonly path: `/${string}`
  /** The GET may change something. HEAD must not, so the route has no HEAD. */
  readonly acts?: true
  /** The rate limit for a request with this URL; null for a route that requires no token. */
  readonly rateClass: ((url: string) => RateClass) | null
  readonly handle: (c: RequestContext) => Promise<Response>
}

/** One route for backends. It exists only if a key for their tokens is configured. */
export interface LedgerRoute {
  readonly path: `/ledger/${string}`
  readonly method: 'GET' | 'POST'
  /** See `Route`. */
  readonly acts?: true
  /** The scopes of which the token must have one, for a request with this URL. */
  readonly scope: (url: string) => Scope | readonly Scope[]
  /** Whether the route exists only if payouts are configured. */
  readonly isOfPayouts?: true
  /** Whether a person at the desk may use it, too. All GET routes allow that. */
  readonly isForPeople?: true
  readonly handle: (c: RequestContext) => Promise<Response>
}

/** Reads for the request. */
export function reading<T>(c: RequestContext, work: (context: ReadContext) => Promise<T>): Promise<T> {
  return c.env.services.read(c.get('invocation'), work)
}

/** Reads and writes for the request. */
export function writing<T>(c: RequestContext, work: (context: WriteContext) => Promise<T>): Promise<T> {
  return c.env.services.write(c.get('invocation'), work)
}
