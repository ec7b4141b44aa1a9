import type { QueryFailure } from '../common/result.ts'
import type { DecideFailure } from '../deposits/decide.ts'
import type { PostFailure } from '../ledger/post-entries.ts'
import type { AuthFailure, Scope } from './auth/authenticate.ts'

/** A failure as a caller sees it: one sentence, never a stack, SQL, the URL of a node or a secret. */
export interface Problem {
  readonly status: number
  readonly msg: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Longest URL that is read, in characters: a URL with every parameter at its longest has less than half as many. */
export const urlCharsMax = 2048
/** `Retry-After` over a rate limit: the period of the limiters in wrangler.toml, which is the longest possible wait. */
export const rateRetrySeconds = 60
/** `Retry-After` where no node gave a usable response. */
export const chainRetrySeconds = 5
/** `Retry-After` if nobody knows when a transaction is final. */
const lateRetrySeconds = 15
/** `Retry-After` where the token signing keys could not be fetched. */
export const keysRetrySeconds = 5

/** No route has this path. */
export const unknownPath: Problem = { status: 404, msg: 'no such path' }
/** The URL is not read at all. */
export const urlTooLong: Problem = { status: 414, msg: `the URL is longer than ${urlCharsMax} characters` }
/** The caller is over its rate limit. */
export const tooManyRequests: Problem = retryable(
  429,
  `too many requests; try again in ${rateRetrySeconds} s`,
  rateRetrySeconds,
)
/** A bug. The log has its text, under the id of the request. */
export const crashed: Problem = { status: 500, msg: 'internal error' }
/** The configuration is wrong. The log has the faults. */
export const notConfigured: Problem = { status: 503, msg: 'the service is not configured' }

/** Longest body that is read, in bytes: twenty entries with everything at its longest have less than half as many. */
export const bodyBytesMax = 65_536

/** The body is not JSON by its `content-type`. */
export const wrongMediaType: Problem = { status: 415, msg: 'the content-type must be application/json' }
/** The body is not read to its end. */
export const bodyTooLarge: Problem = { status: 413, msg: `the body is larger than ${bodyBytesMax} bytes` }
/** The body is not JSON, or not in UTF-8. */
export const brokenBody: Problem = { status: 400, msg: 'the body is not valid JSON' }
/** The body is another JSON value. */
export const wrongBody = (name: string): Problem => {
  return { status: 400, msg: `the body must be an object with ${name}, and nothing else` }
}

/** The path is that of a route, and the method is not one of `allow`. `methods` lists them for people. */
export function wrongMethod(allow: string, methods = 'GET or HEAD'): Problem {
  return { status: 405, msg: `method not allowed; use ${methods}`, headers: { allow } }
}

/** The token of a backend is valid and does not allow this. */
export function missingScope(scope: Scope): Problem {
  return { status: 403, msg: `the scope of the token must include ${scope}` }
}

/** The response to a post that is refused. */
export function toPostProblem(failure: PostFailure): Problem {
  const place = failure.entry === undefined ? '' : `entry ${failure.entry}: `
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${place}${failure.member}: ${failure.why}` }
    case 'conflict':
      return { status: 409, msg: `${place}${failure.why}` }
    case 'insufficient':
    case 'wallet-full':
      return { status: 422, msg: `${place}${failure.why}` }
  }
}

/** The response to decisions that are refused. */
export function toDecideProblem(failure: DecideFailure): Problem {
  const place = failure.deposit === undefined ? '' : `deposit ${failure.deposit}: `
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${place}${failure.member}: ${failure.why}` }
    case 'not-found':
      return { status: 404, msg: `${place}${failure.why}` }
    case 'conflict':
      return { status: 409, msg: `${place}${failure.why}` }
  }
}

/** Whose allowance of requests to nodes is used up, and what that means for deposits. */
const usedUp: Readonly<Record<Extract<QueryFailure, { kind: 'limited' }>['whose'], string>> = {
  nodes: 'the requests that the Tron nodes allow are used up; deposits are credited when there is room again',
  callers: 'the requests to Tron nodes for all callers are used up; deposits are credited without asking',
  caller: 'your share of the requests to Tron nodes is used up; your deposits are credited without asking',
}

/** What stands in place of the seconds until something is final, if nobody knows them. */
export const finalityLate = 'the answers of the network are late, so nobody can say when it is'

/** The response to a query that a use case refuses. */
export function toProblem(failure: QueryFailure): Problem {
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${failure.field}: ${failure.why}` }
    case 'not-found':
      return { status: 404, msg: `no such ${failure.what}` }
    case 'gap-limit':
      return { status: 409, msg: `${failure.limit} addresses have no deposit yet; use one of them first` }
    case 'not-final':
      return failure.seconds === null
        ? retryable(409, `found, not final yet: ${finalityLate}`, lateRetrySeconds)
        : retryable(409, `found, not final yet; try again in about ${failure.seconds} s`, failure.seconds)
    case 'undecided':
      return { status: 409, msg: failure.why }
    case 'worthless':
      return { status: 422, msg: failure.why }
    case 'cannot-issue':
      return { status: 503, msg: 'no address can be issued until an operator has corrected the configuration' }
    case 'issuing-off':
      return { status: 503, msg: 'no new address is issued for now; addresses that were issued before stay valid' }
    case 'limited':
      return retryable(
        429,
        `${usedUp[failure.whose]}; try again in about ${Math.ceil(failure.seconds)} s`,
        failure.seconds,
      )
    case 'chain-unavailable':
      return retryable(503, 'no Tron node gave a usable response; try again later', chainRetrySeconds)
  }
}

/** The response to a request that is not authenticated. One text for every kind of wrong token. */
export function toAuthProblem(failure: AuthFailure): Problem {
  switch (failure) {
    case 'unauthorized':
      return { status: 401, msg: 'a valid bearer token is required', headers: { 'www-authenticate': 'Bearer' } }
    case 'no-key':
      return notConfigured
    case 'keys-unavailable':
      return retryable(503, 'token signing keys could not be fetched; try again later', keysRetrySeconds)
  }
}

function retryable(status: number, msg: string, seconds: number): Problem {
  return { status, msg, headers: { 'retry-after': Math.max(1, Math.ceil(seconds)).toString() } }
}
