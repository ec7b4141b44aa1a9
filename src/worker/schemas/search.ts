import * as z from 'zod/mini'
import * as schemas from './parts.ts'

/** The members of the data of `GET /ledger/search`. */
export const searchMembers = () => ({
  list: z.array(
    schemas.object('FoundPart', () => ({
      address: z.exactOptional(schemas.textSchema('An address, where `begin` begins with T.', /^T\w{33}$/)),
      txid: z.exactOptional(schemas.textSchema('A txid, where it does not.')),
    })),
  ),
  more: schemas.described(z.boolean(), 'There can be more: search with a longer beginning.'),
})
