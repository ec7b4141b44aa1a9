import * as z from 'zod/mini'
import { formatUnits, parseUnits } from '../../common/amount.ts'
import type { CurrencyId } from '../../common/ids.ts'
import { parseJson } from '../../common/result.ts'
import type { Currencies, Currency } from '../../ledger/currencies.ts'
import { ToolError } from '../tool-error.ts'
import type { Journal } from './journal.ts'
import { type ShownPayout, textOfKey } from './payout.ts'

/** What a signer signs of a currency: in one payout, and in 24 hours, in ledger units. */
export interface SignerLimit {
  readonly each: bigint
  readonly perDay: bigint
}

const dayMs = 86_400_000
const entry = z.strictObject({ cuy: z.int(), each: z.string(), perDay: z.string() })
const example = '[{ "cuy": 2, "each": "100", "perDay": "1000" }]'

/** Parses the file of limits. A currency that it does not name has none, and nothing of it is signed. */
export function parseLimits(text: string, { byId }: Currencies): ReadonlyMap<number, SignerLimit> {
  const parsed = z.array(entry).safeParse(parseJson(text))
  if (!parsed.success) throw refused('it has another form')
  const limits = new Map<number, SignerLimit>()
  for (const { cuy, each, perDay } of parsed.data) {
    const currency = byId.get(cuy as CurrencyId) // safe: looked up
    if (currency === undefined || limits.has(cuy)) throw refused(`cuy ${cuy} is not in CURRENCIES, or is there twice`)
    const read = (amount: string) => {
      const units = parseUnits(amount, currency.scale)
      if (units.ok) return units.value
      throw refused(`"${amount}" is not a decimal of at most ${currency.scale} places (${currency.symbol})`)
    }
    limits.set(cuy, { each: read(each), perDay: read(perDay) })
  }
  return limits
}

const refused = (why: string) =>
  new ToolError(`the file of --limits: ${why}`, `write one such as ${example}, amounts as text in whole units`)

/** Units of the ledger, or null if the amount is none. */
export function unitsToPay({ amt }: Pick<ShownPayout, 'amt'>, { scale }: Currency): bigint | null {
  const units = parseUnits(amt, scale)
  return units.ok && units.value > 0n ? units.value : null
}

/** Why a payout is more than a signer may sign, or null. What counts for a day is what the journal has, whatever became of it. */
export function findExcess(
  units: bigint,
  currency: Currency,
  limit: SignerLimit | undefined,
  { entries }: Pick<Journal, 'entries'>,
  now: number,
): string | null {
  const { cuy, symbol, scale } = currency
  if (limit === undefined) return `the limits of this signer have no ${symbol}`
  const text = (amount: bigint) => `${formatUnits(amount, scale)} ${symbol}`
  if (units > limit.each) return `more than this signer signs of one payout, ${text(limit.each)}`
  const counted = new Set<string>() // of a payout only the newest: those before it are known to have paid nothing
  let sum = 0n
  for (let i = entries.length - 1; i >= 0; i -= 1) {
    const one = entries[i]
    if (one === undefined || one.at <= now - dayMs) break
    if (one.cuy !== cuy || counted.has(textOfKey(one))) continue
    counted.add(textOfKey(one))
    sum += unitsToPay(one, currency) ?? 0n
  }
  return sum + units > limit.perDay
    ? `more than this signer signs in 24 hours: ${text(sum)} of ${text(limit.perDay)}`
    : null
}
