import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { type ContractFacts, type ContractType, isContractType } from './contracts.ts'
import { strip } from './hex.ts'
import type { EvmTransaction } from './transaction.ts'

/**
 * An EVM transaction to this address, which nobody holds, stands for a Tron one that an EVM can't make: its call data says
 * which. The chain itself so keeps injected transactions, in order, through restarts, and no second store can disagree.
 */
export const carrierAddress = '0x00000000000000000000000000696e6a65637465'

/** A transaction to be shown as if it were of type `type`. Smallest units; addresses are 40 hex digits. */
export interface Injection {
  readonly type: ContractType
  readonly owner: string
  readonly target: string | null
  readonly amount: bigint
}

/** The call data of a carrier. */
export function writeCarried({ type, owner, target, amount }: Injection): string {
  return `0x${bytesToHex(utf8ToBytes(JSON.stringify([type, owner, target, `${amount}`])))}`
}

/** What `evm` carries, or null where it is a transaction of its own. */
export function readCarried(evm: EvmTransaction): { type: ContractType; facts: ContractFacts } | null {
  if (evm.to !== carrierAddress) return null
  const [type, owner, target, amount] = JSON.parse(new TextDecoder().decode(hexToBytes(strip(evm.input)))) as [
    string,
    string,
    string | null,
    string,
  ] // only `writeCarried` sends to that address
  if (!isContractType(type)) throw new Error(`a carrier of the unknown type ${type}`)
  return { type, facts: { owner, target, amount: BigInt(amount), code: '' } }
}
