import type { AddressOwner } from '../addresses/store/address-book.ts'
import type { Address } from '../chain/address.ts'
import type { Asset, BlockHeight, BlockRef, Position, Txid } from '../chain/block.ts'
import type { ChainTransfer } from '../chain/chain.ts'
import { type Amount, noAmount } from '../common/amount.ts'
import type { CurrencyId, TransferId, Uid } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import { type Currencies, type Currency, depositValueOf } from '../ledger/currencies.ts'
import { type DepositStep, decimalsFact, findStop, type KnownFacts, type Stopper } from '../ledger/stops.ts'

/** The identity of a transfer on the chain. A transfer is credited at most once, by this key. */
export interface CreditKey {
  readonly txid: Txid
  readonly position: Position
}

/** What the chain says about a transfer in a configured currency. */
export interface TransferFacts extends CreditKey {
  readonly block: Pick<BlockRef, 'height'>
  readonly cuy: CurrencyId
  /**
   * True for TRX. It decides the form of the entry's `osn`: the txid, or `txid:i<k>` if a contract
   * sent the TRX; `txid:<position>` for a token.
   */
  readonly native: boolean
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly raw: bigint
  /**
   * When the transfer's block was made, if the transfer goes to an address for orders: it decides
   * which order has the transfer. Absent: what is stored about that stays.
   */
  readonly madeAt?: UnixMs
}

/**
 * The number of the node that has shown a transfer before its block was final, and the estimated
 * seconds from that moment until the block is final.
 */
export interface Sighting {
  readonly node: number
  readonly seconds: number
}

/**
 * The state that a transfer gets by what the chain and the settings say, whatever is stored about
 * it.
 */
export type Verdict =
  /** Shown by one node in a block that is not final. */
  | ({ readonly state: 'seen'; readonly uid: Uid } & Sighting)
  /** Final, but it cannot be decided yet whether to credit it. */
  | { readonly state: 'held'; readonly uid: Uid; readonly reason: Exclude<HeldReason, 'review'> }
  /** Final; a person must decide whether `amount` (ledger units) is credited. */
  | { readonly state: 'held'; readonly uid: Uid; readonly reason: 'review'; readonly amount: Amount }
  /**
   * Final, and worth nothing in the ledger. `amount` (ledger units) is what it is worth if a person
   * has decided before that it is credited.
   */
  | {
      readonly state: 'refused'
      readonly uid: Uid
      readonly reason: Exclude<RefusedReason, 'review'>
      readonly amount: Amount
    }
  /** Final, and worth `amount`: ledger units, positive. */
  | { readonly state: 'credited'; readonly uid: Uid; readonly amount: Amount }
  /**
   * Never a deposit: it leaves an address of the service, perhaps to another one, or an operator's
   * wallet sent it.
   */
  | { readonly state: 'moved' }

export type JudgedTransfer = TransferFacts & Verdict

/** The row of a transfer to a user. */
export interface StoredTransfer extends TransferFacts {
  readonly id: TransferId
  /** Each change of the row adds 1, so that a write can name the version that it has read. */
  readonly version: number
  readonly uid: Uid
  readonly state: Exclude<TransferState, 'moved'>
  readonly reason: HeldReason | RefusedReason | null
  /**
   * `open` while it waits for a decision, then the decision. Null: it was never held for review.
   */
  readonly review: 'open' | DecisionKind | null
  /** What was credited, in ledger units; 0 in any other state. */
  readonly amount: Amount
  /**
   * How many seconds it would take until the block is final, estimated when the transfer was first
   * seen; null if its block was final when first read.
   */
  readonly seconds: number | null
  readonly createdAt: UnixMs
  readonly changedAt: UnixMs
}

/**
 * A transaction that an address of the service has sent. It may have cost a fee in TRX. `cuy` is
 * the number of TRX.
 */
export interface SentFact {
  readonly txid: Txid
  readonly address: Address
  readonly height: BlockHeight
  readonly cuy: CurrencyId
}

/**
 * Which addresses are the operator's own wallets. Money that these send is `moved`, never a
 * deposit.
 */
export interface OperatorRule {
  /** The addresses that are configured now. They count as the operator's at every height. */
  readonly listed: ReadonlySet<Address>
  /**
   * Every address that was ever configured, with the height above which it counts as the
   * operator's, even if it is no longer listed.
   */
  readonly since: ReadonlyMap<Address, BlockHeight>
  /**
   * Payout addresses that other cells have or had. What such an address sends can be a payout to a
   * user of this cell, also if it was an operator's wallet: a person decides.
   */
  readonly otherPayers: ReadonlySet<Address>
}

/** The configuration and stored settings by which transfers are judged. */
export interface JudgeRules {
  readonly currencies: Currencies
  readonly operators: OperatorRule
  /** Decimals that nodes agreed on, by contract. */
  readonly decimals: ReadonlyMap<Address, number>
  /**
   * Every payout address ever configured, with the scan's position at that time. The scan stores
   * the address's transactions, and what issuers do to it.
   */
  readonly payers: ReadonlyMap<Address, BlockHeight>
  /**
   * Payout addresses of this cell that another cell has or had, too. The scan looks for the
   * transactions of this cell's payouts alone, because others are the other cell's.
   */
  readonly sharedPayers: readonly Address[]
}

/**
 * The owners of the addresses that were looked up. An address that this service has not issued is
 * missing.
 */
export type Owners = ReadonlyMap<Address, AddressOwner>

/** A block whose transfers are judged. `timestamp` is null for one that was judged before. */
export type JudgedBlock = Pick<BlockRef, 'height'> & { readonly timestamp: UnixMs | null }

/**
 * Judges a transfer of a final block. `paid-before-issue`: its block was final before the user got
 * the address, so it belongs to nobody here and is not stored. Null: it concerns no address of the
 * service, or no configured currency. `owners` must know sender and recipient.
 */
export function judgeTransfer(
  transfer: ChainTransfer,
  { height, timestamp }: JudgedBlock,
  owners: Owners,
  rules: JudgeRules,
): JudgedTransfer | 'paid-before-issue' | null {
  const { txid, position, asset, from, to, amount } = transfer
  const currency = currencyOf(rules.currencies, asset)
  if (currency === null) return null
  const native = asset.kind === 'native'
  const owner = owners.get(to)
  const madeAt = owner?.isForOrders === true && timestamp !== null ? { madeAt: timestamp } : {}
  const facts = { txid, position, block: { height }, cuy: currency.cuy, native, from, to, raw: amount, ...madeAt }
  if (owners.has(from)) return { ...facts, state: 'moved' }
  if (owner === undefined) return null
  const stop = findCreditStop(knownOf(facts, currency, rules))
  if (stop === 'from-operator') return { ...facts, state: 'moved' }
  if (height <= owner.issuedHeight) return 'paid-before-issue'
  const mustBeSeen = isOperator(rules.operators, from, height) === 'unsure'
  return { ...facts, ...verdictOf(owner.uid, currency, amount, stop, mustBeSeen) }
}

/**
 * Judges a transfer of a block that is not final yet: `seen` if it may become a deposit, else null.
 */
export function judgeSeen(
  transfer: ChainTransfer,
  block: JudgedBlock,
  owners: Owners,
  rules: JudgeRules,
  sighting: Sighting,
): JudgedTransfer | null {
  const judged = judgeTransfer(transfer, block, owners, rules)
  if (judged === null || judged === 'paid-before-issue' || judged.state === 'moved') return null
  const { txid, position, cuy, native, from, to, raw } = judged
  const madeAt = judged.madeAt === undefined ? {} : { madeAt: judged.madeAt }
  const facts: TransferFacts = { txid, position, block: judged.block, cuy, native, from, to, raw, ...madeAt }
  return { ...facts, state: 'seen', uid: judged.uid, ...sighting }
}

function currencyOf(currencies: Currencies, asset: Asset): Currency | null {
  return asset.kind === 'native' ? currencies.native : (currencies.byContract.get(asset.contract) ?? null)
}

/**
 * Whether `from` counts as an operator's wallet at this height: a listed address always does,
 * another one only above its height in `since`. `unsure`: it does, but it pays or has paid payouts
 * of another cell.
 */
export function isOperator(
  { listed, since, otherPayers }: OperatorRule,
  from: Address,
  height: BlockHeight,
): boolean | 'unsure' {
  if (listed.has(from)) return true
  const counted = since.get(from)
  const isCounted = counted !== undefined && height > counted
  return isCounted && otherPayers.has(from) ? 'unsure' : isCounted
}

/** What holds for a deposit by its sender and currency. */
export type KnownOfDeposit = Omit<KnownFacts<DepositStep>, 'forked'>
type CreditStop = Exclude<Stopper<'credit'>, 'forked'>

/**
 * What holds for a deposit by the rules of now: its sender is an operator's wallet, or something is
 * wrong with its currency.
 */
export function knownOf(
  { from, block }: Pick<TransferFacts, 'from' | 'block'>,
  currency: Currency,
  { operators, decimals }: Pick<JudgeRules, 'operators' | 'decimals'>,
): KnownOfDeposit {
  const wrong = decimalsFact(currency, decimals)
  return {
    'from-operator': isOperator(operators, from, block.height) === true,
    retired: currency.retired,
    'decimals-differ': wrong === 'decimals-differ',
    'decimals-unknown': wrong === 'decimals-unknown',
  }
}

/**
 * The first fact other than a fork that stops the credit of a deposit, or null. While the chain is
 * forked nothing is judged: no block is stored, no held deposit is decided again, and a trigger
 * refuses what comes too late.
 */
// safe: it is not forked
const findCreditStop = (known: KnownOfDeposit) => findStop('credit', { ...known, forked: false }) as CreditStop | null

/**
 * Judges a transfer that a person has decided to credit. The minimum is not applied again. If
 * something else keeps it from being credited (`known`), for example because its currency is
 * retired by now, the transfer is held for that reason.
 */
export function judgeReviewed(
  { id, uid, raw }: Pick<StoredTransfer, 'id' | 'uid' | 'raw'>,
  currency: Currency,
  known: KnownOfDeposit,
): Extract<Verdict, { state: 'held' | 'credited' }> {
  const stop = findCreditStop(known)
  if (stop === 'from-operator') throw new Error(`transfer ${id} is a movement, about which nothing can be decided`)
  const verdict = verdictOf(uid, { ...currency, minDeposit: 0n, reviewFrom: null }, raw, stop, false)
  // The scale of a currency never changes, so a reviewed amount cannot round to nothing.
  if (verdict.state === 'refused') throw new Error(`transfer ${id} was held for review and is worth nothing`)
  return verdict
}

/**
 * Judges a final transfer of `raw` chain units to a user by its currency, and by what stops its
 * credit (`stop`). `mustBeSeen`: a person decides, whatever `reviewFrom` is. The balance's limit is
 * checked when the transfer is stored.
 */
function verdictOf(
  uid: Uid,
  currency: Currency,
  raw: bigint,
  stop: Exclude<CreditStop, 'from-operator'> | null,
  mustBeSeen: boolean,
): Extract<Verdict, { state: 'held' | 'refused' | 'credited' }> {
  if (stop !== null) return { state: 'held', uid, reason: stop }
  const value = depositValueOf(currency, raw)
  switch (value.kind) {
    case 'credited': {
      const { amount } = value
      const isReviewed = mustBeSeen || (currency.reviewFrom !== null && raw >= currency.reviewFrom)
      return isReviewed ? { state: 'held', uid, reason: 'review', amount } : { state: 'credited', uid, amount }
    }
    case 'too-large':
      return { state: 'held', uid, reason: 'too-large' }
    case 'below-minimum': {
      const decided = depositValueOf({ ...currency, minDeposit: 0n }, raw)
      const amount = decided.kind === 'credited' ? decided.amount : noAmount
      return { state: 'refused', uid, reason: 'below-minimum', amount }
    }
    case 'dust':
      return { state: 'refused', uid, reason: 'dust', amount: noAmount }
  }
}
