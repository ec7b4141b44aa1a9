import * as z from 'zod/mini'
import { formatUnits, parseUnits } from '../../worker/common/amount.ts'
import type { CurrencyId } from '../../worker/common/ids.ts'
import { parseJson } from '../../worker/common/result.ts'
import { dayMs } from '../../worker/common/time.ts'
import type { Currencies, Currency } from '../../worker/ledger/currencies.ts'
import { ToolError } from '../tool-error.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { type ShownPayout, textOfKey } from './payout.ts'

/**
 * The limits within which a signer signs payouts of a currency without asking. Payouts beyond the
 * limits wait for a person. Amounts are in ledger units; a day is the last 24 hours.
 */
export interface SignerLimit {
  readonly each: bigint
  readonly perDay: bigint
  readonly perUserPerDay: bigint | null
  /** The smallest amount of one payout that the signer signs. */
  readonly least: bigint
  /** The largest number of payouts in a day, because even the smallest payout may burn a fee. */
  readonly countPerDay: number
}

/**
 * The nodes of the signer, in the form of `TRON_NODES` and `TRON_QUORUM`. The configuration's
 * schema checks them.
 */
export interface OwnNodesSetting {
  readonly nodes: readonly unknown[]
  readonly quorum: number | undefined
}

const countPerDayByDefault = 500
const entry = z.strictObject({
  cuy: z.int(),
  each: z.string(),
  perDay: z.string(),
  perUserPerDay: z.optional(z.string()),
  least: z.optional(z.string()),
  countPerDay: z.optional(z.int().check(z.gte(0))),
})
const limitsShape = z.array(entry)
const fileShape = z.strictObject({
  limits: limitsShape,
  nodes: z.optional(z.array(z.unknown())),
  quorum: z.optional(z.int()),
})
const example = '{ "limits": [{ "cuy": 2, "each": "100", "perDay": "1000" }] }'

/** Parses the file of limits: an object, or only its list of limits. */
function readFile(text: string): z.infer<typeof fileShape> {
  const value = parseJson(text)
  const parsed = fileShape.safeParse(Array.isArray(value) ? { limits: value } : value)
  if (parsed.success) return parsed.data
  throw refused('it has another form')
}

/** Parses the nodes in a file of limits; null if it names none. */
export function parseOwnNodes(text: string): OwnNodesSetting | null {
  const { nodes, quorum } = readFile(text)
  if (nodes !== undefined) return { nodes, quorum }
  if (quorum !== undefined) throw refused('it has a quorum and no nodes')
  return null
}

/**
 * Parses the file of limits, by `cuy`. A currency that it does not name has no limits, so none of
 * its payouts is signed. Throws a `ToolError`.
 */
export function parseLimits(text: string, { byId }: Currencies): ReadonlyMap<number, SignerLimit> {
  const limits = new Map<number, SignerLimit>()
  for (const { cuy, each, perDay, perUserPerDay, least = '0', countPerDay = countPerDayByDefault } of readFile(text)
    .limits) {
    const currency = byId.get(cuy as CurrencyId) // safe: it is only looked up
    if (currency === undefined || limits.has(cuy)) throw refused(`cuy ${cuy} is not in CURRENCIES, or is there twice`)
    const read = (amount: string) => {
      const units = parseUnits(amount, currency.scale)
      if (units.ok) return units.value
      throw refused(`"${amount}" is not a decimal of at most ${currency.scale} places (${currency.symbol})`)
    }
    limits.set(cuy, {
      each: read(each),
      perDay: read(perDay),
      perUserPerDay: perUserPerDay === undefined ? null : read(perUserPerDay),
      least: read(least),
      countPerDay,
    })
  }
  return limits
}

const refused = (why: string) =>
  new ToolError(`the file of --limits: ${why}`, `write one such as ${example}, amounts as text in whole units`)

/** The amount in ledger units, or null if it is not valid. */
export function unitsToPay({ amt }: Pick<ShownPayout, 'amt'>, { scale }: Currency): bigint | null {
  const units = parseUnits(amt, scale)
  return units.ok && units.value > 0n ? units.value : null
}

/** A payout to sign: ledger units, and the user who is paid. */
interface Wanted {
  readonly units: bigint
  readonly uid: number
}

/**
 * Why a payout exceeds the limits of the signer, or null. Every payout that was signed in the last
 * 24 hours counts, whatever became of it.
 */
export function findExcess(
  { units, uid }: Wanted,
  currency: Currency,
  limit: SignerLimit | undefined,
  { entries }: Pick<Journal, 'entries'>,
  now: number,
): string | null {
  const { symbol, scale } = currency
  if (limit === undefined) return `the limits of this signer have no ${symbol}`
  const text = (amount: bigint) => `${formatUnits(amount, scale)} ${symbol}`
  if (units > limit.each) return `more than this signer signs of one payout, ${text(limit.each)}`
  if (units < limit.least) return `less than this signer signs of one payout, ${text(limit.least)}`
  const day = dayOf(entries, currency, now)
  const unreadable = day.find((one) => unitsToPay(one, currency) === null)
  if (unreadable !== undefined) {
    const where = '"scale" in CURRENCIES of this machine'
    return `the journal has ${unreadable.amt} ${symbol}, more places than ${where}: correct that first`
  }
  const sumOf = (list: typeof day) => list.reduce((sum, one) => sum + (unitsToPay(one, currency) ?? 0n), 0n)
  const sum = sumOf(day)
  if (sum + units > limit.perDay) {
    return `more than this signer signs in 24 hours: ${text(sum)} of ${text(limit.perDay)}`
  }
  const own = sumOf(day.filter((one) => one.uid === uid))
  if (limit.perUserPerDay !== null && own + units > limit.perUserPerDay) {
    return `more than this signer signs for one user in 24 hours: ${text(own)} of ${text(limit.perUserPerDay)}`
  }
  return day.length >= limit.countPerDay
    ? `more payouts than this signer signs in 24 hours: ${limit.countPerDay} in ${symbol}`
    : null
}

/**
 * The transactions of a currency that were signed in the last 24 hours. Only the newest transaction
 * of each payout counts: earlier ones have paid nothing, or a person has decided about them.
 */
function dayOf(entries: readonly JournalEntry[], { cuy }: Currency, now: number): readonly JournalEntry[] {
  const newest = new Map<string, JournalEntry>()
  for (let i = entries.length - 1; i >= 0; i -= 1) {
    const one = entries[i]
    if (one === undefined || one.at <= now - dayMs) break // a journal is in the order of signing
    if (one.cuy === cuy && !newest.has(textOfKey(one))) newest.set(textOfKey(one), one)
  }
  return [...newest.values()]
}
