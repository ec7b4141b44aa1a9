import * as z from 'zod/mini'
import { gapLimit, issueAddress } from '../../addresses/issue-address.ts'
import { type Address, formatBase58, formatHex, formatNumber } from '../../chain/address.ts'
import type { Uid } from '../../common/ids.ts'
import type { IssueReason } from '../../common/reasons.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonInteger, type RawJson } from '../../schemas/written.ts'
import { type RequestContext, type Route, writing } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import type * as docs from '../openapi/docs.ts'
import { badQuery, chainFailures, refused } from '../openapi/failures.ts'
import { choiceParam, readParameters, withQuery } from '../query.ts'

/** The parameters that `/tron/generate` and `/ledger/address` share. */
export const generateQuery = z.object({
  fresh: z.optional(choiceParam(['0', '1'])),
  format: z.optional(choiceParam(['base58', 'number', 'hex'])),
})

/**
 * The parsed parameters: whether a further address is requested (`fresh`), and in which form the
 * address is written (`format`).
 */
export type AddressRequest = z.output<typeof generateQuery>

/**
 * Whether a URL requests a further address (`fresh=1`), which takes more rights and a lower rate
 * limit.
 */
export const isFresh = (url: string) => readParameters(generateQuery, url).fresh === '1'

/**
 * The current deposit address of the user. The first request issues it; `fresh=1` issues a further
 * one.
 */
export const tronGenerate = {
  path: '/tron/generate',
  acts: true,
  rateClass: (url) => (isFresh(url) ? 'nodes' : 'lists'),
  handle: withQuery(generateQuery, (c, request) => answerAddress(c, c.get('uid'), request)),
} satisfies Route

/**
 * Answers with the current deposit address of a user, and issues it first if there is none, or if
 * `request.fresh` asks for a further one.
 */
export async function answerAddress(c: RequestContext, uid: Uid, request: AddressRequest): Promise<Response> {
  const fresh = request.fresh === '1'
  const issued = await writing(c, 'expect-payment', (context) => issueAddress(context, uid, { fresh }))
  if (!issued.ok) return refusal(issued.error)
  return success({ id: issued.value.id, address: formatAddress(issued.value.address, request.format) })
}

/**
 * Writes an address in this format. The format `number` has about 50 digits, which most JSON
 * parsers do not keep, so it is never the default.
 */
export function formatAddress(address: Address, format: AddressRequest['format'] = 'base58'): string | RawJson {
  switch (format) {
    case 'base58':
      return formatBase58(address)
    case 'number':
      return jsonInteger(formatNumber(address))
    case 'hex':
      return formatHex(address)
  }
}

/** The schema of the data in an answer with an address. */
export const addressData = () =>
  z.strictObject({
    id: schemas.idSchema('The id of the address record.'),
    address: schemas.component('ShownAddress', () =>
      schemas.described(
        z.union([
          schemas.component('AddressText', () =>
            schemas.textSchema(
              'Base58Check, the form in wallets; with `format=hex` the 21 address bytes.',
              /^(T[1-9A-HJ-NP-Za-km-z]{33}|41[0-9a-f]{40})$/,
            ),
          ),
          schemas.component('AddressNumber', () =>
            schemas.amountSchema(
              'With `format=number`: the integer value of the 21 bytes. It has more digits than a double keeps.',
            ),
          ),
        ]),
        'The address, in the form of `format`.',
      ),
    ),
  })

const unissuable = [
  ['key-was-used', 'a key that was used'],
  ['start-block-too-high', 'a start that is not final'],
  ['deploying', 'a deployment'],
] as const satisfies readonly (readonly [IssueReason, docs.Situation])[]

/**
 * Documentation shared by `/tron/generate` and `/ledger/address`. `prefix` begins the queries of
 * examples.
 */
export const addressDocs = (prefix: '?' | '?uid=7&') => ({
  success: schemas.successBody('AddressResponse', addressData),
  parameters: {
    fresh: {
      description: `\`1\` issues a further address and makes it the current one. At most ${gapLimit} may be without a deposit.`,
      example: '0',
    },
    format: {
      description:
        'The form of the address. `number` is the exact integer value of its 21 bytes, about 50 digits: most JSON ' +
        'parsers round it, and money sent to a rounded address is lost.',
      example: 'base58',
    },
  },
  failures: [
    refused('gap-limit', {
      given: 'twenty addresses without a deposit',
      query: `${prefix}fresh=1`,
    }),
    refused('issuing-off', { given: 'no issue of addresses', query: prefix.slice(0, -1) }),
    ...unissuable.map(([reason, given]) => refused(reason, { given, query: prefix.slice(0, -1) })),
    ...chainFailures(prefix.slice(0, -1), ''),
  ],
})

/**
 * Describes `GET /tron/generate` in the OpenAPI document. The Worker never calls this function, so
 * the Worker's bundle does not contain these texts.
 */
export const tronGenerateDocs = () => {
  const { failures, ...common } = addressDocs('?')
  return {
    ...common,
    id: 'generateAddress',
    summary: 'Your deposit address',
    description:
      'The current deposit address, the same one on every call; the first call creates it. Older addresses remain yours ' +
      'and are still scanned. No address is shown before the height from which it is scanned is stored.',
    query: generateQuery,
    examples: [
      { name: 'an address', given: 'a new caller' },
      { name: 'in hex', given: 'an address', query: '?format=hex' },
      { name: 'a further address', given: 'an address', query: '?fresh=1' },
    ],
    failures: [badQuery('?format=base64'), ...failures],
  } satisfies docs.Operation
}
