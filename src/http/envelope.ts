import { formatUnits } from '../ledger/amount.ts'
import type { Problem } from './errors.ts'

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as `text`, digit by digit (TC39 `JSON.parse source text access`). */
    rawJSON(text: string): RawJson
  }
}

/** A JSON number that never passes through a double. */
export interface RawJson {
  readonly rawJSON: string
}

/** What a member of a body may be: nothing that `JSON.stringify` would round, drop or choke on. */
export type Json = string | number | RawJson | readonly Json[] | { readonly [name: string]: Json }

/** One answer before it becomes a body. `data` is absent on failure and on recharge. */
export interface ApiResponse {
  readonly status: number
  readonly msg: string
  readonly data?: { readonly [name: string]: Json }
  /** Beside the headers that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An integer of smallest units as an exact JSON number of whole units. */
export function jsonAmount(units: bigint, decimals: number): RawJson {
  return JSON.rawJSON(formatUnits(units, decimals))
}

/** Decimal digits as an exact JSON number. */
export function jsonInteger(digits: string): RawJson {
  return JSON.rawJSON(digits)
}

/** A success with its data. */
export function success(data: { readonly [name: string]: Json }): ApiResponse {
  return { status: 200, msg: 'success', data }
}

/** A success that only says, for people, what happened. */
export function successNote(note: string): ApiResponse {
  return { status: 200, msg: `success: ${note}` }
}

/** A failure. */
export function failure({ status, msg, headers }: Problem): ApiResponse {
  return headers === undefined ? { status, msg } : { status, msg, headers }
}

/**
 * The envelope `{code, msg, data}`: every answer of the service leaves through here. `around` are the headers that the
 * request gives every answer. A 204 has no body.
 */
export function toResponse(
  { status, msg, data, headers }: ApiResponse,
  around: Readonly<Record<string, string>>,
): Response {
  if (status === 204) return new Response(null, { status, headers: { ...fixed, ...around, ...headers } })
  return new Response(JSON.stringify({ code: status, msg, data }), {
    status,
    headers: { 'content-type': 'application/json', ...fixed, ...around, ...headers },
  })
}

/** No answer is stored, shown as a page, framed, loaded into somebody else's or told where it was linked from. */
const fixed = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}
