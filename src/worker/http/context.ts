import type { Context } from 'hono'
import type { DeciderName, Uid } from '../common/ids.ts'
import type { Invocation } from '../d1/sessions.ts'
import type { ReadContext, WriteContext } from '../ledger/context.ts'
import type { Services } from '../services.ts'
import type { Backend, Scope } from './auth/authenticate.ts'

/** Which rate limit of a caller a request counts against. */
export type RateClass = 'lists' | 'nodes'

/** Hono's environment: what handlers find in their context. */
export interface Env {
  Bindings: { readonly services: Services }
  Variables: {
    invocation: Invocation
    /** The caller. Set on the routes that require a token. */
    uid: Uid
    /** The backend. Set on the routes for backends, unless a person asks. */
    backend: Backend
    /** The backend or the person. Set on the routes for backends. */
    decider: Decider
  }
}

/** Who asks at a route for backends, and the scopes that this has. */
export interface Decider {
  readonly name: DeciderName
  readonly scopes: readonly string[]
}

/** One request. `req.path` is the path of a route or `noRoute`. */
export type RequestContext = Context<Env>

/** The `req.path` of a request whose path is not that of a route. */
export const noRoute = '/'

/** The route in a log line: its path, or `unknown`, so that no text from a caller is in the log. */
export const routeName = ({ req }: RequestContext): string => (req.path === noRoute ? 'unknown' : req.path)

/** One route, for GET and, unless it acts, for HEAD. */
export interface Route {
  readonly path: `/${string}`
  /** A GET can change something. HEAD must not, so the route has none. */
  readonly acts?: true
  /** The rate limit of a request with this URL; null for a route that requires no token. */
  readonly rateClass: ((url: string) => RateClass) | null
  readonly handle: (c: RequestContext) => Promise<Response>
}

/** One route for backends. It exists only where a key for their tokens is configured. */
export interface LedgerRoute {
  readonly path: `/ledger/${string}`
  readonly method: 'GET' | 'POST'
  /** As in `Route`. */
  readonly acts?: true
  /** What the token must allow for a request with this URL: one of these. */
  readonly scope: (url: string) => Scope | readonly Scope[]
  /** Whether it exists only where payouts are configured. */
  readonly isOfPayouts?: true
  /** Whether a person at the desk may use it, too: every GET, and a POST that says so. */
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
