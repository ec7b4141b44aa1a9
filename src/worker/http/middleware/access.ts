import type { MiddlewareHandler } from 'hono'
import type { QueryFailure } from '../../common/result.ts'
import type { RateLimits } from '../../config/config.ts'
import type { Logger } from '../../platform/logger.ts'
import { type AuthenticatePerson, hasAssertion } from '../auth/access-assertion.ts'
import type { Authenticate, AuthenticateBackend, Scope } from '../auth/authenticate.ts'
import type { Env, LedgerRoute } from '../context.ts'
import { failure, refusal } from '../envelope.ts'
import { missingScope, onlyBackends, toAuthProblem, tooManyRequests, toPersonProblem } from '../errors.ts'

/**
 * Refuses requests without a valid token of a user. For a request with such a token, sets `uid` to
 * the user.
 */
export function auth(authenticate: Authenticate): MiddlewareHandler<Env> {
  return async (c, next) => {
    const caller = await authenticate(c.req.raw)
    if (!caller.ok) return failure(toAuthProblem(caller.error))
    c.set('uid', caller.value)
    return next()
  }
}

/**
 * Refuses requests without a backend's token that has one of the required scopes. For a request
 * with such a token, sets `backend` and `decider`. If people can sign in, `authenticatePerson`
 * authenticates them, and only `decider` is set: they may use GET routes and those with
 * `isForPeople`.
 */
export function backendAuth(
  authenticate: AuthenticateBackend,
  authenticatePerson: AuthenticatePerson | null,
): (route: Pick<LedgerRoute, 'scope' | 'method' | 'isForPeople'>) => MiddlewareHandler<Env> {
  return ({ scope, method, isForPeople = method === 'GET' }) =>
    async (c, next) => {
      const { raw, url } = c.req
      const isAllowed = (scopes: readonly string[], needed: readonly Scope[]) =>
        needed.some((one) => scopes.includes(one))
      const needed = [scope(url)].flat()
      if (authenticatePerson !== null && hasAssertion(raw)) {
        const person = await authenticatePerson(raw)
        if (!person.ok) return failure(toPersonProblem(person.error))
        if (!isForPeople) return failure(onlyBackends)
        if (!isAllowed(person.value.scopes, needed)) return failure(missingScope(needed))
        c.set('decider', person.value)
        return next()
      }
      const backend = await authenticate(raw)
      if (!backend.ok) return failure(toAuthProblem(backend.error))
      if (!isAllowed(backend.value.scopes, needed)) return failure(missingScope(needed))
      c.set('backend', backend.value)
      c.set('decider', backend.value)
      return next()
    }
}

/**
 * Makes the rate limit of a route. Each user, backend or person is counted separately in each
 * class. If a limiter is missing or fails, every request is allowed, because no promise of the
 * service depends on rate limits.
 */
export function createRateLimit(
  limiters: RateLimits,
  logger: Logger,
): (rateClass: (url: string) => keyof RateLimits) => MiddlewareHandler<Env> {
  for (const [name, limiter] of Object.entries(limiters)) if (limiter === null) logger.warn('no-rate-limit', { name })
  return (rateClass) => async (c, next) => {
    const name = rateClass(c.req.url)
    const key = name === 'ledger' ? c.get('decider').name : String(c.get('uid'))
    try {
      if ((await limiters[name]?.limit({ key }))?.success === false) return failure(tooManyRequests)
    } catch {
      logger.warn('rate-limit-failed', { name })
    }
    return next()
  }
}

/**
 * The header of requests and responses with a bookmark: a position in the history of the database.
 * A request that sends the bookmark of an earlier response is answered from any copy of the
 * database that has reached that position.
 */
export const bookmarkHeader = 'x-d1-bookmark'
/** Longest bookmark that is accepted, in characters. D1's bookmarks have 59. */
export const bookmarkCharsMax = 100
/**
 * Hex digits and hyphens, as in D1's bookmarks. So nobody can send `first-unconstrained`, with
 * which D1 would read any copy, however old.
 */
export const bookmarkForm = /^[0-9a-f]+(-[0-9a-f]+)*$/

/** The failure of a request whose bookmark is too long or does not match `bookmarkForm`. */
const bookmarkRefusal = {
  kind: 'bad-input',
  field: bookmarkHeader,
  why: 'the bookmark of an earlier response, given once',
} as const satisfies QueryFailure

/** Passes the bookmark of the request to the database, and adds the new one to the response. */
export const bookmark: MiddlewareHandler<Env> = async (c, next) => {
  const value = c.req.header(bookmarkHeader) ?? null
  if (value !== null && (value.length > bookmarkCharsMax || !bookmarkForm.test(value))) return refusal(bookmarkRefusal)
  // If the deployment has several databases (cells), a bookmark begins with the number of its cell.
  // A bookmark of another cell is ignored.
  const number = c.env.cells[0]?.number ?? null
  const prefix = number === null ? '' : `${number.toString(16)}-`
  const ofThisCell = value?.startsWith(prefix) ? value.slice(prefix.length) : null
  const invocation = { ...c.get('invocation'), bookmark: ofThisCell }
  c.set('invocation', invocation)
  try {
    return await next()
  } finally {
    if (invocation.bookmarkAfter !== null) c.res.headers.set(bookmarkHeader, prefix + invocation.bookmarkAfter)
  }
}
