import * as z from 'zod/mini'
import { type AgreedNodes, ifEqual } from './nodes.ts'

// What several commands read in replies of the nodes' HTTP APIs (PROTOCOL.md, Collecting).

/** A transaction that is in a block. */
export interface MinedInfo {
  readonly height: number
  readonly isSuccess: boolean
  /** The node's own text of a failure. */
  readonly message: string
  /** All that it burnt, in sun. */
  readonly fee: bigint
  /** All energy that it used. */
  readonly energy: number
}

/** A number that nodes leave out if it is zero. */
export const optionalAmount = z.optional(z.int().check(z.gte(0)))
/** Zero if it is left out. */
export const orZero = (value: number | undefined) => value ?? 0
/** A reading of replies that `schema` accepts; `map` returns undefined for one that is not known. */
export const parsedWith =
  <T, R>(schema: z.ZodMiniType<T>, map: (value: T) => R | undefined) =>
  (reply: unknown) => {
    const parsed = schema.safeParse(reply)
    return parsed.success ? map(parsed.data) : undefined
  }

const infoSchema = z.object({
  id: z.optional(z.string()),
  blockNumber: optionalAmount,
  fee: optionalAmount,
  result: z.optional(z.string()),
  resMessage: z.optional(z.string()),
  receipt: z.optional(z.object({ energy_usage_total: optionalAmount, result: z.optional(z.string()) })),
})

/**
 * A transaction that is in a block, or null if it is in none. A quorum must say the same: a node that is behind, or has no history,
 * says "in no block" of what is in one. Only this distinguishes a pending transaction from a mined one.
 */
export function readInfo(nodes: AgreedNodes, txid: string): Promise<MinedInfo | null> {
  const parse = parsedWith(infoSchema, (reply): MinedInfo | null | undefined => {
    const { id, blockNumber: height, fee, result, resMessage = '', receipt } = reply
    if (id === undefined) return null
    if (id !== txid || height === undefined) return undefined
    const isSuccess = result === undefined && (receipt?.result ?? 'SUCCESS') === 'SUCCESS'
    const message = hexText(resMessage) || (receipt?.result ?? '')
    return { height, isSuccess, message, fee: BigInt(orZero(fee)), energy: orZero(receipt?.energy_usage_total) }
  })
  const describe = (info: MinedInfo | null) => (info === null ? 'in no block' : `in block ${info.height}`)
  return nodes.agree('gettransactioninfobyid', { value: txid }, { parse, merge: ifEqual, describe })
}

/** A node's text as hex of UTF-8. */
export const hexText = (hex: string) =>
  /^(?:[0-9a-f]{2})+$/i.test(hex) ? plainText(Buffer.from(hex, 'hex').toString('utf8')) : ''
/** A node's text as it is printed: without control characters and anything long. */
export const plainText = (text: string) =>
  text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, 160)
