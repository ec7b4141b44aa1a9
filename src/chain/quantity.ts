import { err, ok, type Result } from '../common/result.ts'

/** Why a text is no `0x` quantity of at most 256 bits. */
export type QuantityFault = 'not-a-quantity' | 'too-large'

const quantity = /^0x0*([0-9a-fA-F]*)$/
const textMax = 2 + 256 // leading zeros are legal; thousands of them are not a node's answer

/**
 * A `0x` quantity as a node writes it. Leading zeros are legal (java-tron's `nonce` before 4.8.2), and `0x` alone means
 * that the field has no value (`blockNumber` of an unmined transaction): `null`. 2^256 and more is refused.
 */
export function parseQuantity(text: string): Result<bigint | null, QuantityFault> {
  const match = text.length > textMax ? null : quantity.exec(text)
  if (match === null) return err('not-a-quantity')
  const [, digits = ''] = match
  if (digits.length > 64) return err('too-large')
  if (digits !== '') return ok(BigInt(`0x${digits}`))
  return ok(text.length === 2 ? null : 0n)
}

/** Whether a quantity is 0 or absent, without making a number of it. */
export function isZeroQuantity(text: string): boolean {
  return text === '0x0' || /^0x0*$/.test(text)
}
