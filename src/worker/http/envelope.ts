import { formatUnits } from '../common/amount.ts'
import type { QueryFailure } from '../common/result.ts'
import { type Problem, reasonHeader, toProblem } from './errors.ts'

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as `text`, digit by digit (TC39, JSON.parse source text access). */
    rawJSON(text: string): RawJson
  }
}

/** A JSON number that is never a double. */
export interface RawJson {
  readonly rawJSON: string
}

/** A value that `JSON.stringify` neither rounds, drops nor refuses. */
export type Json = string | number | boolean | null | RawJson | readonly Json[] | JsonMembers

/** The members of a JSON object. */
export interface JsonMembers {
  readonly [name: string]: Json
}

/** The type of a JSON body as it is written: any number may be exact raw JSON. */
export type Written<T> = T extends number
  ? T | RawJson
  : T extends readonly (infer Item)[]
    ? readonly Written<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Written<T[Name]> }
      : T

/** An integer of smallest units as an exact JSON number of whole units. */
export function jsonAmount(units: bigint, decimals: number): RawJson {
  return JSON.rawJSON(formatUnits(units, decimals))
}

/** Decimal digits as an exact JSON number. */
export function jsonInteger(digits: string): RawJson {
  return JSON.rawJSON(digits)
}

/** A success with data, and optionally a note for people. */
export function success(data: JsonMembers, note?: string): Response {
  return envelope(200, successMsg(note), {}, data)
}

/** A success without data, with a note for people. */
export function successNote(note: string): Response {
  return envelope(200, successMsg(note), {})
}

/** A failure, with its `reason` if it has one. Only the health check adds data. */
export function failure(problem: Problem, data?: JsonMembers): Response {
  const { status, msg, headers } = problem
  return envelope(status, msg, 'reason' in problem ? { ...headers, [reasonHeader]: problem.reason } : headers, data)
}

/** The response to a failed query. */
export function refusal(error: QueryFailure): Response {
  return failure(toProblem(error))
}

/**
 * `{code, msg, data}`, the body of every response; `data` only if there is any. Hono's `c.json` sets headers one by one, which is measurably slower than
 * creating a Response with all of them.
 */
function envelope(status: number, msg: string, headers: Problem['headers'], data?: JsonMembers): Response {
  return new Response(JSON.stringify({ code: status, msg, data }), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

/** The `msg` of a success. */
export const successMsg = (note?: string) => (note === undefined ? 'success' : `success: ${note}`)
