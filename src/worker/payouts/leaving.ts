import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import { type IssuerState, stopsOf } from '../issuer/state.ts'
import type { Currency } from '../ledger/currencies.ts'
import { decimalsFact, findStop, type KnownFacts, type PayoutStep, type Stopper } from '../ledger/stops.ts'
import type { PayoutFailure } from './failure.ts'

// Says what is known to be wrong for payouts, and what that stops, by the table in
// `ledger/stops.ts`. Whatever moves or shows a payout asks here: the request, approval, cancelling,
// the offer to the signer, the hand-in of signed bytes, sending, lists, alarms, the desk and the
// doctor.

/** A fact that stops a step of payouts. */
export type LeavingStop = Stopper<PayoutStep>

/** What people and programs are told about each fact that stops a step of payouts. */
export const stopRules: Readonly<Record<LeavingStop, { readonly reason: PayoutReason; readonly why: string }>> = {
  forked: {
    reason: 'chain-forked',
    why: 'the nodes show another chain than before: nothing is paid or given back until an operator has checked it',
  },
  restored: {
    reason: 'payouts-stopped',
    why: 'an older copy of the database was restored: payouts stop until a final block that is an hour later, and each one before it, is read',
  },
  'unknown-transaction': {
    reason: 'payouts-stopped',
    why: 'a transaction of the payout address that no payout names, or one that has succeeded after its payout went on, is in a final block: payouts stop until its bytes are handed in or an operator resumes',
  },
  'address-replaced': {
    reason: 'configuration-differs',
    why: 'another address has a signed payout, or the payout address was issued to a user: nothing is paid from this one',
  },
  'decimals-unknown': {
    reason: 'decimals-unknown',
    why: "the decimals of the token's contract could not be read yet",
  },
  'decimals-differ': {
    reason: 'decimals-differ',
    why: "the decimals of the token's contract differ from the configured ones",
  },
  frozen: { reason: 'frozen', why: 'the issuer of the token has frozen the payout address' },
  paused: { reason: 'paused', why: 'the issuer has paused the token' },
  'fee-unconfirmed': {
    reason: 'fee-unconfirmed',
    why: 'the issuer takes a fee that no operator has confirmed, so less would arrive',
  },
  deprecated: { reason: 'deprecated', why: 'the issuer has replaced the contract of the token' },
}

/** The facts that can stop payouts from one address, read in one round trip. */
export interface LeavingFacts {
  readonly address: Address
  /** Whether the scan is halted because the chain is forked. */
  readonly isHalted: boolean
  /** Since when the database is known to be a restored older copy, or null. */
  readonly restoredAt: UnixMs | null
  /**
   * Since when an unexplained transaction stops payouts: one that no payout names, or one that
   * succeeded after its payout had moved on. Null if there is none.
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

const nothingOfCurrencies = {
  'decimals-differ': false,
  'decimals-unknown': false,
  frozen: false,
  paused: false,
  'fee-unconfirmed': false,
  deprecated: false,
} as const

/** What holds for payouts in every currency. */
function knownOfAll({ isHalted, restoredAt, unknownSince, isReplaced }: LeavingFacts): KnownFacts<PayoutStep> {
  return {
    ...nothingOfCurrencies,
    forked: isHalted,
    'address-replaced': isReplaced,
    'unknown-transaction': unknownSince !== null,
    restored: restoredAt !== null,
  }
}

/**
 * What holds for payouts in this currency. Of a currency that is not configured, only what holds in
 * every currency is known.
 */
function knownOf(facts: LeavingFacts, currency: Currency | undefined): KnownFacts<PayoutStep> {
  if (currency === undefined) return knownOfAll(facts)
  const decimals = decimalsFact(currency, facts.decimals, facts.found)
  const acts = stopsOf(facts.issuers, currency.cuy, facts.address)
  return {
    ...knownOfAll(facts),
    'decimals-differ': decimals === 'decimals-differ',
    'decimals-unknown': decimals === 'decimals-unknown',
    frozen: acts.includes('frozen'),
    paused: acts.includes('paused'),
    'fee-unconfirmed': acts.includes('fee-unconfirmed'),
    deprecated: acts.includes('deprecated'),
  }
}

/** The first fact that stops this step of a payout in this currency, or null. */
export function findLeavingStop(
  facts: LeavingFacts,
  currency: Currency | undefined,
  step: PayoutStep,
): LeavingStop | null {
  return findStop(step, knownOf(facts, currency))
}

/** The first fact that stops this step of every payout, or null. */
export function findStopOfAll(facts: LeavingFacts, step: PayoutStep): LeavingStop | null {
  return findStop(step, knownOfAll(facts))
}

/** The currencies in which this step is stopped, each with the first fact that stops it. */
export function stoppedCurrencies(
  facts: LeavingFacts,
  currencies: readonly Currency[],
  step: PayoutStep,
): ReadonlyMap<CurrencyId, LeavingStop> {
  return new Map(
    currencies.flatMap((currency) => {
      const stop = findLeavingStop(facts, currency, step)
      return stop === null ? [] : [[currency.cuy, stop] as const]
    }),
  )
}

/**
 * The refusal of a request that this fact stops. `payout` is the number of the payout in the
 * request, from 1.
 */
export function refuseStopped(stop: LeavingStop, payout?: number): PayoutFailure {
  return { kind: 'conflict', ...(payout === undefined ? {} : { payout }), ...stopRules[stop] }
}
