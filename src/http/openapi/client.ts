import type { Hono } from 'hono'
import type * as z from 'zod/mini'
import type { operations, postOperations } from './operations.ts'

type Operations = typeof operations
type PostOperations = typeof postOperations
type AnyOperation = Operations[keyof Operations] | PostOperations[keyof PostOperations]

/**
 * The type of the routes for Hono's client (`hc`): the query or body of each, and its responses by status. It is made of
 * the schemas that the routes parse with and that tests check every response against.
 */
export type AppType = Hono<
  object,
  { [Path in keyof Operations]: { $get: RouteEndpoint<Operations[Path], GetInput<Operations[Path]>> } } & {
    [Path in keyof PostOperations]: { $post: RouteEndpoint<PostOperations[Path], PostInput<PostOperations[Path]>> }
  },
  '/'
>

type RouteEndpoint<Op extends AnyOperation, Input> =
  | EndpointOf<Input, z.output<Op['success']>, 200>
  | EndpointOf<Input, z.output<Op['failure']>, Op['failures'][number]['status']>

type EndpointOf<Input, Body, Status> = { input: Input; output: Body; outputFormat: 'json'; status: Status }

type Headers = { header?: { 'x-d1-bookmark'?: string } }

/** The query is required where one of its parameters is. */
type GetInput<Op extends AnyOperation> = Headers &
  (Record<never, never> extends z.input<Op['query']>
    ? { query?: z.input<Op['query']> }
    : { query: z.input<Op['query']> })

type PostInput<Op extends { readonly body: z.ZodMiniType }> = Headers & { json: z.input<Op['body']> }
