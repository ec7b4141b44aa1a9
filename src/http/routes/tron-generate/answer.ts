import { issueAddress } from '../../../addresses/issue-address.ts'
import { type Address, formatBase58, formatHex, formatNumber } from '../../../chain/address.ts'
import type { Uid } from '../../../common/ids.ts'
import type { RequestContext } from '../../context.ts'
import { jsonInteger, type RawJson, refusal, success } from '../../envelope.ts'
import type { AddressFormat, AddressRequest } from './query.ts'

/** Answers with a caller's current deposit address, or with a further one. */
export async function answerAddress(c: RequestContext, uid: Uid, { fresh, format }: AddressRequest): Promise<Response> {
  const { services } = c.env
  const invocation = c.get('invocation')
  const issued = await services.write(invocation, (parts) =>
    issueAddress({ ...parts, ...services.chains(invocation) }, uid, { fresh }),
  )
  if (!issued.ok) return refusal(issued.error)
  return success({ id: issued.value.id, address: formatAddress(issued.value.address, format) })
}

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
