import type * as z from 'zod/mini'
import { formatUnits } from '../common/amount.ts'

declare global {
  interface JSON {
    /**
     * A value that `JSON.stringify` writes as `text`, digit by digit (TC39, JSON.parse source text
     * access).
     */
    rawJSON(text: string): RawJson
  }
}

/**
 * A number that `JSON.stringify` writes with all of its digits, because it never becomes a double.
 */
export interface RawJson {
  readonly rawJSON: string
}

/**
 * An amount in the data of an answer: a decimal number of whole units, which is never a double in
 * this code.
 */
export type JsonAmount = number & z.core.$brand<'JsonAmount'>

/**
 * The data of an answer with `A` in place of each amount. Over RPC and in pages an amount is the
 * text of its digits.
 */
export type WithAmounts<Data, A> = Data extends JsonAmount
  ? A
  : Data extends readonly (infer Item)[]
    ? readonly WithAmounts<Item, A>[]
    : Data extends object
      ? { readonly [Name in keyof Data]: WithAmounts<Data[Name], A> }
      : Data

/** The data of an answer before it is written as JSON. */
export type Written<Data> = WithAmounts<Data, RawJson>

/** An integer of smallest units as an exact JSON number of whole units. */
export function jsonAmount(units: bigint, decimals: number): RawJson {
  return JSON.rawJSON(formatUnits(units, decimals))
}

/** Decimal digits as a JSON number with all of them: a double would round a long one. */
export function jsonInteger(digits: string): RawJson {
  return JSON.rawJSON(digits)
}
