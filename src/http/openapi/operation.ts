import * as z from 'zod/mini'
import { successMsg } from '../envelope.ts'

/** The state of the service and of the chain before an example. The test that replays the examples sets each one up. */
export type Situation =
  | 'a new caller'
  | 'no token'
  | 'a token without a scope'
  | 'an address'
  | 'twenty addresses without a deposit'
  | 'two deposits, not scanned yet'
  | 'two deposits, credited'
  | 'two deposits that are not final'
  | 'a failed transaction'
  | 'nodes that disagree'
  | 'nodes that do not respond'
  | 'an address and nodes that do not respond'
  | 'token signing keys that cannot be fetched'
  | 'no configuration'
  | 'no database'
  | 'a rate limit that is reached'
  | 'no scan for four minutes'
  | 'two deposits and a payment'

/** A request and the body of its response. */
export interface Example<Body> {
  /** For people. */
  readonly name: string
  readonly given: Situation
  /** With its question mark, or empty. */
  readonly query: string
  /** The body of the request, for POST; JSON unless it is text. */
  readonly request?: unknown
  readonly body: Body
}

/** A way to fail. */
export interface Failure<Status extends number = number> {
  readonly status: Status
  /** One or more words with hyphens: the name of the example. */
  readonly name: string
  readonly cause: string
  readonly cure: string
  /** Headers in addition to those of every response. */
  readonly headers?: Readonly<Partial<Record<'retry-after' | 'www-authenticate', string>>>
  readonly given: Situation
  /** As in an example; empty where it is absent. */
  readonly query?: string
  readonly request?: unknown
  /** Headers of the request in addition to its token. */
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly msg: string
  /** Only the health check has data in a failure. */
  readonly data?: Readonly<Record<string, string | number>>
}

/** The documentation of a parameter. Its schema is that of the route. */
export interface ParameterNote {
  readonly description: string
  readonly example: string | number
}

type Query = z.ZodMiniObject<Record<string, z.ZodMiniType>>

/** The documentation of a route. `query` is the schema that the route parses with. */
export interface Operation<
  Q extends Query = Query,
  Success extends z.ZodMiniType = z.ZodMiniType,
  Refused extends z.ZodMiniType = z.ZodMiniType,
  Status = number,
  Body extends z.ZodMiniType | undefined = z.ZodMiniType | undefined,
> {
  readonly id: string
  readonly tag: 'Tron' | 'Wallet' | 'Ledger' | 'Service'
  readonly summary: string
  readonly description: string
  readonly query: Q
  readonly parameters: { readonly [Name in keyof Q['shape']]: ParameterNote }
  /** The body of the request, for POST. */
  readonly body: Body
  /** The whole body of a success. */
  readonly success: Success
  /** The whole body of a failure. */
  readonly failure: Refused
  readonly examples: readonly [Example<z.output<Success>>, ...Example<z.output<Success>>[]]
  readonly failures: readonly Failure<Status & number>[]
}

/** Infers the types of an operation, so that a missing parameter note or a wrong example does not compile. */
export function operation<
  const Q extends Query,
  Success extends z.ZodMiniType,
  Refused extends z.ZodMiniType,
  const Status extends number,
>(described: Omit<Operation<Q, Success, Refused, Status>, 'body'>): Operation<Q, Success, Refused, Status, undefined> {
  return { ...described, body: undefined }
}

/** The same for POST, which has a body and no parameters. */
export function postOperation<
  Body extends z.ZodMiniType,
  Success extends z.ZodMiniType,
  Refused extends z.ZodMiniType,
  const Status extends number,
>(
  described: Omit<Operation<typeof noQuery, Success, Refused, Status, Body>, 'query' | 'parameters'>,
): Operation<typeof noQuery, Success, Refused, Status, Body> {
  return { ...described, query: noQuery, parameters: {} }
}

const noQuery = z.object({})

/** An example of a success with data, and with a note in `msg` where there is one. */
export function dataExample<Data>(
  name: string,
  given: Situation,
  query: string,
  data: Data,
  note?: string,
): Example<{ code: 200; msg: string; data: Data }> {
  return { name, given, query, body: { code: 200, msg: successMsg(note), data } }
}

/** An example of a POST request, and the data of its success. */
export function postExample<Data>(
  name: string,
  given: Situation,
  request: unknown,
  data: Data,
): Example<{ code: 200; msg: string; data: Data }> {
  return { ...dataExample(name, given, '', data), request }
}

/** An example of a success with a note alone. */
export function noteExample(
  name: string,
  given: Situation,
  query: string,
  note: string,
): Example<{ code: 200; msg: string }> {
  return { name, given, query, body: { code: 200, msg: successMsg(note) } }
}
