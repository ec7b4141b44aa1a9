import type { Hono } from 'hono'
import type * as z from 'zod/mini'
import type { Operation } from './docs.ts'
import type { operations } from './operations.ts'

/**
 * The type of the routes for Hono's client (`hc`): the query or body of each, and its responses by status. It is made of
 * the schemas that the routes parse with and that tests check every response against.
 */
export type AppType = Hono<
  object,
  {
    [Path in keyof Operations]: {
      [Method in keyof Operations[Path] & string as `$${Method}`]: EndpointsOf<Operations[Path][Method]>
    }
  },
  '/'
>

type Operations = typeof operations
type EndpointsOf<Op> = Op extends Operation ? RouteEndpoint<Op> : never

type RouteEndpoint<Op extends Operation> =
  | EndpointOf<InputOf<Op>, z.output<Op['success']>, 200>
  | EndpointOf<InputOf<Op>, z.output<Op['failure']>, Op['failures'][number]['status']>

type EndpointOf<Input, Body, Status> = { input: Input; output: Body; outputFormat: 'json'; status: Status }

/** The body of a POST, or a query, which is required where one of its parameters is. */
type InputOf<Op extends Operation> = { header?: { 'x-d1-bookmark'?: string } } & (Op extends { body: z.ZodMiniType }
  ? { json: z.input<Op['body']> }
  : Record<never, never> extends z.input<Op['query']>
    ? { query?: z.input<Op['query']> }
    : { query: z.input<Op['query']> })
