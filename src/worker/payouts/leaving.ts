import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import { type IssuerState, stopsOf } from '../issuer/state.ts'
import type { Currency } from '../ledger/currencies.ts'

// Decides whether money may leave the payout address now. Whatever moves or shows a payout asks here: the request, approval by limits, the offer to the signer,
// the hand-in of signed bytes, sending, cancelling, lists, alarms, the desk and the doctor. The view `payout_stop` enforces the same rules in the database.

/** Steps of a payout that can be prevented while money may not leave the payout address. */
export type PayoutAct = 'ask' | 'approve-by-rule' | 'offer' | 'take' | 'send' | 'cancel'

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

/** Why money may not leave, for programs (`reason`) and for people (`why`), and which steps of a payout this prevents. */
export interface StopRule {
  readonly reason: PayoutReason
  readonly why: string
  readonly stops: readonly PayoutAct[]
}

const leaving = ['approve-by-rule', 'offer', 'take', 'send'] as const

/**
 * Every reason for which money may not leave. The first four concern all payouts, the others those of one currency. A request for a payout (`ask`) is refused
 * only if the chain is forked or the currency's decimals are in doubt. For all other reasons the payout is stored and waits.
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

/** The facts that can stop payouts from one address, read in one round trip. */
export interface LeavingFacts {
  readonly address: Address
  /** Whether the scan is halted because the chain is forked. */
  readonly isHalted: boolean
  /** Since when the database is known to be a restored older copy, or null. */
  readonly restoredAt: UnixMs | null
  /**
   * Since when an unexplained transaction stops payouts: one that no payout names, or one that succeeded after its payout had moved on. Null if there is none.
   */
  readonly unknownSince: UnixMs | null
  /** Whether another address has a signed payout, or this address was issued to a user. */
  readonly isReplaced: boolean
  /** Decimals by contract that are stored for good, because nodes agreed on the configured ones. */
  readonly decimals: ReadonlyMap<Address, number>
  /** For contracts that are not in `decimals`: the decimals on which nodes agreed last. */
  readonly found: ReadonlyMap<Address, number>
  readonly issuers: IssuerState
}

/** The reasons why no money may leave in any currency, in order of precedence. */
function stopsOfAll({ isHalted, restoredAt, unknownSince, isReplaced }: LeavingFacts): readonly LeavingStop[] {
  return [
    ...(isHalted ? (['forked'] as const) : []),
    ...(isReplaced ? (['address-replaced'] as const) : []),
    ...(unknownSince !== null ? (['unknown-transaction'] as const) : []),
    ...(restoredAt !== null ? (['restored'] as const) : []),
  ]
}

/** The reasons why no money may leave in this currency alone, in order of precedence. */
function stopsOfCurrency(facts: LeavingFacts, { cuy, asset, decimals }: Currency): readonly LeavingStop[] {
  const agreed = asset.kind === 'trc20' ? facts.decimals.get(asset.contract) : decimals
  const known = agreed ?? (asset.kind === 'trc20' ? facts.found.get(asset.contract) : undefined)
  const differ = known !== undefined && known !== decimals
  return [
    ...(differ ? (['decimals-differ'] as const) : agreed === undefined ? (['decimals-unknown'] as const) : []),
    ...stopsOf(facts.issuers, cuy, facts.address),
  ]
}

/** The first reason (`LeavingStop`) that prevents this step for a payout in this currency, or null. */
export function findLeavingStop(facts: LeavingFacts, currency: Currency, act: PayoutAct): LeavingStop | null {
  const stops = [...stopsOfAll(facts), ...stopsOfCurrency(facts, currency)]
  return stops.find((stop) => stopRules[stop].stops.includes(act)) ?? null
}

/** The first reason (`LeavingStop`) that prevents this step for every payout, or null. */
export function findStopOfAll(facts: LeavingFacts, act: PayoutAct): LeavingStop | null {
  return stopsOfAll(facts).find((stop) => stopRules[stop].stops.includes(act)) ?? null
}

/** The currencies in which this step is prevented, each with its first reason. Reasons that concern all currencies are left out: `findStopOfAll` has them. */
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
