import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import { type IssuerState, stopsOf } from '../issuer/state.ts'
import type { Currency } from '../ledger/currencies.ts'

// Whether money may leave the payout address now. Everything that moves a payout asks here: asking, the rule that approves, the offer to the
// signer, what the signer hands in, sending, cancelling, lists, alarms, the desk and the doctor. The database refuses the same by the view
// `payout_stop`.

/** What is done with a payout, as far as something can stand in its way. */
export type PayoutAct = 'ask' | 'approve-by-rule' | 'offer' | 'take' | 'send' | 'cancel'

/** What is known to be wrong, by its name. */
export type LeavingStop =
  | 'forked'
  | 'restored'
  | 'unknown-transaction'
  | 'address-replaced'
  | 'decimals-unknown'
  | 'decimals-differ'
  | 'frozen'
  | 'paused'
  | 'fee-unconfirmed'
  | 'deprecated'

/** A stop, as programs and people read it, and what it stops. */
export interface StopRule {
  readonly reason: PayoutReason
  readonly why: string
  readonly stops: readonly PayoutAct[]
}

const leaving = ['approve-by-rule', 'offer', 'take', 'send'] as const

/**
 * Everything that keeps money from leaving. What is wrong with one currency stops that currency; the first four stop all. Asking is refused
 * only for what cannot be written down: an amount without known decimals, or anything while the chain is forked.
 */
export const stopRules: Readonly<Record<LeavingStop, StopRule>> = {
  forked: {
    reason: 'chain-forked',
    why: 'the nodes show another chain than before: nothing is paid until an operator has checked it',
    stops: ['ask', ...leaving],
  },
  restored: {
    reason: 'payouts-stopped',
    why: 'an older copy of the database was restored: payouts stop until a final block that is an hour later, and each one before it, is read',
    stops: [...leaving, 'cancel'],
  },
  'unknown-transaction': {
    reason: 'payouts-stopped',
    why: 'a transaction of the payout address that no payout names, or one that has succeeded after its payout went on, is in a final block: payouts stop until its bytes are handed in or an operator resumes',
    stops: ['offer', 'cancel'],
  },
  'address-replaced': {
    reason: 'configuration-differs',
    why: 'another address has a signed payout, or the payout address was issued to a user: nothing is paid from this one',
    stops: ['offer', 'take'],
  },
  'decimals-unknown': {
    reason: 'decimals-unknown',
    why: "the decimals of the token's contract could not be read yet",
    stops: ['ask', ...leaving],
  },
  'decimals-differ': {
    reason: 'decimals-differ',
    why: "the decimals of the token's contract differ from the configured ones",
    stops: ['ask', ...leaving],
  },
  frozen: { reason: 'frozen', why: 'the issuer of the token has frozen the payout address', stops: leaving },
  paused: { reason: 'paused', why: 'the issuer has paused the token', stops: leaving },
  'fee-unconfirmed': {
    reason: 'fee-unconfirmed',
    why: 'the issuer takes a fee that no operator has confirmed, so less would arrive',
    stops: leaving,
  },
  deprecated: { reason: 'deprecated', why: 'the issuer has replaced the contract of the token', stops: leaving },
}

/** What is known of everything that can keep money from leaving one address, read once. */
export interface LeavingFacts {
  /** What payouts are paid from. */
  readonly address: Address
  /** Whether the chain is known to be forked. */
  readonly isHalted: boolean
  /** Since when the database is known to be an older copy, or null. */
  readonly restoredAt: UnixMs | null
  /** Since when a transaction of the address stops payouts that no payout names, or that has succeeded late; or null. */
  readonly unknownSince: UnixMs | null
  /** Whether another address has a signed payout, or this one was issued to a user. */
  readonly isReplaced: boolean
  /** Decimals that are stored for good, since nodes agreed on the configured ones, by contract. */
  readonly decimals: ReadonlyMap<Address, number>
  /** Decimals that nodes agreed on last, where they are not stored. */
  readonly found: ReadonlyMap<Address, number>
  readonly issuers: IssuerState
}

/** What keeps anything from leaving, whatever the currency, the first reason first. */
function stopsOfAll({ isHalted, restoredAt, unknownSince, isReplaced }: LeavingFacts): readonly LeavingStop[] {
  return [
    ...(isHalted ? (['forked'] as const) : []),
    ...(isReplaced ? (['address-replaced'] as const) : []),
    ...(unknownSince !== null ? (['unknown-transaction'] as const) : []),
    ...(restoredAt !== null ? (['restored'] as const) : []),
  ]
}

/** What keeps one currency from leaving, besides what keeps all, the first reason first. */
function stopsOfCurrency(facts: LeavingFacts, { cuy, asset, decimals }: Currency): readonly LeavingStop[] {
  const agreed = asset.kind === 'trc20' ? facts.decimals.get(asset.contract) : decimals
  const known = agreed ?? (asset.kind === 'trc20' ? facts.found.get(asset.contract) : undefined)
  const differ = known !== undefined && known !== decimals
  return [
    ...(differ ? (['decimals-differ'] as const) : agreed === undefined ? (['decimals-unknown'] as const) : []),
    ...stopsOf(facts.issuers, cuy, facts.address),
  ]
}

/** Why this is not done now with a payout in a currency: the first of its stops that stands in the way, or null. */
export function findLeavingStop(facts: LeavingFacts, currency: Currency, act: PayoutAct): LeavingStop | null {
  const stops = [...stopsOfAll(facts), ...stopsOfCurrency(facts, currency)]
  return stops.find((stop) => stopRules[stop].stops.includes(act)) ?? null
}

/** Why this is not done now with any payout, or null. */
export function findStopOfAll(facts: LeavingFacts, act: PayoutAct): LeavingStop | null {
  return stopsOfAll(facts).find((stop) => stopRules[stop].stops.includes(act)) ?? null
}

/** The currencies in which this is not done now, each with the first reason that is its own. */
export function stoppedCurrencies(
  facts: LeavingFacts,
  currencies: readonly Currency[],
  act: PayoutAct,
): ReadonlyMap<CurrencyId, LeavingStop> {
  return new Map(
    currencies.flatMap((currency) => {
      const stop = stopsOfCurrency(facts, currency).find((one) => stopRules[one].stops.includes(act))
      return stop === undefined ? [] : [[currency.cuy, stop] as const]
    }),
  )
}
