import { type Address, formatBase58, formatHex, formatNumber } from '../../../addresses/address.ts'
import type { CallerRoute } from '../../context.ts'
import { failure, jsonInteger, type RawJson, success } from '../../envelope.ts'
import { toProblem } from '../../errors.ts'
import { type AddressFormat, parseGenerateQuery } from '../../params.ts'

/** The caller's deposit address. */
export const tronGenerate: CallerRoute = {
  path: '/tron/generate',
  rateClass: (url) => {
    const query = parseGenerateQuery(url)
    return query.ok && query.value.fresh ? 'strict' : 'lists'
  },
  answer: async (parts, uid, url, visit) => {
    const query = parseGenerateQuery(url)
    if (!query.ok) return failure(toProblem(query.error))
    const { fresh, format } = query.value
    const issued = await parts.generateAddress(uid, { fresh }, visit)
    if (!issued.ok) return failure(toProblem(issued.error))
    return success({ id: issued.value.id, address: write(issued.value.address, format) })
  },
}

/** As a number it has 50 digits or so, far more than a double holds: callers ask for that form by name. */
function write(address: Address, format: AddressFormat): string | RawJson {
  switch (format) {
    case 'base58':
      return formatBase58(address)
    case 'number':
      return jsonInteger(formatNumber(address))
    case 'hex':
      return formatHex(address)
  }
}
