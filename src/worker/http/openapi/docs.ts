import type * as z from 'zod/mini'
import type { Reason } from '../../common/reasons.ts'

// Building blocks of the routes' documentation. Only `openapi/` calls functions that use them, so
// the Worker's bundle has none of them (decision note 18).

/**
 * The state of the service and the chain before the request of an example. The test that replays
 * the examples sets up each of these states.
 */
export type Situation =
  | 'a new caller'
  | 'no token'
  | 'a token without a scope'
  | 'a token that only reads'
  | 'an address'
  | 'a reserved address'
  | 'twenty addresses without a deposit'
  | 'no issue of addresses'
  | 'two deposits, not scanned yet'
  | 'two deposits, credited'
  | 'two deposits and a payment'
  | 'a sealed archive'
  | 'a deposit that is held for review'
  | 'a deposit that is held for review, of a sender that is an operator by now'
  | 'a deposit that was looked at'
  | 'two deposits that are not final'
  | 'two deposits that are not final, late'
  | 'a transaction of each kind'
  | 'a deposit that was credited to somebody else'
  | 'nodes that disagree'
  | 'a chain that has forked'
  | 'nodes that do not respond'
  | 'an address and nodes that do not respond'
  | 'no requests to nodes'
  | 'an address and no requests to nodes'
  | 'no requests for callers'
  | 'an address and no requests for callers'
  | 'no requests for this caller'
  | 'an address and no requests for this caller'
  | 'token signing keys that cannot be fetched'
  | 'no configuration'
  | 'a configuration that differs'
  | 'a scanner whose configuration differs'
  | 'a deployment'
  | 'a key that was used'
  | 'a start that is not final'
  | 'no database'
  | 'a database that is away'
  | 'a rate limit that is reached'
  | 'no scan for four minutes'
  | 'three databases'
  | 'a payment by another backend'
  | 'an open order and one that is partly paid'
  | 'as many orders of a user as hold an address'
  | 'a payout that waits and an approved one'
  | 'a cancelled payout'
  | 'a signed payout'
  | 'a stuck payout that has moved money'
  | 'a transaction of the payout address that no payout names'

/**
 * A request of an example, the state before it, and a name for the case that it shows.
 * `examples.json` has its response, as a test has recorded it.
 */
export interface Example {
  readonly name: string
  readonly given: Situation
  /** Including the question mark; empty if there is no query. */
  readonly query?: string
  /** The body of the request, for POST; JSON unless it is text. */
  readonly request?: unknown
  /** The name of the backend that sends the request, if it is not `shop`. */
  readonly by?: string
  /** Headers of the request in addition to its token. */
  readonly requestHeaders?: Readonly<Record<string, string>>
}

/** A request that fails and, for people, the cause and the cure. */
export interface Failure extends Example {
  /** The word in `x-reason`, where the failure has one. */
  readonly reason?: Reason
  readonly cause: string
  readonly cure: string
  /** Every route answers it alike. */
  readonly everywhere?: true
}

/** What the document says about a parameter beside the schema with which the route parses it. */
export interface ParameterNote {
  readonly description: string
  readonly example: string | number
}

/**
 * The documentation of one method of a route. `document.ts` turns it into an operation of OpenAPI.
 */
export interface Operation {
  readonly id: string
  readonly summary: string
  readonly description: string
  /** The schema with which the route parses its query. `parameters` has a note on each member. */
  readonly query?: z.ZodMiniObject<Record<string, z.ZodMiniType>>
  readonly parameters?: Readonly<Record<string, ParameterNote>>
  /** The schema of the request's body. Only a POST has one. */
  readonly body?: z.ZodMiniType
  /** The schema of the whole body of a success, with `code` and `msg`. */
  readonly success: z.ZodMiniType
  /** The beginning of the response as CSV, if a parameter can ask for that. */
  readonly csv?: string
  /** The schema of the whole body of a failure, if it is not `failureBody()`. */
  readonly failure?: z.ZodMiniType
  readonly examples: readonly Example[]
  /** The failures of this route, besides those of every route of its kind. */
  readonly failures: readonly Failure[]
}

/**
 * The transaction of the USDT deposit in the examples. This and all values below match the chain
 * that the test builds when it replays the examples.
 */
export const usdtTxid = '278524e29c4eded92e21d431f395bcbe536c67c3c6375ef7b8dc8ebad3e7e805'
/** The first address of the user in the examples. */
export const depositAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'

/**
 * Describes the values of `cuy`. It does not list them, because the document does not know the
 * currencies of a deployment.
 */
export const cuyExpected = 'One of `/currencies`; any other is a 400 that names them.'

/** The note on `after` of a list whose newest rows come first otherwise. `what` are its rows. */
export const afterNote = (what: string) => ({
  description: `Only ${what} with a larger \`id\`, the oldest first; 0 begins at the oldest. Not allowed with \`before\`.`,
  example: 0,
})

/** The note on `uid`, for the `parameters` of routes that take a user. */
export const uidNote = { uid: { description: 'The user.', example: 7 } }
