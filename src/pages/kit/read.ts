import { decimalForm } from './decimal.ts'

/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** Longest text that is shown, in characters. */
const shownCharsMax = 400
/** Control characters, and those that turn the direction of what follows: a text with them is not what it seems. */
const deceptive = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

/** Parses JSON with the digits of numbers that are amounts, by their names, as texts: they never become doubles. */
export function parseExact(text: string): unknown {
  // In JSON a quote inside a text has a backslash before it, so a name with its colon is found only where it is one.
  return JSON.parse(
    text.replace(
      /("(?:amt|fee|balance|owed|held|frozen|destroyed|unexplained|sum|opening|closing)"\s*:\s*)(-?\d[^\s,}\]]*)/g,
      '$1"$2"',
    ),
  )
}

/** An object of an answer. */
export function readMembers(value: unknown): Members {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object')
  return value as Members // safe: every object has members of unknown types
}

/** The member `list` of an answer, item by item. */
export function readList<Item>(data: unknown, read: (item: Members) => Item): Item[] {
  const { list } = readMembers(data)
  if (!Array.isArray(list)) throw new TypeError('not a list')
  return list.map((item) => read(readMembers(item)))
}

/** A page of a list: its items, and how many there are in all. */
export interface ListPage<Item> {
  readonly list: readonly Item[]
  readonly count: number
}

/** The members `list` and `count` of an answer. */
export function readPage<Item>(data: unknown, read: (item: Members) => Item): ListPage<Item> {
  return { list: readList(data, read), count: readInteger(readMembers(data).count) }
}

/** A text for people: of a limited length, without characters that deceive. */
export function readText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a text')
  return value.slice(0, shownCharsMax).replace(deceptive, '')
}

/** A text for people, null where there is none. */
export const readOptionalText = (value: unknown) => (value === undefined || value === null ? null : readText(value))

/** A text of exactly this form. */
export function readForm(value: unknown, form: RegExp): string {
  if (typeof value !== 'string' || !form.test(value)) throw new TypeError('not of its form')
  return value
}

/** A whole number. */
export function readInteger(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('not a whole number')
  return value as number // safe: checked above
}

/** A whole number, null where there is none. */
export const readOptionalInteger = (value: unknown) =>
  value === undefined || value === null ? null : readInteger(value)

/** An exact decimal. */
export const readDecimal = (value: unknown): string => readForm(value, decimalForm)

/** The transaction number in what was pasted, which can be the address of a page that shows it; null without exactly one. */
export function findTxid(pasted: string): string | null {
  const found = new Set(pasted.toLowerCase().match(/(?<![0-9a-wyz])[0-9a-f]{64}(?![0-9a-z])/g))
  return found.size === 1 ? ([...found][0] ?? null) : null
}
