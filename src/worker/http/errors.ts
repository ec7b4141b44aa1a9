import type { ChoiceFailure } from '../cells/choose.ts'
import type { Reason } from '../common/reasons.ts'
import type { QueryFailure } from '../common/result.ts'
import type { DecideFailure } from '../deposits/decide.ts'
import type { PostFailure } from '../ledger/post-entries.ts'
import type { OrderFailure } from '../orders/failure.ts'
import { headRetrySeconds, type PayoutFailure } from '../payouts/failure.ts'
import type { PersonFailure } from './auth/access-assertion.ts'
import type { AuthFailure, Scope } from './auth/authenticate.ts'
import { tokenFaults } from './auth/token-fault.ts'

/**
 * A failure as a client sees it: one sentence, never a stack, SQL, the URL of a node or a secret.
 */
export type Problem = PlainProblem | ReasonedProblem

interface Sentence {
  readonly msg: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A failure whose HTTP status alone tells a program the cause, so that it needs no `reason`. */
export interface PlainProblem extends Sentence {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 414 | 415 | 500
}

/**
 * A failure whose HTTP status has several possible causes. `reason` names the cause, and is sent as
 * `x-reason`.
 */
export interface ReasonedProblem extends Sentence {
  readonly status: 409 | 422 | 429 | 503
  readonly reason: Reason
}

export const reasonHeader = 'x-reason'

/**
 * The longest URL that is accepted, in characters. A URL with every parameter at its longest is
 * less than half as long.
 */
export const urlCharsMax = 2048
/**
 * `Retry-After` of a rate limit, in seconds: the period of the limiters in wrangler.toml, which is
 * the longest possible wait.
 */
export const rateRetrySeconds = 60
/** `Retry-After` if no node gave a usable response, in seconds. */
export const chainRetrySeconds = 5
/**
 * `Retry-After` in seconds, if the nodes' answers are so late that nobody can say when a
 * transaction will be final.
 */
const lateRetrySeconds = 15
/** `Retry-After` while another version of the service is being deployed, in seconds. */
const deploymentRetrySeconds = 15
/** `Retry-After` if the keys of token issuers could not be fetched, in seconds. */
export const keysRetrySeconds = 5
/**
 * `Retry-After` while the database is away, in seconds. Resets of D1 are reported to last 60 to 80
 * s.
 */
const databaseRetrySeconds = 10

export const unknownPath: Problem = {
  status: 404,
  msg: 'no such path here: /docs lists all paths, and what a deployment needs for some of them',
}
export const urlTooLong: Problem = { status: 414, msg: `the URL is longer than ${urlCharsMax} characters` }
export const tooManyRequests: ReasonedProblem = retryable(
  429,
  'rate-limit',
  `too many requests; try again in ${rateRetrySeconds} s`,
  rateRetrySeconds,
)
/** An exception: a bug. The log has its text, under the id of the request. */
export const crashed: Problem = { status: 500, msg: 'internal error' }
/** The configuration is wrong, or there is no key to verify tokens with. The log has the faults. */
export const notConfigured = {
  status: 503,
  reason: 'not-configured',
  msg: 'the service is not configured',
} as const satisfies ReasonedProblem
/** The configuration does not belong to the stored data. An alarm names the setting. */
export const configurationDiffers = {
  ...notConfigured,
  reason: 'configuration-differs',
} as const satisfies ReasonedProblem

/**
 * The database, or the scanner's object, does not answer for now. What the request was to store may
 * be stored.
 */
export const databaseUnavailable = retryable(
  503,
  'database-unavailable',
  'the database does not answer for now; try again later',
  databaseRetrySeconds,
)

/**
 * An exception in the part of a request that is about one of several cells. `cause` is what was
 * thrown.
 */
export class CellError extends Error {
  readonly cell: number

  constructor(cell: number, cause: unknown) {
    super(`cell ${cell}`, { cause })
    this.cell = cell
  }
}

/**
 * The problem of a request during which the database was away. If the request is about all cells,
 * the sentence names the cell.
 */
export function toAwayProblem(thrown: unknown): ReasonedProblem {
  return thrown instanceof CellError ? inCell(thrown.cell, databaseUnavailable) : databaseUnavailable
}

/**
 * The problem of a request about all cells, because of one of them. `cell` is null if there is only
 * one.
 */
export function inCell(cell: number | null, problem: ReasonedProblem): ReasonedProblem {
  return cell === null ? problem : { ...problem, msg: `cell ${cell}: ${problem.msg}` }
}

const keysUnavailable: ReasonedProblem = retryable(
  503,
  'keys-unavailable',
  'token signing keys could not be fetched; try again later',
  keysRetrySeconds,
)

/**
 * The longest body that is accepted, in bytes. Twenty entries with every member at its longest take
 * less than half as many.
 */
export const bodyBytesMax = 65_536

export const wrongMediaType: Problem = { status: 415, msg: 'the content-type must be application/json' }
/** The body was too long, so it was not read to its end. */
export const bodyTooLarge: Problem = { status: 413, msg: `the body is larger than ${bodyBytesMax} bytes` }
/** The body is not JSON, or not in UTF-8. */
export const brokenBody: Problem = { status: 400, msg: 'the body is not valid JSON' }
export const encodedBody: Problem = { status: 415, msg: 'the body must not have a content-encoding' }
/**
 * The client has disconnected before it sent the whole body. The connection is gone, so nobody
 * reads this answer.
 */
export const bodyCutOff: Problem = { status: 400, msg: 'the body ended early' }
/**
 * The body nests objects and lists deeper than `bodyDepthMax` (`body.ts`), or so deep that the
 * parser fails.
 */
export const bodyTooDeep: Problem = { status: 400, msg: 'the body is nested deeper than a valid one' }
/**
 * An object of the body has a member twice. It is refused, because JSON parsers disagree about
 * which of both counts.
 */
export const memberTwice: Problem = { status: 400, msg: 'an object of the body has two members of the same name' }
/** The problem of a JSON body that is not an object with the one member `name`. */
export const wrongBody = (name: string): Problem => {
  return { status: 400, msg: `the body must be an object with ${name}, and nothing else` }
}

/**
 * The problem of a request with a method that its path does not have. The sentence leaves out
 * OPTIONS, which only browsers send.
 */
export function wrongMethod(allowed: readonly Method[]): PlainProblem {
  const named = allowed.filter((method) => method !== 'OPTIONS')
  const list = named.length < 2 ? named.join() : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`
  return { status: 405, msg: `method not allowed; use ${list}`, headers: { allow: allowed.join(', ') } }
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'OPTIONS'

/** The problem of a backend or person that is known, but has none of these scopes. */
export function missingScope(scopes: readonly Scope[]): Problem {
  return { status: 403, msg: `the scope of the token must include ${scopes.join(' or ')}` }
}

/**
 * The problem of a person's POST to a route without `isForPeople`. People sign in at Cloudflare
 * Access, and may only approve, cancel and decide.
 */
export const onlyBackends: Problem = { status: 403, msg: 'only a backend with a token can ask for this' }

/**
 * The problem of a refused post of entries. The sentence names the entry at fault by its number in
 * the post, from 1.
 */
export function toPostProblem(failure: PostFailure): Problem {
  const prefix = failure.entry === undefined ? '' : `entry ${failure.entry}: `
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${prefix}${failure.member}: ${failure.why}` }
    case 'conflict':
      return { status: 409, reason: failure.reason, msg: `${prefix}${failure.why}` }
    case 'insufficient':
    case 'wallet-full':
      return { status: 422, reason: failure.reason, msg: `${prefix}${failure.why}` }
  }
}

const placeOf = ({ payout }: { readonly payout?: number }) => (payout === undefined ? '' : `payout ${payout}: `)

/**
 * The problem of a request about payouts that is well-formed but refused: 409 or 422, with the
 * reason.
 */
function toPayoutRefusal(failure: Extract<PayoutFailure, { kind: 'conflict' | 'refused' }>): ReasonedProblem {
  const { kind, reason, why } = failure
  if (reason === 'no-final-block') return retryable(409, reason, placeOf(failure) + why, headRetrySeconds)
  return { status: kind === 'conflict' ? 409 : 422, reason, msg: placeOf(failure) + why }
}

/** The problem of any refused request about payouts, malformed ones included. */
export function toPayoutProblem(failure: PayoutFailure): Problem {
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${placeOf(failure)}${failure.member}: ${failure.why}` }
    case 'conflict':
    case 'refused':
      return toPayoutRefusal(failure)
    case 'unknown-payout':
      return { status: 404, msg: failure.why }
    case 'forbidden':
      return { status: 403, msg: failure.why }
  }
}

/**
 * The problem of a refused request about orders. The sentence names the order at fault by its
 * number in the request, from 1.
 */
export function toOrderProblem(failure: OrderFailure): Problem {
  const prefix = 'order' in failure && failure.order !== undefined ? `order ${failure.order}: ` : ''
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${prefix}${failure.member}: ${failure.why}` }
    case 'conflict':
      return { status: 409, reason: failure.reason, msg: `${prefix}${failure.why}` }
    case 'unknown-order':
      return { status: 404, msg: `${prefix}${failure.why}` }
    default:
      return toReasonedProblem(failure)
  }
}

/**
 * The problem of a request for which no cell can be chosen: its `cell` is missing or wrong, or its
 * users are in several cells.
 */
export function toCellProblem({ kind, why }: ChoiceFailure): Problem {
  return kind === 'bad-input' ? { status: 400, msg: `cell: ${why}` } : inSeveralCells(why)
}

/** The problem of a request about users who are not all in the cell that answers. */
const inSeveralCells = (msg: string): ReasonedProblem => ({ status: 422, reason: 'other-cell', msg })

/**
 * The problem of refused decisions about deposits in review. The sentence names the deposit at
 * fault by its number in the request, from 1.
 */
export function toDecideProblem(failure: DecideFailure): Problem {
  const prefix = failure.deposit === undefined ? '' : `deposit ${failure.deposit}: `
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${prefix}${failure.member}: ${failure.why}` }
    case 'not-found':
      return { status: 404, msg: `${prefix}${failure.why}` }
    case 'conflict':
      return { status: 409, reason: failure.reason, msg: `${prefix}${failure.why}` }
  }
}

/**
 * The reason and the sentence for each allowance of requests to nodes that can be used up. The
 * sentence says what this means for deposits.
 */
const usedUp = {
  nodes: [
    'node-allowance',
    'the requests that the Tron nodes allow are used up; deposits are credited when there is room again',
  ],
  callers: [
    'shared-allowance',
    'the requests to Tron nodes for all callers are used up; deposits are credited without asking',
  ],
  caller: [
    'own-allowance',
    'your share of the requests to Tron nodes is used up; your deposits are credited without asking',
  ],
} as const satisfies Record<Extract<QueryFailure, { kind: 'limited' }>['whose'], readonly [Reason, string]>

/** The failures of a query that have a `reason`: all except bad input and unknown things. */
export type ReasonedFailure = Exclude<QueryFailure, { readonly kind: 'bad-input' | 'not-found' }>

/**
 * The part of a sentence that replaces the seconds until a transaction is final, if nobody can
 * estimate them.
 */
export const finalityLate = 'the answers of the network are late, so nobody can say when it is'

const cannotIssue = 'no address can be issued until an operator has corrected the configuration'
const deploying = retryable(
  503,
  'deploying',
  'the service is being deployed, so no address can be issued; try again later',
  deploymentRetrySeconds,
)
const issuingOff: ReasonedProblem = {
  status: 503,
  reason: 'issuing-off',
  msg: 'no new address is issued for now; addresses that were issued before stay valid',
}
const nodesUnavailable = retryable(
  503,
  'nodes-unavailable',
  'no Tron node gave a usable response; try again later',
  chainRetrySeconds,
)

/** The status, sentence and, if there is one, reason of a query that failed. */
export function toProblem(failure: QueryFailure): Problem {
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${failure.field}: ${failure.why}` }
    case 'not-found':
      return { status: 404, msg: `no such ${failure.what}` }
    default:
      return toReasonedProblem(failure)
  }
}

/**
 * As `toProblem`, but only for failures with a reason, so that the caller need not ask whether
 * there is one.
 */
export function toReasonedProblem(failure: ReasonedFailure): ReasonedProblem {
  switch (failure.kind) {
    case 'gap-limit': {
      const msg = `${failure.limit} addresses have no deposit yet; use one of them first`
      return { status: 409, reason: 'gap-limit', msg }
    }
    case 'not-final':
      return notFinal(failure.seconds)
    case 'undecided':
      return { status: 409, reason: failure.reason, msg: failure.why }
    case 'worthless':
      return { status: 422, reason: failure.reason, msg: failure.why }
    case 'cannot-issue':
      return failure.reason === 'deploying' ? deploying : { status: 503, reason: failure.reason, msg: cannotIssue }
    case 'issuing-off':
      return issuingOff
    case 'limited': {
      const [reason, msg] = usedUp[failure.whose]
      return retryable(429, reason, `${msg}; try again in about ${Math.ceil(failure.seconds)} s`, failure.seconds)
    }
    case 'chain-unavailable':
      return nodesUnavailable
  }
}

function notFinal(seconds: number | null): ReasonedProblem {
  return seconds === null
    ? retryable(409, 'finality-late', `found, not final yet: ${finalityLate}`, lateRetrySeconds)
    : retryable(409, 'not-final', `found, not final yet; try again in about ${seconds} s`, seconds)
}

/**
 * The problem of a request that is not authenticated. Every invalid token gets the same `msg`;
 * `WWW-Authenticate` says more if its signature is valid.
 */
export function toAuthProblem(failure: AuthFailure): Problem {
  if (typeof failure === 'object') {
    const { fault } = failure
    return unauthorized(`Bearer error="invalid_token", error_description="${tokenFaults[fault]}"`)
  }
  switch (failure) {
    case 'unauthorized':
      return unauthorized('Bearer')
    case 'no-key':
      return notConfigured
    case 'keys-unavailable':
      return keysUnavailable
  }
}

/** The problem of a person whom Cloudflare Access or `DESK_ACCESS` does not let in. */
export function toPersonProblem(failure: PersonFailure): Problem {
  switch (failure) {
    case 'not-listed':
      return { status: 403, msg: 'nobody of this e-mail address may use the desk: it is not in DESK_ACCESS' }
    case 'not-own-page':
      return { status: 403, msg: 'a person acts on a page of this service only' }
    default:
      return toAuthProblem(failure)
  }
}

const unauthorized = (challenge: string): PlainProblem => {
  return { status: 401, msg: 'a valid bearer token is required', headers: { 'www-authenticate': challenge } }
}

function retryable(status: ReasonedProblem['status'], reason: Reason, msg: string, seconds: number): ReasonedProblem {
  return { status, reason, msg, headers: { 'retry-after': Math.max(1, Math.ceil(seconds)).toString() } }
}
