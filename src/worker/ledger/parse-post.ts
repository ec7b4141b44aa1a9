import * as z from 'zod/mini'
import { type Amount, amountMax, formatUnits, parseAmount } from '../common/amount.ts'
import { type CurrencyId, entryTypes, reservedUid, type Uid } from '../common/ids.ts'
import { isRemark, remarkCharsMax } from '../common/remark.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currencies, Currency } from './currencies.ts'
import { type EntryKey, type NewEntry, osnCharsMax, osnForm, type PostedType } from './entry.ts'

/** Most entries in one post. */
export const postEntriesMax = 20

/**
 * Why a post is malformed: `entry` is the place of the faulty entry in the post, from 1; `why` says
 * what its `member` must be.
 */
export interface BadPost {
  readonly kind: 'bad-input'
  readonly entry?: number
  readonly member: string
  readonly why: string
}

/** The sign that the amount of an entry must have, by type. */
const signs: Readonly<Record<PostedType, 'negative' | 'positive' | 'either'>> = {
  2: 'negative',
  3: 'either',
  4: 'negative',
  5: 'positive',
  9: 'either',
}
const types = Object.keys(signs).map((type) => Number(type) as PostedType) // safe: the record's own keys
/** The types that a backend can post with an amount of this sign. */
export const typesWith = (sign: 'negative' | 'positive') =>
  types.filter((type) => signs[type] === sign || signs[type] === 'either')

const uidExpected = `a whole number from 1 to ${reservedUid}`
const cuyForm = 'a whole number from 1'
const reservedGives = `${reservedUid} is reserved: it only gives, in transfers (type 3) with a negative amt`
const osnExpected = `1 to ${osnCharsMax} printable ASCII characters`
const amtExpected = 'a decimal such as "-2.5", without exponent or plus sign'
const markExpected = `at most ${remarkCharsMax} characters, without control characters, invisible ones and those that turn the direction of text`
const entryExpected = 'an object with uid, cuy, type, osn, amt and optionally mark, and nothing else'
const entriesExpected = `an array of 1 to ${postEntriesMax} entries`

/**
 * The schema of one entry in a post; its messages are for the backend. `amt` is text here: see
 * `parseAmountsAsText`.
 */
export const postedEntry = z.strictObject(
  {
    uid: z.int(uidExpected).check(z.minimum(1, uidExpected), z.maximum(reservedUid, uidExpected)),
    cuy: z.int(cuyForm).check(z.minimum(1, cuyForm)),
    type: z.literal(types, `one of ${types.join(', ')}; only the chain makes entries of type 1`),
    /**
     * The order serial reference. A wallet has at most one entry of a type with the same one.
     */
    osn: z.string(osnExpected).check(z.maxLength(osnCharsMax, osnExpected), z.regex(osnForm, osnExpected)),
    amt: z.string(amtExpected),
    /** A remark for people. */
    mark: z.optional(z.string(markExpected).check(z.refine(isRemark, markExpected))),
  },
  entryExpected,
)

const post = z
  .array(postedEntry, entriesExpected)
  .check(z.minLength(1, entriesExpected), z.maxLength(postEntriesMax, entriesExpected))

/**
 * Parses the entries of a post, and checks each alone and all together. Whether they fit the stored
 * data is checked by `postEntries`.
 */
export function parsePost(list: unknown, currencies: Currencies): Result<readonly NewEntry[], BadPost> {
  const parsed = post.safeParse(list)
  if (!parsed.success) {
    const { path: [index, member] = [], message = entriesExpected } = parsed.error.issues[0] ?? {}
    if (index === undefined) return err({ kind: 'bad-input', member: 'entries', why: message })
    return err(fault(Number(index), String(member ?? 'entry'), message))
  }
  const entries: NewEntry[] = []
  for (const [i, { uid, cuy, amt, mark = '', ...rest }] of parsed.data.entries()) {
    const currency = currencies.byId.get(cuy as CurrencyId)
    if (currency === undefined) return err(fault(i, 'cuy', currencyExpected(currencies)))
    const amount = readAmountOf(amt, rest.type, currency)
    if (!amount.ok) return err(fault(i, 'amt', amount.error))
    if (uid === reservedUid && (rest.type !== entryTypes.transfer || amount.value > 0n)) {
      return err(fault(i, 'uid', reservedGives))
    }
    // safe: the schema has checked the range
    entries.push({ ...rest, uid: uid as Uid, cuy: currency.cuy, amount: amount.value, mark })
  }
  const together = faultTogether(entries, currencies)
  return together === null ? ok(entries) : err(together)
}

/** Lists the valid values of `cuy` for messages: `one of 1 (TRX), 2 (USDT)`. */
export function currencyExpected({ list }: Currencies): string {
  return `one of ${list.map(({ cuy, symbol }) => `${cuy} (${symbol})`).join(', ')}`
}

/** The key of an entry in maps. `osn` comes last, because it may contain spaces. */
export function keyText({ uid, cuy, type, osn }: EntryKey): string {
  return `${uid} ${cuy} ${type} ${osn}`
}

function fault(index: number, member: string, why: string): BadPost {
  return { kind: 'bad-input', entry: index + 1, member, why }
}

/**
 * Parses a ledger amount in whole units of the currency. The error says what the text must be, for
 * messages.
 */
export function readAmountText(text: string, { scale, symbol }: Currency): Result<Amount, string> {
  const amount = parseAmount(text, scale)
  if (amount.ok) return amount
  switch (amount.error) {
    case 'not-a-decimal':
      return err(amtExpected)
    case 'too-many-decimals':
      return err(`at most ${scale} decimals in ${symbol}`)
    case 'out-of-range':
      return err(`at most ${formatUnits(amountMax, scale)} ${symbol}`)
  }
}

function readAmountOf(text: string, type: PostedType, currency: Currency): Result<Amount, string> {
  const amount = readAmountText(text, currency)
  if (!amount.ok) return amount
  const sign = signs[type]
  if (amount.value === 0n) return err('not zero')
  const isNegative = amount.value < 0n
  return sign === 'either' || (sign === 'negative') === isNegative ? amount : err(`${sign} for type ${type}`)
}

/**
 * Finds a fault of entries that are valid alone: two have the same key, transfers have several
 * `osn`, or the transfers in a currency do not sum to zero.
 */
function faultTogether(entries: readonly NewEntry[], currencies: Currencies): BadPost | null {
  const seen = new Map<string, number>()
  for (const [i, entry] of entries.entries()) {
    const first = seen.get(keyText(entry))
    if (first !== undefined) return fault(i, 'osn', `the same uid, cuy, osn and type as entry ${first + 1}`)
    seen.set(keyText(entry), i)
  }
  const transfers = [...entries.entries()].filter(([, { type }]) => type === 3)
  const other = transfers.find(([, { osn }]) => osn !== transfers[0]?.[1].osn)
  if (other !== undefined) return fault(other[0], 'osn', 'the same for all transfers (type 3) of a post')
  for (const { cuy, scale, symbol } of currencies.list) {
    const own = transfers.filter(([, entry]) => entry.cuy === cuy)
    const sum = own.reduce((total, [, { amount }]) => total + amount, 0n)
    const [last] = own.at(-1) ?? []
    if (last !== undefined && sum !== 0n) {
      return fault(last, 'amt', `the transfers of a post sum to zero, in ${symbol} to ${formatUnits(sum, scale)}`)
    }
  }
  return null
}
