import * as z from 'zod/mini'
import { type Address, parseAddress } from '../../worker/chain/address.ts'

/**
 * The key by which the signer knows a payout. The service's `id` is no such key: after a restore it
 * may mean another payout.
 */
export interface PayoutKey {
  readonly uid: number
  readonly cuy: number
  readonly osn: string
}

/** A key as one text, for maps. */
export const textOfKey = ({ uid, cuy, osn }: PayoutKey) => `${uid} ${cuy} ${osn}`

/** A key as it is typed in a shell, `uid:cuy:osn`. */
export function typedKey({ uid, cuy, osn }: PayoutKey): string {
  const text = `${uid}:${cuy}:${osn}`
  return /^[\w.:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Parses a typed key into its text for maps; null if it is malformed. */
export function parseKey(typed: string): string | null {
  const [, uid, cuy, osn] = /^(\d{1,16}):(\d{1,16}):([\x20-\x7e]{1,200})$/.exec(typed) ?? []
  return osn === undefined ? null : textOfKey({ uid: Number(uid), cuy: Number(cuy), osn })
}

export const naturalNumber = z.int().check(z.gte(0))
export const txidText = z.string().check(z.regex(/^[0-9a-f]{64}$/))
/** A Tron address as a person reads it: Base58Check, 34 characters. */
export const base58Text = z.string().check(z.refine((text) => parseAddress(text).ok))
/** An amount of whole units, in decimal digits. */
export const decimal = z.string().check(z.regex(/^\d{1,20}(\.\d{1,20})?$/))
/** Printable text from outside, which cannot move the cursor of a terminal. */
const printable = z.string().check(z.regex(/^[\x20-\x7e]{1,200}$/))
const instant = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))

/** The members of a payout that identify it, say what it pays, and count its attempts. */
export const contentShape = {
  id: naturalNumber,
  uid: naturalNumber,
  cuy: naturalNumber,
  osn: printable,
  amt: decimal,
  to: base58Text,
  /** How many transactions of the payout have ended without paying it. */
  attempts: naturalNumber,
  created_at: instant,
}

/** A payout as the service shows it, with the members that a signer reads. */
export const shownPayout = z.object({
  ...contentShape,
  state: printable,
  txid: z.optional(txidText),
  proof: z.optional(z.string().check(z.maxLength(2_000))),
  /**
   * The outflows from the payout address for this payout by another transaction; absent if there
   * are none.
   */
  moved: z.optional(z.unknown()),
})
export type ShownPayout = z.infer<typeof shownPayout>

/** A final block to which transactions refer. */
export const headSchema = z.object({ height: naturalNumber, hash: txidText, created_at: instant })
export type ShownHead = z.infer<typeof headSchema>

/**
 * The payouts that the service offers for signing, with the payout address and the final block to
 * which transactions refer.
 */
export const offerSchema = z.object({ list: z.array(shownPayout), address: base58Text, head: headSchema })
export type ShownOffer = z.infer<typeof offerSchema>

/** Parses a Base58Check address that a schema has checked. Throws if it is none. */
export function accountAt(base58: string): Address {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error('a schema has checked it')
  return parsed.value
}
