import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { type ContractName, type ContractParameters, isContractName } from '../support/contracts.ts'
import { strip0x } from '../support/hex.ts'

/**
 * An EVM transaction to this address represents a Tron transaction that the EVM has no form of; its call data is the
 * encoded Tron transaction. The address has no key. Synthetic transactions are part of the EVM chain, so they keep
 * their order and survive restarts without a second store.
 */
export const syntheticRecipient = '0x00000000000000000000000000696e6a65637465'

/** The recipient of the EVM transaction for a broadcast one that neither moves TRX nor calls a contract. It has no key. */
export const broadcastRecipient = '0x0000000000000000000000000062726f61646373'

/** A Tron transaction of type `type`. Smallest units; addresses are 40 hex digits. */
export interface SyntheticTransaction {
  readonly type: ContractName
  readonly owner: string
  readonly target: string | null
  readonly amount: bigint
}

/** The call data of the EVM transaction that represents it. */
export function encodeSynthetic({ type, owner, target, amount }: SyntheticTransaction): string {
  return `0x${bytesToHex(utf8ToBytes(JSON.stringify([type, owner, target, `${amount}`])))}`
}

/** The Tron transaction that the EVM transaction represents, or null if it is not synthetic. */
export function decodeSynthetic(evm: {
  readonly to: string | null
  readonly input: string
}): { readonly type: ContractName; readonly parameters: ContractParameters } | null {
  if (evm.to !== syntheticRecipient) return null
  const [type, owner, target, amount] = JSON.parse(new TextDecoder().decode(hexToBytes(strip0x(evm.input)))) as [
    string,
    string,
    string | null,
    string,
  ] // all call data to that address is from `encodeSynthetic`
  if (!isContractName(type)) throw new Error(`unknown type of a synthetic transaction: ${type}`)
  return { type, parameters: { owner, target, amount: BigInt(amount), code: '' } }
}
