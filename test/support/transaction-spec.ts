import type { Address } from '../../src/chain/address.ts'

/**
 * A transaction to build. `failed` is a contract call that is mined as failed (PROTOCOL.md, Failed transactions with
 * logs).
 */
export type TransactionSpec =
  | { readonly kind: 'trx' | 'trc10'; readonly from: Address; readonly to: Address; readonly amount: bigint }
  | {
      readonly kind: 'token'
      readonly contract: Address
      readonly from: Address
      readonly to: Address
      readonly amount: bigint
      readonly failed?: boolean
      /** Whether a failed transfer has its log all the same. */
      readonly keepsLogs?: boolean
    }
  | {
      readonly kind: 'call'
      readonly contract: Address
      readonly from: Address
      readonly value?: bigint
      readonly failed?: boolean
      readonly logs?: readonly LogSpec[]
      readonly internals?: readonly InternalSpec[]
    }
  /** Any contract type, with the target and value that JSON-RPC shows (PROTOCOL.md, Contract types). */
  | {
      readonly kind: 'other'
      readonly type: number
      readonly from: Address
      readonly to: Address | null
      readonly value: bigint
    }
  /** A TRX transfer in any encoding: its bytes, and what java-tron makes of them. */
  | {
      readonly kind: 'bytes'
      readonly rawData: Uint8Array
      readonly from: Address
      readonly to: Address
      readonly amount: bigint
    }

/** An internal transaction: a call by default, from the contract that is called. */
export interface InternalSpec {
  /** Such as `call`, `create`, `suicide`, `freezeBalanceV2ForEnergy`. */
  readonly note?: string
  readonly from?: Address
  readonly to: Address
  /** TRX. */
  readonly sun: number
  readonly rejected?: boolean
  /** TRC-10 beside the TRX. */
  readonly tokens?: readonly { readonly callValue: number; readonly tokenId: string }[]
}

/** An event. Topics and data start with `0x`. */
export interface LogSpec {
  readonly contract: Address
  readonly topics: readonly string[]
  readonly data: string
}

/** Mainnet's USDT contract; `usdtBase58` is the same address. */
export const usdtAddress = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c' as Address // 40 hex digits

/** keccak256('Transfer(address,address,uint256)') */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A test address: `n` in 20 bytes, with letters in it. */
export function addressOf(n: number): Address {
  return `ab${n.toString(16).padStart(38, '0')}` as Address // 40 hex digits
}

/** A token's Transfer event. */
export function transferLog(contract: Address, from: Address, to: Address, amount: bigint): LogSpec {
  return {
    contract,
    topics: [transferTopic, topicOf(from), topicOf(to)],
    data: `0x${amount.toString(16).padStart(64, '0')}`,
  }
}

/** The call data of `transfer(address,uint256)`, hex digits without `0x`. */
export function transferCallData(to: Address, amount: bigint): string {
  return `a9059cbb${to.padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`
}

const topicOf = (address: Address) => `0x${address.padStart(64, '0')}`
