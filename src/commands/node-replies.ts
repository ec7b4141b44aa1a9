import * as z from 'zod/mini'
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
export const exactInteger = z.pipe(
  z.union([z.int(), z.bigint()]),
  z.transform((value: number | bigint) => BigInt(value)),
)
const notNegative = exactInteger.check(z.refine((value) => value >= 0n))
/** An amount of sun that nodes leave out if it is zero. */
export const optionalAmount = z._default(notNegative, 0n)
/** A number of units, such as bytes or energy, that nodes leave out if it is zero. */
export const optionalCount = z.pipe(optionalAmount, z.transform(Number))
/** Makes a parser of replies. It returns undefined for a reply that `schema` refuses, or for which `map` returns undefined. */
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
 * Reads in which block a transaction is, and how it ended there; null if it is in no block. A quorum must agree, because a node that is behind or lacks
 * history says "in no block" of mined transactions, too. No other request distinguishes a pending transaction from a mined one.
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
export const hexText = (hex: string) =>
  /^(?:[0-9a-f]{2})+$/i.test(hex) ? plainText(Buffer.from(hex, 'hex').toString('utf8')) : ''
/** Makes a node's text printable: without control characters, and cut to a short length. */
export const plainText = (text: string) =>
  text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, 160)
