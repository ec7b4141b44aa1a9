import { decimalForm } from './decimal.ts'

/** A JSON object whose members are still unchecked. */
export type Members = Readonly<Record<string, unknown>>

/** Longest text that is read, in characters: a URL of this length is not cut. */
const shownCharsMax = 500
/**
 * Control characters, and characters that change the direction of text. A text with them may look
 * like another one.
 */
const deceptive = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

/**
 * The shape of a JSON value. An amount is the text of its digits. A value that is `orNull` may be
 * null, or be absent, and then it is read as null.
 */
export type Shape =
  | 'text'
  | 'integer'
  | 'amount'
  | 'flag'
  | { readonly list: Shape }
  | { readonly orNull: Shape }
  | { readonly either: readonly Shape[] }
  | { readonly members: Readonly<Record<string, Shape>> }
/** A shape, with the type of the values that have it. */
export interface ShapeOf<Data> {
  readonly shape: Shape
  readonly data?: Data
}

/**
 * Parses JSON, keeping numbers under the names of amounts as texts of their digits, so that they
 * never become doubles.
 */
export function parseExact(text: string): unknown {
  // In JSON a quote inside a text follows a backslash, so this pattern matches only names with
  // their colon.
  return JSON.parse(
    text.replace(
      /("(?:amt|at_least|seen|credited|fee|burnt|balance|owed|held|frozen|destroyed|unexplained|sum|opening|closing)"\s*:\s*)(-?\d[^\s,}\]]*)/g,
      '$1"$2"',
    ),
  )
}

/** Reads an object. Like every reader here, throws a `TypeError` for any other value. */
export function readMembers(value: unknown): Members {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object')
  return value as Members // safe: every object has members of unknown types
}

/** A page of a list: its items, and in `count` the number of items on all pages. */
export interface ListPage<Item> {
  readonly list: readonly Item[]
  readonly count: number
}

/** Reads a text for people, cut to a limited length and without deceptive characters. */
export function readText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a text')
  return value.slice(0, shownCharsMax).replace(deceptive, '')
}

/** Reads a text that must match `form`. Unlike `readText`, it never changes the text. */
export function readForm(value: unknown, form: RegExp): string {
  if (typeof value !== 'string' || !form.test(value)) throw new TypeError('not of its form')
  return value
}

/** Reads a whole number that a double holds exactly. */
export function readInteger(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('not a whole number')
  return value as number // safe: checked above
}

function readFlag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new TypeError('neither true nor false')
  return value
}

/** Reads an amount as the text of its digits, which `parseExact` has kept. */
const readDecimal = (value: unknown): string => readForm(value, decimalForm)

/**
 * Makes a reader of values of a shape, which leaves out the members that the shape does not have. A
 * word of the service is a text: a newer service can have words that this page does not know.
 */
export function readerOf<Data>({ shape }: ShapeOf<Data>): (value: unknown) => Data {
  return (value) => readShape(shape, value) as Data // safe: `shape` is that of this type
}

function readShape(shape: Shape, value: unknown): unknown {
  if (typeof shape === 'string') return readers[shape](value)
  if ('members' in shape) {
    const members = readMembers(value)
    return Object.fromEntries(Object.entries(shape.members).map(([name, of]) => [name, readShape(of, members[name])]))
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) throw new TypeError('not a list')
    return value.map((item) => readShape(shape.list, item))
  }
  if ('orNull' in shape) return value === null || value === undefined ? null : readShape(shape.orNull, value)
  const [first = 'text', ...others] = shape.either
  try {
    return readShape(first, value)
  } catch (error) {
    if (others.length === 0) throw error
    return readShape({ either: others }, value)
  }
}

const readers = {
  text: readText,
  // `parseExact` keeps a whole number as a text if amounts elsewhere have the same name.
  integer: (value: unknown) => readInteger(typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value),
  amount: readDecimal,
  flag: readFlag,
}

/**
 * Finds the txid in a pasted text, which may be the URL of a page that shows it; null unless there
 * is exactly one.
 */
export function findTxid(pasted: string): string | null {
  const found = new Set(pasted.toLowerCase().match(/(?<![0-9a-wyz])[0-9a-f]{64}(?![0-9a-z])/g))
  return found.size === 1 ? ([...found][0] ?? null) : null
}
