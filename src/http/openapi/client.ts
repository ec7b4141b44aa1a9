import type { Hono } from 'hono'
import type * as z from 'zod/mini'
import type { operations } from './operations.ts'

type Operations = typeof operations

/**
 * The type of the routes for Hono's client (`hc`): the query of each, and its responses by status. It is made of the
 * schemas that the routes parse with and that tests check every response against.
 */
export type AppType = Hono<object, { [Path in keyof Operations]: { $get: Endpoint<Operations[Path]> } }, '/'>

type Endpoint<Op extends Operations[keyof Operations]> =
  | EndpointOf<Op, z.output<Op['success']>, 200>
  | EndpointOf<Op, z.output<Op['failure']>, Op['failures'][number]['status']>

type EndpointOf<Op extends Operations[keyof Operations], Body, Status> = {
  input: { query?: z.input<Op['query']>; header?: { 'x-d1-bookmark'?: string } }
  output: Body
  outputFormat: 'json'
  status: Status
}
