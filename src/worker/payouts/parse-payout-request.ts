import * as z from 'zod/mini'
import { type Address, parseAddress, zeroAddress } from '../chain/address.ts'
import { type Amount, formatUnits, noAmount } from '../common/amount.ts'
import { type CurrencyId, reservedUid, type Uid } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import { currencyExpected, postEntriesMax, postedEntry, readAmountText } from '../ledger/parse-post.ts'
import type { PayoutFailure } from './failure.ts'
import { findOtherMember, type ProvenPayout, proofExpected, readProof } from './proof.ts'

/** A requested payout after parsing, not yet stored. */
export interface NewPayout {
  readonly uid: Uid
  readonly cuy: CurrencyId
  readonly osn: string
  /** Ledger units, positive. */
  readonly amount: Amount
  /** Ledger units; 0 if there is no fee. */
  readonly fee: Amount
  readonly to: Address
  /** The contract of the currency; empty for TRX. */
  readonly contract: Address | ''
  /** `amount` in chain units. */
  readonly raw: bigint
  readonly mark: string
  readonly proof: string | null
}

export const requestedMax = postEntriesMax

const uidExpected = `a whole number from 1 to ${reservedUid - 1}`
const toExpected = 'a Tron address: T… with 34 characters, the last ones of which check the others'
const feeExpected = 'a decimal such as "0.5", without sign or exponent'
const payoutExpected = 'an object with uid, cuy, amt, to, osn and optionally fee, mark and proof, and nothing else'
const payoutsExpected = `an array of 1 to ${requestedMax} payouts`

const { uid, cuy, osn, amt, mark } = postedEntry.shape
/** One payout of the request as the backend sends it; amounts are decimal texts of whole units. */
export const requestedPayout = z.strictObject(
  {
    // the owner of reserved addresses can only give money in a transfer
    uid: uid.check(z.maximum(reservedUid - 1, uidExpected)),
    cuy,
    amt,
    /** The recipient's address in Base58Check. */
    to: z.string(toExpected),
    /** The order serial reference, which identifies the payout together with `uid` and `cuy`. */
    osn,
    fee: z.optional(z.string(feeExpected)),
    mark,
    /**
     * A compact JWS by which the backend proves to the signer that it has asked for this payout.
     * Needed only if the signer requires proofs.
     */
    proof: z.optional(z.string(proofExpected)),
  },
  payoutExpected,
)

const payoutRequest = z
  .array(requestedPayout, payoutsExpected)
  .check(z.minLength(1, payoutsExpected), z.maxLength(requestedMax, payoutsExpected))

/**
 * Parses requested payouts, and checks each alone and against the others. Stored data is not read.
 */
export function parsePayoutRequest(list: unknown, currencies: Currencies): Result<readonly NewPayout[], PayoutFailure> {
  const parsed = payoutRequest.safeParse(list)
  if (!parsed.success) {
    const { path: [index, member] = [], message = payoutsExpected } = parsed.error.issues[0] ?? {}
    if (index === undefined) return err({ kind: 'bad-input', member: 'payouts', why: message })
    return fault(Number(index), String(member ?? 'payout'), message)
  }
  const payouts: NewPayout[] = []
  for (const [i, { uid, cuy, amt, to, osn, fee = '0', mark = '', proof = null }] of parsed.data.entries()) {
    const currency = currencies.byId.get(cuy as CurrencyId)
    if (currency === undefined) return fault(i, 'cuy', currencyExpected(currencies))
    const amount = readPositive(amt, currency)
    if (!amount.ok) return fault(i, 'amt', amount.error)
    const charged = readAmountText(fee, currency)
    if (!charged.ok) return fault(i, 'fee', charged.error)
    if (charged.value < noAmount) return fault(i, 'fee', 'not negative')
    const address = parseAddress(to)
    if (!address.ok) return fault(i, 'to', toExpected)
    if (payouts.some((other) => other.uid === uid && other.cuy === cuy && other.osn === osn)) {
      return fault(i, 'osn', 'another one for each payout of a user and currency')
    }
    const shown = { uid, cuy, amt: formatUnits(amount.value, currency.scale), to, osn }
    const unproven = proof === null ? null : whyNotProven(proof, shown)
    if (unproven !== null) return fault(i, 'proof', unproven)
    payouts.push({
      uid: uid as Uid, // safe: checked by the schema
      cuy: currency.cuy,
      osn,
      amount: amount.value,
      fee: charged.value,
      to: address.value,
      contract: contractOf(currency),
      raw: rawOf(amount.value, currency),
      mark,
      proof,
    })
  }
  return ok(payouts)
}

function whyNotProven(proof: string, payout: ProvenPayout): string | null {
  const proven = readProof(proof)
  if (!proven.ok) return proven.error
  const other = findOtherMember(proven.value, payout)
  return other === null ? null : `one of this payout: it is of another ${other}`
}

/** The most sun that one transaction can move: its amount is a signed integer of 64 bits. */
const sunMax = 2n ** 63n - 1n

function readPositive(text: string, currency: Currency): Result<Amount, string> {
  const amount = readAmountText(text, currency)
  if (!amount.ok) return amount
  if (amount.value <= noAmount) return err('more than zero')
  const isSent = currency.asset.kind !== 'native' || rawOf(amount.value, currency) <= sunMax
  return isSent ? amount : err(`at most ${formatUnits(sunMax, currency.decimals)} ${currency.symbol}`)
}

const contractOf = ({ asset }: Currency): Address | '' => (asset.kind === 'native' ? '' : asset.contract)
const rawOf = (amount: Amount, { decimals, scale }: Currency) => amount * 10n ** BigInt(decimals - scale)

function fault(index: number, member: string, why: string) {
  return err({ kind: 'bad-input', payout: index + 1, member, why } as const)
}

/**
 * Why nobody may be paid at this address, judged without stored data; null if there is no reason.
 */
export function whyNotTo(
  to: Address,
  { byContract }: Currencies,
  payoutAddresses: ReadonlySet<Address>,
): { readonly reason: PayoutReason; readonly why: string } | null {
  if (payoutAddresses.has(to))
    return { reason: 'to-payout-address', why: 'to is the address that payouts are paid from' }
  if (byContract.has(to))
    return { reason: 'to-contract', why: 'to is the contract of a currency: the money would be lost' }
  return to === zeroAddress
    ? { reason: 'to-nobody', why: 'to is the address of no key: the money would be lost' }
    : null
}
