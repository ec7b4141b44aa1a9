import * as z from 'zod/mini'
import { gapLimit } from '../../../addresses/issue-address.ts'
import { toProblem } from '../../errors.ts'
import { depositAddress } from '../../openapi/example-data.ts'
import { badQuery, callerFailures, chainUnavailable } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { amountSchema, failureBody, idSchema, notes, successBody, textSchema } from '../../openapi/response.ts'
import { generateQuery } from './query.ts'

const data = z.strictObject({
  id: idSchema('The id of the address record.'),
  address: z
    .union([
      textSchema('Base58Check, the form in wallets.', /^T[1-9A-HJ-NP-Za-km-z]{33}$/),
      textSchema('With `format=hex`: the 21 address bytes.', /^41[0-9a-f]{40}$/),
      amountSchema('With `format=number`: the integer value of the 21 bytes. It has more digits than a double keeps.'),
    ])
    .register(notes, { description: 'The address, in the form of `format`.' }),
})

/** The documentation of `GET /tron/generate`. */
export const tronGenerateOperation = operation({
  id: 'generateAddress',
  tag: 'Tron',
  summary: 'Your deposit address',
  description:
    'The current deposit address, the same one on every call; the first call creates it. Older addresses remain yours ' +
    'and are still scanned. No address is shown before the height from which it is scanned is stored.',
  query: generateQuery,
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
  success: successBody('AddressResponse', data),
  failure: failureBody,
  examples: [
    dataExample('an address', 'a new caller', '', { id: 1, address: depositAddress }),
    dataExample('in hex', 'an address', '?format=hex', {
      id: 1,
      address: '41e2e1a54926527fbb4e4420de4c6bab82beaee24d',
    }),
    dataExample('a further address', 'an address', '?fresh=1', {
      id: 2,
      address: 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C',
    }),
  ],
  failures: [
    badQuery('?format=base64', 'format: one of base58, number, hex'),
    {
      status: 409,
      name: 'gap-limit',
      cause: `${gapLimit} of your addresses have no deposit yet. The gap scan of a wallet (BIP-44) would miss further ones.`,
      cure: 'Use one of them: without `fresh` the response is the newest one.',
      given: 'twenty addresses without a deposit',
      query: '?fresh=1',
      msg: toProblem({ kind: 'gap-limit', limit: gapLimit }).msg,
    },
    chainUnavailable,
    ...callerFailures,
  ],
})
