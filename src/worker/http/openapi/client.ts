import type { Hono } from 'hono'
import type { ClientErrorStatusCode, ServerErrorStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod/mini'
import type { failureBody } from '../../schemas/parts.ts'
import type { operations } from '../routes.ts'
import type { Operation } from './docs.ts'

/**
 * The type of the routes for Hono's client (`hc`): query or body of each, and the bodies of success
 * and failures. It is derived from the schemas with which routes parse and tests check every
 * response.
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

type Operations = ReturnType<typeof operations>
type EndpointsOf<Op> = Op extends Operation
  ?
      | EndpointOf<Op, z.output<Op['success']>, 200>
      | EndpointOf<Op, FailureOf<Op>, ClientErrorStatusCode | ServerErrorStatusCode>
  : never

type FailureOf<Op> = z.output<Op extends { failure: z.ZodMiniType } ? Op['failure'] : ReturnType<typeof failureBody>>

type EndpointOf<Op, Body, Status> = { input: InputOf<Op>; output: Body; outputFormat: 'json'; status: Status }

/**
 * What the client sends: the JSON body of a POST, or a query, which it may leave out if no
 * parameter is required.
 */
type InputOf<Op> = { header?: { 'x-d1-bookmark'?: string } } & (Op extends { body: z.ZodMiniType }
  ? { json: z.input<Op['body']> }
  : Op extends { query: z.ZodMiniType }
    ? Record<never, never> extends z.input<Op['query']>
      ? { query?: z.input<Op['query']> }
      : { query: z.input<Op['query']> }
    : object)
