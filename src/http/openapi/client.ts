import type { Hono } from 'hono'
import type * as z from 'zod/mini'
import type { operations } from './operations.ts'
import type { failureAnswer, unhealthyAnswer } from './response-schemas.ts'

type Operations = typeof operations

/**
 * The routes as Hono's client (`hc`) wants to know them: what each takes in its query and what it answers, by status.
 * Made of the schemas that the routes parse with and that the tests hold their answers to.
 */
export type AppType = Hono<object, { [Path in keyof Operations]: { $get: Endpoint<Path> } }, '/'>

type Endpoint<Path extends keyof Operations> =
  | Answered<Path, z.output<Operations[Path]['answer']>, 200>
  | Answered<
      Path,
      z.output<Path extends '/health' ? typeof unhealthyAnswer : typeof failureAnswer>,
      Operations[Path]['failures'][number]['status']
    >

type Answered<Path extends keyof Operations, Body, Status> = {
  input: { query?: z.input<Operations[Path]['query']>; header?: { 'x-d1-bookmark'?: string } }
  output: Body
  outputFormat: 'json'
  status: Status
}
