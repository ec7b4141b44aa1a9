import type { Address } from '../chain/address.ts'
import type { Currency } from './currencies.ts'

// What can be known to be wrong, and which steps of payouts and deposits that stops. Whatever moves
// money asks `findStop`, and whatever shows why money waits. `npm run db:generate` writes the table
// into the view `stopped_step`, by which triggers refuse the same steps; a test compares it with
// the contract.

const [yes, no] = [true, false] as const

/**
 * For each fact, whether each step may be taken while the fact holds. The order of the facts is
 * their precedence: people are told the first one that stops a step. The steps of a payout are
 * - `ask`: a backend asks for it, and its money is taken from the wallet;
 * - `rule`: the limits approve it;
 * - `approve`: a person approves it;
 * - `cancel`: it is cancelled, and its money returns to the wallet;
 * - `offer`: it is offered to the signer;
 * - `take`: the signer hands in its signed transaction;
 * - `recover`: the signer hands in the bytes of a transaction that a final block contains and no
 *   payout names. The money has left before;
 * - `send`: its transaction is sent to a node.
 *
 * The steps of a deposit are
 * - `credit`: it is credited;
 * - `decide`: a person or a backend decides to credit one that is held for review;
 * - `refuse`: a person or a backend decides to refuse it;
 * - `find`: one that was credited above a corrected finalized height is found again in the chain.
 */
export const mayGoOn = {
  /**
   * The nodes show another chain than the stored one: the scan is halted, and what final blocks
   * have shown may be false.
   */
  forked: {
    ...{ ask: no, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: no, send: no },
    ...{ credit: no, decide: no, refuse: yes, find: no },
  },
  /**
   * Another payout address has a signed payout, or this one was issued to a user. Such a
   * configuration is refused, except by an instance that checked it before.
   */
  'address-replaced': {
    ...{ ask: yes, rule: yes, approve: yes, cancel: yes, offer: no, take: no, recover: yes, send: yes },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
  /**
   * A final block contains a transaction of the payout address that no payout names, or one that
   * succeeded after its payout had gone on without it.
   */
  'unknown-transaction': {
    ...{ ask: yes, rule: yes, approve: yes, cancel: no, offer: no, take: yes, recover: yes, send: yes },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
  /**
   * An older copy of the database was restored: it may lack transactions that were signed since.
   */
  restored: {
    ...{ ask: yes, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: yes, send: no },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
  /**
   * The sender of a deposit is an operator's wallet or the payout address: the transfer is a
   * movement. A payout has no sender.
   */
  'from-operator': {
    ...{ ask: yes, rule: yes, approve: yes, cancel: yes, offer: yes, take: yes, recover: yes, send: yes },
    ...{ credit: no, decide: no, refuse: no, find: yes },
  },
  /** The currency takes no deposits any more (`retired`). What users have of it can be spent. */
  retired: {
    ...{ ask: yes, rule: yes, approve: yes, cancel: yes, offer: yes, take: yes, recover: yes, send: yes },
    ...{ credit: no, decide: yes, refuse: yes, find: yes },
  },
  /**
   * The decimals of the token's contract are not the configured ones, so an amount has two
   * meanings.
   */
  'decimals-differ': {
    ...{ ask: no, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: yes, send: no },
    ...{ credit: no, decide: yes, refuse: yes, find: yes },
  },
  /** Nodes have not agreed on the decimals of the token's contract yet. */
  'decimals-unknown': {
    ...{ ask: no, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: yes, send: no },
    ...{ credit: no, decide: yes, refuse: yes, find: yes },
  },
  /** The issuer of the token has frozen the payout address. */
  frozen: {
    ...{ ask: yes, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: yes, send: no },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
  /** The issuer has paused the token. */
  paused: {
    ...{ ask: yes, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: yes, send: no },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
  /** The issuer takes a fee that no operator has confirmed. */
  'fee-unconfirmed': {
    ...{ ask: yes, rule: no, approve: yes, cancel: no, offer: no, take: no, recover: yes, send: no },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
  /**
   * The issuer has replaced the contract of the token. That never ends, so the money of open
   * payouts must be able to return.
   */
  deprecated: {
    ...{ ask: yes, rule: no, approve: yes, cancel: yes, offer: no, take: no, recover: yes, send: no },
    ...{ credit: yes, decide: yes, refuse: yes, find: yes },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<PayoutStep | DepositStep, boolean>>>>

export type PayoutStep = 'ask' | 'rule' | 'approve' | 'cancel' | 'offer' | 'take' | 'recover' | 'send'
export type DepositStep = 'credit' | 'decide' | 'refuse' | 'find'
export type Fact = keyof typeof mayGoOn

/** The facts that stop one of these steps. */
export type Stopper<Step extends PayoutStep | DepositStep> = {
  [F in Fact]: false extends (typeof mayGoOn)[F][Step] ? F : never
}[Fact]

/** For each fact that can stop one of these steps, whether it holds. */
export type KnownFacts<Step extends PayoutStep | DepositStep> = Readonly<Record<Stopper<Step>, boolean>>

/**
 * The first fact that holds and stops this step, or null. The type of `known` asks for every fact
 * that can.
 */
export function findStop<Step extends PayoutStep | DepositStep>(
  step: Step,
  known: KnownFacts<Step>,
): Stopper<Step> | null {
  const facts = Object.keys(mayGoOn) as Stopper<Step>[] // safe: a fact that is not in `known` does not hold
  return facts.find((fact) => known[fact] && !mayGoOn[fact][step]) ?? null
}

/** Whether a halted scan stops this step: the nodes show another chain than the stored one. */
export const isStoppedByFork = (isHalted: boolean, step: DepositStep): boolean => isHalted && !mayGoOn.forked[step]

/**
 * Says what is wrong with the decimals of a currency, or null. `agreed` are the decimals by
 * contract on which nodes have agreed for good, and `found` those that they showed last for a
 * contract without such decimals.
 */
export function decimalsFact(
  { asset, decimals }: Pick<Currency, 'asset' | 'decimals'>,
  agreed: ReadonlyMap<Address, number>,
  found: ReadonlyMap<Address, number> = agreed,
): 'decimals-differ' | 'decimals-unknown' | null {
  if (asset.kind === 'native') return null
  const known = agreed.get(asset.contract) ?? found.get(asset.contract)
  if (known !== undefined && known !== decimals) return 'decimals-differ'
  return agreed.has(asset.contract) ? null : 'decimals-unknown'
}
