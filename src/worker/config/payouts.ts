import * as z from 'zod/mini'
import { deriveAddress, type ExtendedPublicKey } from '../addresses/derive.ts'
import { balancesMax } from '../chain/chain.ts'
import { transferEnergyMin } from '../chain/transaction.ts'
import { type Amount, amountMax, formatUnits, noAmount, parseUnits, toAmount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import { parseJson } from '../common/result.ts'
import type { PayoutLimit, PayoutRules } from '../ledger/context.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import { addressText, entryOf, integerFrom, listOf, optional, type Refuse } from './schemas.ts'

/** The default of `feeLimit`, in TRX: the most that a token transfer may burn. */
const feeLimitByDefault = 100
/** The price of an energy on the main network, in sun (`getEnergyFee`, since August 2025). */
const sunPerEnergy = 100n
/** The least `feeLimit`, in TRX: with less, no transfer of a token succeeds on the main network. */
const feeLimitMin = Math.ceil(Number(transferEnergyMin * sunPerEnergy) / 1_000_000)
/** The highest `feeLimit`, in TRX: no network has ever let one transaction burn more. */
const feeLimitMax = 15_000
const sunPerTrx = 1_000_000n
const limitsMax = 50
/**
 * The default of `countPerDay`: most payouts of a currency in a day that are approved without a
 * person.
 */
const countPerDayByDefault = 500
const countPerDayMax = 1_000_000

const decimalExpected = 'a decimal as text, such as "1.5"'
const limitEntry = entryOf({
  cuy: integerFrom<CurrencyId>(1, 1_000_000),
  each: z.string(decimalExpected),
  perDay: z.string(decimalExpected),
  perUserPerDay: z.optional(z.string(decimalExpected)),
  least: z.optional(z.string(decimalExpected)),
  countPerDay: z.optional(integerFrom(0, countPerDayMax)),
})

const payoutsExpected = 'an object with address and optionally limits and feeLimit, or its JSON text'

/**
 * Parses the form of `PAYOUTS`, an object or its JSON text. `readPayouts` then checks it against
 * the rest of the configuration.
 */
export const payoutsSchema = z.object({
  PAYOUTS: optional(
    z.pipe(
      z.transform((value) => (typeof value === 'string' ? parseJson(value) : value)),
      z.strictObject(
        {
          address: addressText('the Tron address that payouts are paid from (34 characters, starts with T)'),
          limits: z.optional(listOf(limitEntry, limitsMax)),
          feeLimit: z.optional(integerFrom(feeLimitMin, feeLimitMax)),
        },
        payoutsExpected,
      ),
    ),
  ),
})

/**
 * The most sun that a token transfer from the payout address may burn: `feeLimit` of `PAYOUTS`,
 * which is in TRX, or its default.
 */
export const feeLimitOf = ({ feeLimit = feeLimitByDefault }: { readonly feeLimit?: number | undefined }): bigint =>
  BigInt(feeLimit) * sunPerTrx

type PayoutsSetting = z.output<typeof payoutsSchema>['PAYOUTS']
/** The parts of the configuration against which `PAYOUTS` is checked. */
interface Others {
  readonly currencies: Currencies
  readonly extendedPublicKey: ExtendedPublicKey
}

/**
 * Makes the payout rules from parsed `PAYOUTS`; null if it is not set. Calls `refuse` if the
 * address is a currency's contract or one of the first addresses of `TRON_XPUB`, or if the limits
 * do not fit the currencies. `findPayoutDifferences` later compares the address with the addresses
 * that were issued.
 */
export function readPayouts(
  setting: PayoutsSetting,
  { currencies, extendedPublicKey }: Others,
  refuse: Refuse,
): PayoutRules | null {
  if (setting === null) return null
  const { address, limits: entries = [] } = setting
  if (currencies.byContract.has(address)) refuse('not the contract of a currency', 'PAYOUTS', 'address')
  const firstAddresses = Array.from({ length: balancesMax }, (_, index) => deriveAddress(extendedPublicKey, index))
  if (firstAddresses.includes(address)) {
    refuse(`not one of the first ${balancesMax} addresses of TRON_XPUB`, 'PAYOUTS', 'address')
  }
  const limits = new Map<CurrencyId, PayoutLimit>()
  for (const [i, { cuy, countPerDay = countPerDayByDefault, ...amounts }] of entries.entries()) {
    const currency = currencies.byId.get(cuy)
    if (currency === undefined) return refuse('a currency of CURRENCIES', 'PAYOUTS', 'limits', i, 'cuy')
    if (limits.has(cuy)) return refuse('each cuy once', 'PAYOUTS', 'limits', i, 'cuy')
    const read = (name: keyof typeof amounts, text: string) =>
      amountIn(text, currency) ?? refuse(amountExpected(currency), 'PAYOUTS', 'limits', i, name)
    const { each, perDay, perUserPerDay, least } = amounts
    limits.set(cuy, {
      each: read('each', each),
      least: least === undefined ? noAmount : read('least', least),
      perDay: read('perDay', perDay),
      countPerDay,
      perUserPerDay: perUserPerDay === undefined ? null : read('perUserPerDay', perUserPerDay),
    })
  }
  return Object.freeze({ address, limits, feeLimit: feeLimitOf(setting) })
}

function amountIn(text: string, { scale }: Currency): Amount | null {
  const units = parseUnits(text, scale)
  return units.ok ? toAmount(units.value) : null
}

const amountExpected = ({ scale, symbol }: Currency) =>
  `a decimal as text of at most ${scale} places, up to ${formatUnits(amountMax, scale)} ${symbol}`
