import { formatUnits } from '../common/amount.ts'

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as `text`, digit by digit (TC39, JSON.parse source text access). */
    rawJSON(text: string): RawJson
  }
}

/** A number that `JSON.stringify` writes with all of its digits, because it never becomes a double. */
export interface RawJson {
  readonly rawJSON: string
}

/** The type of a JSON value before it is written, if `T` is its type after parsing: each number may also be a `RawJson`. */
export type Written<T> = T extends number
  ? T | RawJson
  : T extends readonly (infer Item)[]
    ? readonly Written<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Written<T[Name]> }
      : T

/** An integer of smallest units as an exact JSON number of whole units. */
export function jsonAmount(units: bigint, decimals: number): RawJson {
  return JSON.rawJSON(formatUnits(units, decimals))
}

/** Decimal digits as a JSON number with all of them: a double would round a long one. */
export function jsonInteger(digits: string): RawJson {
  return JSON.rawJSON(digits)
}
