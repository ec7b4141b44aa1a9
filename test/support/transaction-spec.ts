import type { Address } from '../../src/worker/chain/address.ts'

/**
 * A transaction to build. `failed` makes a contract call that is in a block but failed
 * (PROTOCOL.md, Failed transactions with logs).
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
      /** Whether the transfer's log exists although the call failed. */
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
  /**
   * A contract of any type, with the target and the value that JSON-RPC shows for it (PROTOCOL.md,
   * Contract types).
   */
  | {
      readonly kind: 'other'
      readonly type: number
      readonly from: Address
      readonly to: Address | null
      readonly value: bigint
    }
  /** A TRX transfer in unusual bytes, and the transfer that java-tron reads from them. */
  | {
      readonly kind: 'bytes'
      readonly rawData: Uint8Array
      readonly from: Address
      readonly to: Address
      readonly amount: bigint
    }
  /**
   * A transaction that is signed already, with its result in the block: whether it failed, and its
   * logs.
   */
  | {
      readonly kind: 'signed'
      readonly rawData: Uint8Array
      readonly failed?: boolean
      readonly logs?: readonly LogSpec[]
    }

/** An internal transaction. By default it is a `call`, and the called contract sends it. */
export interface InternalSpec {
  /**
   * The kind of the internal transaction, such as `call`, `create`, `suicide` or
   * `freezeBalanceV2ForEnergy`.
   */
  readonly note?: string
  readonly from?: Address
  readonly to: Address
  /** The TRX that the internal transaction moves, in sun. */
  readonly sun: number
  readonly rejected?: boolean
  /** TRC-10 tokens that the internal transaction moves beside the TRX. */
  readonly tokens?: readonly { readonly callValue: number; readonly tokenId: string }[]
}

/** A log of a contract. Topics and data begin with `0x`. */
export interface LogSpec {
  readonly contract: Address
  readonly topics: readonly string[]
  readonly data: string
}

/** The address of mainnet's USDT contract; `usdtBase58` is the same address in Base58Check. */
export const usdtAddress = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c' as Address // safe: 40 hex digits

/** The first topic of transfers: keccak256('Transfer(address,address,uint256)'). */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * A test address made from a number. Its hex digits contain letters, so that a comparison of upper
 * and lower case can fail.
 */
export function addressOf(n: number): Address {
  return `ab${n.toString(16).padStart(38, '0')}` as Address // safe: 40 hex digits
}

/** The log of a token's transfer, as the ERC-20 standard defines it. */
export function transferLog(contract: Address, from: Address, to: Address, amount: bigint): LogSpec {
  return {
    contract,
    topics: [transferTopic, topicOf(from), topicOf(to)],
    data: `0x${amount.toString(16).padStart(64, '0')}`,
  }
}

/** The first topics of the logs by which Tether acts on its token. */
const issuerTopics = {
  frozen: '0x42e160154868087d6bfdc0ca23d96a1c1cfa32f1b72ba9ba27b69b98a0d819dc',
  released: '0xd7e9ec6e6ecd65492dce6bf513cd6867560d49544421d0783ddf06e76c24470c',
  destroyed: '0x61e6e66b0d6339b2980aecc6ccc0039736791f0ccde9ed512e789a7fbdd698c6',
  paused: '0x6985a02210a168e66602d3235cb6db0e70f92b3ba4d376a33c0f3d9434bff625',
  unpaused: '0x7805862f689e2f13df9f062ff482ad3ad112aca9e0847911ed832e158c525b33',
  'fee-set': '0xb044a1e409eac5c48e5af22d4af52670dd1a99059537a78b31b48c6500a6354e',
  deprecated: '0xcc358699805e9a8b7f77b522628c7cb9abd07d9efb86b6fb616af1609036a99e',
} as const

/**
 * The log of an issuer's act as mainnet's USDT emits it: an address is a topic, amounts are data.
 */
export function issuerLog(
  contract: Address,
  kind: keyof typeof issuerTopics,
  ...parameters: readonly (Address | bigint)[]
): LogSpec {
  const words = parameters.map((one) => (typeof one === 'bigint' ? one.toString(16) : one).padStart(64, '0'))
  const isOfAddress = kind === 'frozen' || kind === 'released' || kind === 'destroyed'
  const topics = isOfAddress ? words.slice(0, 1) : []
  const data = words.slice(topics.length).join('')
  return { contract, topics: [issuerTopics[kind], ...topics.map((word) => `0x${word}`)], data: `0x${data}` }
}

/** The log of a contract that does not index its parameters: all of them are in the data. */
export function unindexed({ contract, topics: [first = '', ...rest], data }: LogSpec): LogSpec {
  return { contract, topics: [first], data: `0x${rest.map((word) => word.slice(2)).join('')}${data.slice(2)}` }
}

/** The call data of `transfer(address,uint256)`, as hex digits without `0x`. */
export function transferCallData(to: Address, amount: bigint): string {
  return `a9059cbb${to.padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`
}

/** An address as a topic of a log. */
export const topicOf = (address: Address) => `0x${address.padStart(64, '0')}`
