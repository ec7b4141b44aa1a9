import * as z from 'zod/mini'
import { addressesCountedMax, listAddresses } from '../../addresses/store/address-book.ts'
import { formatBase58 } from '../../chain/address.ts'
import { pageRowsDefault } from '../../ledger/store/entries.ts'
import { issuedAddress } from '../../schemas/address.ts'
import * as schemas from '../../schemas/parts.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { idParam, uidParam, wholeNumber, withQuery } from '../query.ts'
import { pageRowsMax } from './wallet-flow-list.ts'

const query = z.object({
  uid: uidParam(),
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<number>()),
})

/** All addresses of a user but those for orders, newest first, in pages. Issues none. */
export const ledgerAddresses = {
  path: '/ledger/addresses',
  method: 'GET',
  usersIn: 'uid',
  scope: () => 'ledger:read',
  handle: withQuery(query, async (c, { uid, limit = pageRowsDefault, before = null }) => {
    const { list, count } = await reading(c, ({ db }) => listAddresses(db, uid, { before, limit }))
    return success({ list: list.map(({ id, address }) => ({ id, address: formatBase58(address) })), count })
  }),
} satisfies LedgerRoute

/**
 * `GET /ledger/addresses` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerAddressesDocs = () =>
  ({
    id: 'listLedgerAddresses',
    summary: 'All addresses of a user',
    description:
      'Newest first; the first one is shown to the user, and all of them are watched for ever. None is issued. Those that only orders have are not ' +
      'among them.',
    query,
    parameters: {
      ...docs.uidNote,
      limit: {
        description: `Addresses in the list, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`,
        example: 20,
      },
      before: { description: 'Only addresses with a smaller `id`: the last one of the previous page.', example: 1000 },
    },
    success: schemas.listBody(
      'LedgerAddressesResponse',
      issuedAddress,
      `The number of the user's addresses; ${addressesCountedMax} means that many or more.`,
    ),
    examples: [{ name: 'one address', given: 'two deposits, credited', query: '?uid=7' }],
    failures: [badQuery('?uid=0')],
  }) satisfies docs.Operation
