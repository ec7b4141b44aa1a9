import * as z from 'zod/mini'
import type { QueryFailure } from '../../../common/query-failure.ts'
import { ok, type Result } from '../../../common/result.ts'
import { oneOf, parseQuery } from '../../query.ts'

/** The form of an address in a response. */
export type AddressFormat = 'base58' | 'number' | 'hex'

/** The parameters of `GET /tron/generate`. */
export const generateQuery = z.object({
  fresh: z.optional(oneOf(['0', '1'])),
  format: z.optional(oneOf(['base58', 'number', 'hex'])),
})

/** Whether a further address is requested, and in which form. */
export interface AddressRequest {
  readonly fresh: boolean
  readonly format: AddressFormat
}

/** What a URL requests. */
export function parseGenerateQuery(url: string): Result<AddressRequest, QueryFailure> {
  const query = parseQuery(generateQuery, url)
  return query.ok ? ok(readAddressRequest(query.value)) : query
}

/** What parsed parameters request. */
export function readAddressRequest({ fresh, format = 'base58' }: z.output<typeof generateQuery>): AddressRequest {
  return { fresh: fresh === '1', format }
}
