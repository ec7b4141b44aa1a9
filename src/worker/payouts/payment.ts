import type { TokenFee } from '../issuer/state.ts'
import type { Outflow } from './outflow.ts'

// Whether what a transaction has moved pays a payout.

/**
 * The amount that a payout is to pay, in chain units of its token, and to whom. `contract` is empty
 * for TRX.
 */
interface Payee {
  readonly contract: Outflow['contract']
  readonly to_address: Outflow['to']
  readonly raw: string
}

/**
 * A token's transfer fee that an operator has confirmed: hundredths of a percent, and the maximum
 * in chain units.
 */
export type ConfirmedFee = Pick<TokenFee, 'basisPoints' | 'maximum'>

/**
 * `paid` if exactly the amount reached the payee, or the amount less a confirmed fee. `failed` if
 * the transaction failed. `other` if it succeeded and paid something else.
 */
export function endOf(
  payout: Payee,
  { succeeded, moved }: { readonly succeeded: boolean; readonly moved: readonly Outflow[] | null },
  fees: readonly ConfirmedFee[],
): 'paid' | 'failed' | 'other' {
  if (!succeeded) return 'failed'
  const all = moved ?? []
  const isExact = all.some((part) => isToPayee(payout, part) && part.raw === payout.raw)
  return isExact || fees.some((fee) => isSplitBy(fee, payout, all)) ? 'paid' : 'other'
}

const isToPayee = ({ contract, to_address }: Payee, { contract: token, to }: Outflow) =>
  token === contract && to === to_address

/**
 * Whether exactly the amount has left in two parts: the payee got the amount less the fee, and
 * somebody else the fee.
 */
function isSplitBy({ basisPoints, maximum }: ConfirmedFee, payout: Payee, moved: readonly Outflow[]): boolean {
  const amount = BigInt(payout.raw)
  const share = (amount * basisPoints) / 10_000n
  const fee = share > maximum ? maximum : share
  const [toPayee, rest] = [
    moved.filter((part) => isToPayee(payout, part)),
    moved.filter((part) => !isToPayee(payout, part)),
  ]
  const isWhole =
    moved.length === 2 && toPayee.length === 1 && rest.every(({ contract }) => contract === payout.contract)
  return isWhole && BigInt(toPayee[0]?.raw ?? 0) === amount - fee && BigInt(rest[0]?.raw ?? 0) === fee
}

/**
 * The chain units that the payee of a paid payout has received, if they are less than the payout's
 * amount; else null.
 */
export function receivedBy(payout: Payee, moved: readonly Outflow[]): string | null {
  const parts = moved.filter((part) => isToPayee(payout, part))
  return parts.some(({ raw }) => raw === payout.raw) ? null : (parts[0]?.raw ?? null)
}
