import * as z from 'zod/mini'
import { selectCurrent, selectIssued } from '../../addresses/store/address-book.ts'
import type { Address } from '../../chain/address.ts'
import { reservedUid, type Uid } from '../../common/ids.ts'
import { selectFrozenIn } from '../../issuer/store.ts'
import * as schemas from '../../schemas/parts.ts'
import type { Scope } from '../auth/authenticate.ts'
import { type LedgerRoute, type RequestContext, reading } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { addressParam, badInput, uidExpected, uidParam, withQuery } from '../query.ts'
import {
  type AddressRequest,
  addressData,
  addressDocs,
  answerAddress,
  formatAddress,
  generateQuery,
  isFresh,
} from './tron-generate.ts'

const query = z.object({ uid: z.optional(uidParam()), address: z.optional(addressParam()), ...generateQuery.shape })

const uidOrAddress = `${uidExpected}; or an address in its place`

/**
 * The deposit address of a user, or the user of an address. Only a token that may post can issue an
 * address.
 */
export const ledgerAddress = {
  path: '/ledger/address',
  method: 'GET',
  acts: true,
  usersIn: 'uid',
  scope: (url) => (isFresh(url) ? 'ledger:post' : 'ledger:read'),
  handle: withQuery(query, async (c, { uid, address, ...form }) => {
    if (address === undefined) {
      if (uid === undefined) return refusal(badInput('uid', uidOrAddress))
      const mayIssue = c.get('decider').scopes.includes('ledger:post' satisfies Scope)
      return mayIssue ? answerAddress(c, uid, form) : answerCurrent(c, uid, form.format)
    }
    if (uid !== undefined) return refusal(badInput('address', notWithUid))
    if (form.fresh !== undefined) return refusal(badInput('fresh', notWithAddress))
    return answerOwner(c, address, form.format)
  }),
} satisfies LedgerRoute

const notWithUid = 'not allowed with uid'
const notWithAddress = 'not allowed with address'

/** Answers with the current address of a user, or with 404 if the user has none. Issues none. */
async function answerCurrent(c: RequestContext, uid: Uid, format: AddressRequest['format']): Promise<Response> {
  const current = await reading(c, ({ db }) => selectCurrent(db, uid))
  if (current === null) return refusal(noAddress)
  return success({ id: current.id, address: formatAddress(current.address, format) })
}

/**
 * Answers with the user of an address, or with 404 if it was not issued. For a reserved address the
 * answer has `reservedUid` and `reserved: true`.
 */
async function answerOwner(c: RequestContext, address: Address, format: AddressRequest['format']): Promise<Response> {
  const [issued, frozen] = await reading(c, ({ db }) =>
    Promise.all([selectIssued(db, address), selectFrozenIn(db, address)]),
  )
  if (issued === null) return refusal(noAddress)
  const { uid, id } = issued
  const reserved = uid === reservedUid ? { reserved: true } : {}
  return success({ uid, id, address: formatAddress(address, format), ...reserved, frozen })
}

const noAddress = { kind: 'not-found', what: 'address' } as const

const ownedAddress = () =>
  z.extend(addressData(), {
    uid: z.optional(schemas.idSchema('The user, where an address is looked up.')),
    reserved: z.optional(
      schemas.described(
        z.literal(true),
        `It was reserved after a restore: its \`uid\` is ${reservedUid}, which is no user. What arrives there is given to its user by a ` +
          'transfer (`POST /ledger/entries`, type 3).',
      ),
    ),
    frozen: z.optional(
      schemas.described(
        z.array(schemas.idSchema('A currency.')),
        'Where an address is looked up: the currencies in which its issuer has frozen it.',
      ),
    ),
  })

/**
 * `GET /ledger/address` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerAddressDocs = () => {
  const { parameters, failures, ...common } = addressDocs('?uid=7&')
  return {
    ...common,
    id: 'generateLedgerAddress',
    summary: 'The deposit address of a user, or the user of an address',
    description:
      'With `uid` as `/tron/generate`, for a named user, whose first address is issued only to a token with both `ledger:read` and ' +
      '`ledger:post`: with `ledger:read` alone a user without an address is a 404. `fresh=1` needs `ledger:post`. With `address` ' +
      'it finds whose an address is, and issues none.',
    query,
    parameters: {
      uid: { ...docs.uidNote.uid, description: 'The user. Either this or `address`, not both.' },
      address: {
        description: 'Any address that was issued, also an older one. Not allowed with `uid` or `fresh`.',
        example: docs.depositAddress,
      },
      ...parameters,
      fresh: { ...parameters.fresh, description: `${parameters.fresh.description} Not allowed with \`address\`.` },
    },
    success: schemas.successBody('LedgerAddressResponse', ownedAddress),
    examples: [
      { name: 'an address', given: 'a new caller', query: '?uid=7' },
      { name: 'whose it is', given: 'an address', query: `?address=${docs.depositAddress}` },
      { name: 'a reserved one', given: 'a reserved address', query: `?address=${docs.depositAddress}` },
    ],
    failures: [
      badQuery('?uid=0'),
      { ...badQuery(''), name: 'neither', cause: 'Neither a user nor an address is given.' },
      {
        ...badQuery(`?uid=7&address=${docs.depositAddress}`),
        name: 'both',
        cause: 'A user and an address are given.',
      },
      { ...badQuery('?address=T1'), name: 'bad-address' },
      {
        name: 'none-yet',
        cause: 'The user has no address, and the token does not allow to issue one.',
        cure: 'Use a token whose `scope` includes `ledger:read` and `ledger:post`.',
        given: 'a token that only reads',
        query: '?uid=7',
      },
      {
        ...badQuery(`?address=${docs.depositAddress}&fresh=1`),
        name: 'fresh-with-address',
        cause: 'A further address of an address is asked for.',
      },
      {
        name: 'nobodys',
        cause: 'The address was not issued, and not reserved.',
        cure: 'Compare it with the one on the page of the user: it is not an address of this service.',
        given: 'a new caller',
        query: `?address=${docs.depositAddress}`,
      },
      ...failures,
    ],
  } satisfies docs.Operation
}
