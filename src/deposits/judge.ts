import type { AddressOwner } from '../addresses/address-book.ts'
import type { Address } from '../chain/address.ts'
import type { Asset } from '../chain/asset.ts'
import type { BlockHeight, BlockRef } from '../chain/block.ts'
import type { ChainTransfer } from '../chain/chain.ts'
import type { Uid } from '../common/ids.ts'
import { type Currencies, type Currency, depositValueOf } from '../ledger/currencies.ts'
import type { DecidedTransfer, TransferFacts, Verdict } from './transfer.ts'

/** The operator's own wallets: what they send is a movement, never a deposit. */
export interface OperatorRule {
  /** Those of the configuration. */
  readonly listed: ReadonlySet<Address>
  /** Every one that was ever configured, with the height from which on it counts although it is not listed any more. */
  readonly since: ReadonlyMap<Address, BlockHeight>
}

/** What a judgement depends on besides the chain. */
export interface JudgeRules {
  readonly currencies: Currencies
  readonly operators: OperatorRule
  /** Decimals that nodes agreed on, by contract. */
  readonly decimals: ReadonlyMap<Address, number>
}

/** The callers of the addresses that were issued. */
export type Owners = ReadonlyMap<Address, AddressOwner>

/**
 * What a transfer of a final block is. `early`: it was final before its address was issued to its caller, so it is not
 * stored. Null: it concerns no address of the service, or no configured currency.
 */
export function judgeTransfer(
  transfer: ChainTransfer,
  { height, hash }: BlockRef,
  owners: Owners,
  rules: JudgeRules,
): DecidedTransfer | 'early' | null {
  const { txid, position, asset, from, to, amount } = transfer
  const currency = currencyOf(rules.currencies, asset)
  if (currency === null) return null
  const native = asset.kind === 'native'
  const facts = { txid, position, block: { height, hash }, cuy: currency.cuy, native, from, to, raw: amount }
  const owner = owners.get(to)
  if (owners.has(from)) return { ...facts, state: 'moved' }
  if (owner === undefined) return null
  if (isOperator(rules.operators, from, height)) return { ...facts, state: 'moved' }
  if (height <= owner.issuedHeight) return 'early'
  return { ...facts, ...verdictOf(owner.uid, currency, amount, rules) }
}

/** A transfer of a block that is not final, as it is stored until its block is, or null where it would be no deposit. */
export function judgeSeen(
  transfer: ChainTransfer,
  block: BlockRef,
  owners: Owners,
  rules: JudgeRules,
  seconds: number,
): DecidedTransfer | null {
  const judged = judgeTransfer(transfer, block, owners, rules)
  if (judged === null || judged === 'early' || judged.state === 'moved') return null
  const { txid, position, cuy, native, from, to, raw } = judged
  const facts: TransferFacts = { txid, position, block: judged.block, cuy, native, from, to, raw }
  return { ...facts, state: 'seen', uid: judged.uid, seconds }
}

function currencyOf(currencies: Currencies, asset: Asset): Currency | null {
  return asset.kind === 'native' ? currencies.native : (currencies.byContract.get(asset.contract) ?? null)
}

/** Whether what this address sent in a block of this height is the operator's. */
export function isOperator({ listed, since }: OperatorRule, from: Address, height: BlockHeight): boolean {
  const counted = since.get(from)
  return listed.has(from) || (counted !== undefined && height > counted)
}

/** The verdict about a transfer to a caller. Whether a wallet has room for it is the database's to decide. */
function verdictOf(
  uid: Uid,
  currency: Currency,
  raw: bigint,
  { decimals }: JudgeRules,
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
    case 'credited':
      return { state: 'credited', uid, amount: value.amount }
    case 'too-large':
      return { state: 'held', uid, reason: 'too-large' }
    case 'below-minimum':
    case 'dust':
      return { state: 'refused', uid, reason: value.kind }
  }
}
