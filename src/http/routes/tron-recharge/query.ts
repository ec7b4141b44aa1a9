import * as z from 'zod/mini'
import type { Txid } from '../../../chain/block.ts'
import type { QueryFailure } from '../../../common/query-failure.ts'
import { ok, type Result } from '../../../common/result.ts'
import { parseQuery, readTxid, textParam } from '../../query.ts'

const txidForm = /^(?:0[xX])?[0-9a-fA-F]{64}$/

/** The parameters of `GET /tron/recharge`. */
export const rechargeQuery = z.object({
  txid: z.optional(textParam('64 hex digits, optionally prefixed with 0x', txidForm, readTxid)),
})

/** The transaction, or null for a scan. */
export function parseRechargeQuery(url: string): Result<Txid | null, QueryFailure> {
  const query = parseQuery(rechargeQuery, url)
  return query.ok ? ok(query.value.txid ?? null) : query
}
