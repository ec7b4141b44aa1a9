import * as z from 'zod/mini'
import { type Address, formatBase58 } from '../../chain/address.ts'
import * as schemas from '../../schemas/parts.ts'
import { searchMembers } from '../../schemas/search.ts'
import { addressesFrom, beginForm, endForm, isPartOf, type Part, txidsFrom } from '../../search/part.ts'
import { candidatesMax, selectInRange } from '../../search/store.ts'
import { type LedgerRoute, type RequestContext, reading } from '../context.ts'
import { success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { textParam, withQuery } from '../query.ts'

/** Most results of one search. */
export const foundMax = 20

const beginExpected =
  'how an address or a txid begins: T and 3 to 32 more characters in Base58, or 4 to 63 hex digits in lower case'
const endExpected = 'how it ends: 1 to 60 letters and digits'
const same = (text: string) => text

const query = z.object({
  begin: textParam(beginExpected, beginForm, same),
  end: z.optional(textParam(endExpected, endForm, same)),
})

/** The addresses or txids that begin, and end, with what a person has of one. */
export const ledgerSearch = {
  path: '/ledger/search',
  method: 'GET',
  usersIn: null,
  scope: () => 'ledger:read',
  handle: withQuery(query, async (c, { begin, end = '' }) => {
    const { found, isCut } = await (begin.startsWith('T')
      ? findAddresses(c, { begin, end })
      : findTxids(c, { begin, end }))
    return success({ list: found.slice(0, foundMax), more: isCut || found.length > foundMax })
  }),
} satisfies LedgerRoute

async function findAddresses(c: RequestContext, part: Part) {
  const range = addressesFrom(part.begin)
  if (range === null) return { found: [], isCut: false }
  const { values, isCut } = await reading(c, ({ db }) => selectInRange(db, 'addresses', range))
  const own = values.filter((one) => isPartOf(part, one as Address)) // safe: the database has addresses in this form
  return { found: own.map((one) => ({ address: formatBase58(one as Address) })), isCut }
}

async function findTxids(c: RequestContext, { begin, end }: Part) {
  const { values, isCut } = await reading(c, ({ db }) => selectInRange(db, 'txids', txidsFrom(begin)))
  return { found: values.filter((one) => one.endsWith(end)).map((txid) => ({ txid })), isCut }
}

/**
 * `GET /ledger/search` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const ledgerSearchDocs = () =>
  ({
    id: 'searchLedger',
    summary: 'Addresses and transactions of which a part is known',
    description:
      'Pages and wallets print `TWer2Y…GZmaL6` for an address and `ccf493…938420` for a txid. This finds what begins, and ends, so: ' +
      'among the addresses that were issued or that payouts go to, and among the txids of deposits and payouts. The beginning is ' +
      `needed. At most ${candidatesMax} of each are looked at. The cost does not grow with the history.`,
    query,
    parameters: {
      begin: { description: 'How it begins.', example: docs.depositAddress.slice(0, 6) },
      end: { description: 'How it ends.', example: docs.depositAddress.slice(-6) },
    },
    success: schemas.dataBody('LedgerSearchResponse', searchMembers),
    examples: [
      {
        name: 'an address',
        given: 'an address',
        query: `?begin=${docs.depositAddress.slice(0, 6)}&end=${docs.depositAddress.slice(-6)}`,
      },
      { name: 'a transaction', given: 'two deposits, credited', query: `?begin=${docs.usdtTxid.slice(0, 6)}` },
    ],
    failures: [
      { ...badQuery('?begin=T'), name: 'too-short' },
      { ...badQuery(`?begin=${docs.depositAddress.slice(0, 6)}&end=!`), name: 'bad-end' },
    ],
  }) satisfies docs.Operation
