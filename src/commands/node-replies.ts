import * as z from 'zod/mini'
import { type Address, formatHex } from '../worker/chain/address.ts'
import { type AgreedNodes, ifEqual } from './nodes.ts'

// Replies of the nodes' HTTP APIs that several commands read (PROTOCOL.md, Collecting).

/** What a node says about a transaction in a block. */
export interface MinedInfo {
  readonly height: number
  readonly isSuccess: boolean
  /** The node's text about a failure. */
  readonly message: string
  /** All sun that the transaction burnt. */
  readonly fee: bigint
  /** All energy that the transaction used. */
  readonly energy: number
}

/** An integer. The transport gives one above 2^53 − 1 as a bigint. */
const exactInteger = z.pipe(
  z.union([z.int(), z.bigint()]),
  z.transform((value: number | bigint) => BigInt(value)),
)
const notNegative = exactInteger.check(z.refine((value) => value >= 0n))
/** An amount of sun that nodes leave out if it is zero. */
export const optionalAmount = z._default(notNegative, 0n)
/** A number of units, such as bytes or energy, that nodes leave out if it is zero. */
export const optionalCount = z.pipe(optionalAmount, z.transform(Number))
/**
 * Makes a parser of replies. It returns undefined for a reply that `schema` refuses, or for which
 * `map` returns undefined.
 */
export const parsedWith =
  <T, R>(schema: z.ZodMiniType<T>, map: (value: T) => R | undefined) =>
  (reply: unknown) => {
    const parsed = schema.safeParse(reply)
    return parsed.success ? map(parsed.data) : undefined
  }

const infoSchema = z.object({
  id: z.optional(z.string()),
  blockNumber: z.optional(z.int().check(z.gte(0))),
  fee: optionalAmount,
  result: z.optional(z.string()),
  resMessage: z.optional(z.string()),
  receipt: z.optional(z.object({ energy_usage_total: optionalCount, result: z.optional(z.string()) })),
})

/**
 * Reads in which block a transaction is, and how it ended there; null if it is in no block. A
 * quorum must agree, because a node that is behind or lacks history says "in no block" of mined
 * transactions, too. No other request distinguishes a pending transaction from a mined one.
 */
export function readInfo(nodes: AgreedNodes, txid: string): Promise<MinedInfo | null> {
  const parse = parsedWith(infoSchema, (reply): MinedInfo | null | undefined => {
    const { id, blockNumber: height, fee, result, resMessage = '', receipt } = reply
    if (id === undefined) return null
    if (id !== txid || height === undefined) return undefined
    const isSuccess = result === undefined && (receipt?.result ?? 'SUCCESS') === 'SUCCESS'
    const message = hexText(resMessage) || (receipt?.result ?? '')
    return { height, isSuccess, message, fee, energy: receipt?.energy_usage_total ?? 0 }
  })
  const describe = (info: MinedInfo | null) => (info === null ? 'in no block' : `in block ${info.height}`)
  return nodes.agree('gettransactioninfobyid', { value: txid }, { parse, merge: ifEqual, describe })
}

/** Decodes a node's text from hex digits of UTF-8. Returns '' if it is not hex. */
const hexText = (hex: string) =>
  /^(?:[0-9a-f]{2})+$/i.test(hex) ? plainText(Buffer.from(hex, 'hex').toString('utf8')) : ''
/** Makes a node's text printable: without control characters, and cut to a short length. */
export const plainText = (text: string) =>
  text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, 160)

/** Prices and limits of the chain, as a node reports them. Amounts are sun. */
export interface ChainPrices {
  readonly sunPerByte: bigint
  readonly sunPerEnergy: bigint
  /**
   * Sun for the bytes of a transaction that creates an account, unless staked bandwidth covers
   * them.
   */
  readonly createAccountFee: bigint
  /** Sun for the new account itself, in addition to `createAccountFee`. */
  readonly newAccountFee: bigint
  readonly feeLimitMax: bigint
  /** Bytes that each account may send in a day without burning sun. */
  readonly freeBytes: number
}

const parameterList = z.object({
  chainParameter: z.array(z.object({ key: z.string(), value: z._default(exactInteger, 0n) })),
})

/**
 * Parses the prices of the chain. A reply that lacks one of them counts as no answer, because no
 * price is assumed.
 */
export const parsePrices = parsedWith(parameterList, ({ chainParameter }): ChainPrices | undefined => {
  const values = new Map(chainParameter.map(({ key, value }) => [key, value]))
  const of = (key: string) => values.get(key) ?? -1n
  const prices = {
    sunPerByte: of('getTransactionFee'),
    sunPerEnergy: of('getEnergyFee'),
    createAccountFee: of('getCreateAccountFee'),
    newAccountFee: of('getCreateNewAccountFeeInSystemContract'),
    feeLimitMax: of('getMaxFeeLimit'),
    freeBytes: Number(of('getFreeNetLimit')),
  }
  return Object.values(prices).some((price) => price < 0) ? undefined : prices
})

/**
 * The energy of one transfer, measured by a constant call, or why the token's contract refuses the
 * transfer.
 */
export type EnergyEstimate =
  | { readonly kind: 'energy'; readonly energy: number }
  | { readonly kind: 'refused'; readonly why: string }

const callSchema = z.object({
  result: z.object({ result: z.optional(z.boolean()), message: z.optional(z.string()) }),
  energy_used: z.optional(z.int().check(z.gte(0))),
  constant_result: z.optional(z.array(z.string())),
  transaction: z.optional(z.object({ ret: z.optional(z.array(z.object({ ret: z.optional(z.string()) }))) })),
})
/**
 * The output of a call that failed with a text: the selector of `Error(string)`, a word for the
 * offset, a word for the length, the text.
 */
const revertText = /^08c379a0.{64}.{64}((?:[0-9a-f]{2})*?)(?:00)*$/

/** A transfer of a token; `parameter` is its call data without the selector. */
export interface TokenTransfer {
  readonly from: Address
  readonly contract: Address
  readonly parameter: string
}

/**
 * Parses the reply to `transferCall`: the energy of the transfer, with the penalty of a busy
 * contract, or why it would fail.
 */
export const parseEstimate = parsedWith(callSchema, (reply): EnergyEstimate => {
  const { result, energy_used: energy, constant_result: [output = ''] = [], transaction } = reply
  const isFailed = result.result !== true || transaction?.ret?.[0]?.ret === 'FAILED' || result.message !== undefined
  if (!isFailed && energy !== undefined) return { kind: 'energy', energy }
  const text = hexText(revertText.exec(output)?.[1] ?? '') || hexText(result.message ?? '')
  return { kind: 'refused', why: text || 'it reverts' }
})

/** The body of `triggerconstantcontract` that estimates a transfer. The call changes nothing. */
export function transferCall({ from, contract, parameter }: TokenTransfer) {
  const call = { function_selector: 'transfer(address,uint256)', parameter }
  return { owner_address: formatHex(from), contract_address: formatHex(contract), ...call }
}
