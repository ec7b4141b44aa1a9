import type { QueryFailure } from '../common/result.ts'
import type { RawJson } from '../schemas/written.ts'
import { type Problem, reasonHeader, toProblem } from './errors.ts'

/** A value that `JSON.stringify` neither rounds, drops nor refuses. */
export type Json = string | number | boolean | null | RawJson | readonly Json[] | JsonMembers

export interface JsonMembers {
  readonly [name: string]: Json
}

/** A 200 with `data`. A `note` for people follows `success: ` in `msg`. */
export function success(data: JsonMembers, note?: string): Response {
  return envelope(200, successMsg(note), {}, data)
}

/** A 200 without `data`. The `note` for people follows `success: ` in `msg`. */
export function successNote(note: string): Response {
  return envelope(200, successMsg(note), {})
}

/**
 * The response to a failure. Its `reason`, if it has one, is in the header `x-reason`. Only the
 * health check adds data.
 */
export function failure(problem: Problem, data?: JsonMembers): Response {
  const { status, msg, headers } = problem
  return envelope(status, msg, 'reason' in problem ? { ...headers, [reasonHeader]: problem.reason } : headers, data)
}

/** The response to a query that failed: the status and sentence of `toProblem`. */
export function refusal(error: QueryFailure): Response {
  return failure(toProblem(error))
}

/**
 * `{code, msg, data}`, the body of every response; `data` only if there is any. Hono's `c.json`
 * sets headers one by one, which is measurably slower than creating a Response with all of them.
 */
function envelope(status: number, msg: string, headers: Problem['headers'], data?: JsonMembers): Response {
  return new Response(JSON.stringify({ code: status, msg, data }), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

/** The `msg` of a success. */
const successMsg = (note?: string) => (note === undefined ? 'success' : `success: ${note}`)
