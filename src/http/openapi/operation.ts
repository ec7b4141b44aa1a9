import type * as z from 'zod/mini'

/** What the world is like when an example happens. The test that replays them sets each of these up. */
export type Situation =
  | 'a new caller'
  | 'no token'
  | 'an address'
  | 'twenty addresses without a deposit'
  | 'two deposits, not scanned yet'
  | 'two deposits, credited'
  | 'two deposits that are not final'
  | 'a transaction that failed'
  | 'nodes that disagree'
  | 'nodes that do not answer'
  | 'an address, and nodes that do not answer'
  | 'token keys that can not be fetched'
  | 'no configuration'
  | 'no database'
  | 'a rate limit that is reached'
  | 'no scan for four minutes'

/** One request and what is answered to it. */
export interface Example<Body> {
  /** For people. */
  readonly name: string
  readonly given: Situation
  /** With its question mark, or empty. */
  readonly query: string
  readonly body: Body
}

/** A way to fail. */
export interface Failure<Status extends number = number> {
  readonly status: Status
  /** One word or a few, with hyphens: names the example. */
  readonly name: string
  readonly cause: string
  readonly cure: string
  /** Headers beside those that every answer has. */
  readonly headers?: Readonly<Partial<Record<'retry-after' | 'www-authenticate', string>>>
  readonly given: Situation
  readonly query: string
  /** Headers that the request has beside its token. */
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly msg: string
  /** Only the health check fails with data. */
  readonly data?: Readonly<Record<string, string | number>>
}

/** What the document says about a parameter; its schema is the route's own. */
export interface ParameterNote {
  readonly description: string
  readonly example: string | number
}

type Query = z.ZodMiniObject<Record<string, z.ZodMiniOptional>>

/** A route as callers know it. `query` is the schema that the route itself parses with. */
export interface Operation<Q extends Query = Query, Answer extends z.ZodMiniType = z.ZodMiniType, Status = number> {
  readonly id: string
  readonly tag: 'Tron' | 'Wallet' | 'Service'
  readonly summary: string
  readonly description: string
  readonly isPublic: boolean
  readonly query: Q
  readonly parameters: { readonly [Name in keyof Q['shape']]: ParameterNote }
  /** The whole body of a success. */
  readonly answer: Answer
  readonly examples: readonly [Example<z.output<Answer>>, ...Example<z.output<Answer>>[]]
  readonly failures: readonly Failure<Status & number>[]
}

/** Fixes an operation's types, so that a missing parameter note or a wrong example is a build error. */
export function operation<const Q extends Query, Answer extends z.ZodMiniType, const Status extends number>(
  described: Operation<Q, Answer, Status>,
): Operation<Q, Answer, Status> {
  return described
}
