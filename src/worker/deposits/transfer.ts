import type { AddressOwner } from '../addresses/store/address-book.ts'
import type { Address } from '../chain/address.ts'
import type { Asset, BlockHeight, BlockRef, Position, Txid } from '../chain/block.ts'
import type { ChainTransfer } from '../chain/chain.ts'
import type { Amount } from '../common/amount.ts'
import type { CurrencyId, TransferId, Uid } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import { type Currencies, type Currency, depositValueOf } from '../ledger/currencies.ts'

/** The permanent identity of a transfer. */
export interface CreditKey {
  readonly txid: Txid
  readonly position: Position
}

/** A transfer as the chain shows it. */
export interface TransferFacts extends CreditKey {
  readonly block: Pick<BlockRef, 'height'>
  readonly cuy: CurrencyId
  /** True for TRX. The `osn` of a TRX entry is the txid, or `txid:i<k>` if a contract sent it; that of a token entry is `txid:position`. */
  readonly native: boolean
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly raw: bigint
}

/** The node that has shown a transfer before its block was final, and the estimated seconds until the block is. */
export interface Sighting {
  readonly node: number
  readonly seconds: number
}

/** The verdict about a transfer. Each state has exactly the members that it needs. */
export type Verdict =
  /** Shown by one node in a block that is not final. */
  | ({ readonly state: 'seen'; readonly uid: Uid } & Sighting)
  /** Final, but cannot be decided yet. */
  | { readonly state: 'held'; readonly uid: Uid; readonly reason: Exclude<HeldReason, 'review'> }
  /** Final; a person must decide before `amount` is credited. */
  | { readonly state: 'held'; readonly uid: Uid; readonly reason: 'review'; readonly amount: Amount }
  /** Final, and not credited. */
  | { readonly state: 'refused'; readonly uid: Uid; readonly reason: Exclude<RefusedReason, 'review'> }
  /** Final, and in the ledger. `amount` is in ledger units, positive. */
  | { readonly state: 'credited'; readonly uid: Uid; readonly amount: Amount }
  /** Between two addresses of the service, out of one of them, or from an operator: never a deposit. */
  | { readonly state: 'moved' }

/** A transfer with the verdict about it. */
export type JudgedTransfer = TransferFacts & Verdict

/** A row of a transfer to a user. */
export interface StoredTransfer extends TransferFacts {
  readonly id: TransferId
  /** Each change of the row adds 1. */
  readonly version: number
  readonly uid: Uid
  readonly state: Exclude<TransferState, 'moved'>
  readonly reason: HeldReason | RefusedReason | null
  /** `open` while it waits for a decision, then the decision. Null: it was never held for review. */
  readonly review: 'open' | DecisionKind | null
  /** Ledger units; 0 unless it is credited. */
  readonly amount: Amount
  /** Estimated seconds until it was final, when it was first seen. */
  readonly seconds: number | null
  readonly createdAt: UnixMs
  /** When it entered its present state. */
  readonly changedAt: UnixMs
}

/** A transaction that an address of the service has sent. It may cost a fee in the native currency `cuy`. */
export interface SentFact {
  readonly txid: Txid
  readonly address: Address
  readonly height: BlockHeight
  readonly cuy: CurrencyId
}

/** The operator's own wallets: what they send is a movement, never a deposit. */
export interface OperatorRule {
  /** The addresses in the configuration. */
  readonly listed: ReadonlySet<Address>
  /** Every address that was ever configured, with the height from which it counts, even if it is no longer listed. */
  readonly since: ReadonlyMap<Address, BlockHeight>
}

/** The configured and stored rules by which transfers are judged. */
export interface JudgeRules {
  readonly currencies: Currencies
  readonly operators: OperatorRule
  /** Decimals that nodes agreed on, by contract. */
  readonly decimals: ReadonlyMap<Address, number>
  /** Every payout address ever used, with the height from which it counts. Their transactions are looked for, and acts of a token issuer against them. */
  readonly payers: ReadonlyMap<Address, BlockHeight>
}

/** The users of issued addresses. */
export type Owners = ReadonlyMap<Address, AddressOwner>

/**
 * Judges a transfer of a final block. `paid-before-issue`: it was final before its address was issued, so it is not stored. Null: it concerns no address of the
 * service, or no configured currency.
 */
export function judgeTransfer(
  transfer: ChainTransfer,
  { height }: Pick<BlockRef, 'height'>,
  owners: Owners,
  rules: JudgeRules,
): JudgedTransfer | 'paid-before-issue' | null {
  const { txid, position, asset, from, to, amount } = transfer
  const currency = currencyOf(rules.currencies, asset)
  if (currency === null) return null
  const native = asset.kind === 'native'
  const facts = { txid, position, block: { height }, cuy: currency.cuy, native, from, to, raw: amount }
  const owner = owners.get(to)
  if (owners.has(from)) return { ...facts, state: 'moved' }
  if (owner === undefined) return null
  if (isOperator(rules.operators, from, height)) return { ...facts, state: 'moved' }
  if (height <= owner.issuedHeight) return 'paid-before-issue'
  return { ...facts, ...verdictOf(owner.uid, currency, amount, rules) }
}

/** Judges a transfer of a block that is not final yet. Null if it would be no deposit. */
export function judgeSeen(
  transfer: ChainTransfer,
  block: Pick<BlockRef, 'height'>,
  owners: Owners,
  rules: JudgeRules,
  sighting: Sighting,
): JudgedTransfer | null {
  const judged = judgeTransfer(transfer, block, owners, rules)
  if (judged === null || judged === 'paid-before-issue' || judged.state === 'moved') return null
  const { txid, position, cuy, native, from, to, raw } = judged
  const facts: TransferFacts = { txid, position, block: judged.block, cuy, native, from, to, raw }
  return { ...facts, state: 'seen', uid: judged.uid, ...sighting }
}

function currencyOf(currencies: Currencies, asset: Asset): Currency | null {
  return asset.kind === 'native' ? currencies.native : (currencies.byContract.get(asset.contract) ?? null)
}

/** Whether this address is an operator wallet for a transfer in a block of this height. */
export function isOperator({ listed, since }: OperatorRule, from: Address, height: BlockHeight): boolean {
  const counted = since.get(from)
  return listed.has(from) || (counted !== undefined && height > counted)
}

/**
 * Judges a reviewed transfer that a person has decided to credit. The minimum is not applied again, but anything else that has changed since can still hold the
 * transfer.
 */
export function judgeReviewed(
  { id, uid, raw }: Pick<StoredTransfer, 'id' | 'uid' | 'raw'>,
  currency: Currency,
  rules: Pick<JudgeRules, 'decimals'>,
): Extract<Verdict, { state: 'held' | 'credited' }> {
  const verdict = verdictOf(uid, { ...currency, minDeposit: 0n, reviewFrom: null }, raw, rules)
  // The scale of a currency never changes, so a reviewed amount cannot round to nothing.
  if (verdict.state === 'refused') throw new Error(`transfer ${id} was held for review and is worth nothing`)
  return verdict
}

/** Judges a transfer to a user. The database decides whether its wallet has room. */
function verdictOf(
  uid: Uid,
  currency: Currency,
  raw: bigint,
  { decimals }: Pick<JudgeRules, 'decimals'>,
): Extract<Verdict, { state: 'held' | 'refused' | 'credited' }> {
  const { asset, retired } = currency
  if (retired) return { state: 'held', uid, reason: 'retired' }
  if (asset.kind === 'trc20') {
    const agreed = decimals.get(asset.contract)
    if (agreed === undefined) return { state: 'held', uid, reason: 'decimals-unknown' }
    if (agreed !== currency.decimals) return { state: 'held', uid, reason: 'decimals-differ' }
  }
  const value = depositValueOf(currency, raw)
  switch (value.kind) {
    case 'credited': {
      const { amount } = value
      const isReviewed = currency.reviewFrom !== null && raw >= currency.reviewFrom
      return isReviewed ? { state: 'held', uid, reason: 'review', amount } : { state: 'credited', uid, amount }
    }
    case 'too-large':
      return { state: 'held', uid, reason: 'too-large' }
    case 'below-minimum':
    case 'dust':
      return { state: 'refused', uid, reason: value.kind }
  }
}
