import type { LedgerRoute } from '../../context.ts'
import { refusal } from '../../envelope.ts'
import { parseQuery } from '../../query.ts'
import { answerAddress } from '../tron-generate/answer.ts'
import { parseGenerateQuery, readAddressRequest } from '../tron-generate/query.ts'
import { ledgerAddressQuery } from './query.ts'

/** The deposit address of a named user. */
export const ledgerAddress = {
  path: '/ledger/address',
  method: 'GET',
  scope: (url) => {
    const query = parseGenerateQuery(url)
    return query.ok && query.value.fresh ? 'ledger:post' : 'ledger:read'
  },
  handle: async (c) => {
    const query = parseQuery(ledgerAddressQuery, c.req.url)
    if (!query.ok) return refusal(query.error)
    return answerAddress(c, query.value.uid, readAddressRequest(query.value))
  },
} satisfies LedgerRoute
