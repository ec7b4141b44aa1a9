import { type Address, formatBase58, formatHex, formatNumber } from '../../../addresses/address.ts'
import { issueAddress } from '../../../addresses/issue-address.ts'
import type { Route } from '../../context.ts'
import { jsonInteger, type RawJson, refusal, success } from '../../envelope.ts'
import { type AddressFormat, parseGenerateQuery } from './query.ts'

/** The caller's deposit address. */
export const tronGenerate = {
  path: '/tron/generate',
  rateClass: (url) => {
    const query = parseGenerateQuery(url)
    return query.ok && query.value.fresh ? 'nodes' : 'lists'
  },
  handle: async (c) => {
    const query = parseGenerateQuery(c.req.url)
    if (!query.ok) return refusal(query.error)
    const { fresh, format } = query.value
    const { services } = c.env
    const invocation = c.get('invocation')
    const issued = await services.write(invocation, (parts) =>
      issueAddress({ ...parts, ...services.chains(invocation) }, c.get('uid'), { fresh }),
    )
    if (!issued.ok) return refusal(issued.error)
    return success({ id: issued.value.id, address: formatAddress(issued.value.address, format) })
  },
} satisfies Route

/** As a number it has about 50 digits, far more than a double keeps: a caller has to request that form. */
function formatAddress(address: Address, format: AddressFormat): string | RawJson {
  switch (format) {
    case 'base58':
      return formatBase58(address)
    case 'number':
      return jsonInteger(formatNumber(address))
    case 'hex':
      return formatHex(address)
  }
}
