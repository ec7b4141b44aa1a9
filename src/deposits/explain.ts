import { type Address, addressFromHex, formatBase58 } from '../chain/address.ts'
import type { Log } from '../chain/block.ts'
import type { TransactionReading } from '../chain/chain.ts'
import { formatUnits } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../d1/tables.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { contractTypes, explainContractType } from './contract-types.ts'
import { isOperator, type OperatorRule } from './judge.ts'

/** Why a transfer cannot be decided now: one sentence for the caller, without a full stop. */
export function explainHeld(reason: HeldReason): string {
  switch (reason) {
    case 'decimals-unknown':
      return "the decimals of the token's contract could not be read yet"
    case 'decimals-differ':
      return "the decimals of the token's contract differ from the configured ones, so none of it is credited"
    case 'retired':
      return 'its currency is no longer accepted; the deposit is kept, and nothing of it is credited'
    case 'too-large':
      return 'it is too large for one entry; an operator must decide about it'
    case 'wallet-full':
      return 'your wallet has no room for it; it is credited as soon as there is room'
  }
}

/** A transfer that is worth nothing. */
export interface RefusedTransfer {
  readonly cuy: CurrencyId
  /** Chain units. */
  readonly raw: bigint
  readonly reason: RefusedReason
}

/** Why a transfer is worth nothing: one sentence for the caller, without a full stop. */
export function explainRefused({ cuy, raw, reason }: RefusedTransfer, currencies: Currencies): string {
  const currency = currencies.byId.get(cuy)
  if (currency === undefined) return 'its currency is no longer accepted'
  const { symbol, decimals, scale, minDeposit } = currency
  const amount = `${formatUnits(raw, decimals)} ${symbol}`
  switch (reason) {
    case 'below-minimum':
      return `${amount} is below the smallest deposit that is credited, ${formatUnits(minDeposit, decimals)} ${symbol}`
    case 'dust':
      return `${amount} is less than the smallest amount in a wallet, ${formatUnits(1n, scale)} ${symbol}`
  }
}

/** What explains a transaction to its caller. */
export interface ExplainedBy {
  readonly currencies: Currencies
  /** All addresses of the caller. */
  readonly own: ReadonlySet<Address>
  readonly operators: OperatorRule
}

const noTransfer = 'it contains no transfer to one of your addresses'
const fromOwnAddress = 'it was sent from one of your own deposit addresses, so it is not a deposit'
const internalTransfer = 'it was sent from an address of this service; internal transfers are not deposits'
const fromOperator = 'it was sent by the operator of this service; such transfers are not deposits'

/**
 * Why a final transaction without a deposit for the caller is worth nothing: one sentence, without a full stop. It describes
 * the caller's part only: a payment to another address reads the same whether or not that address belongs to a caller.
 */
export function explainTransaction(reading: TransactionReading, by: ExplainedBy): string {
  if (!reading.succeeded) return 'the transaction failed, so it paid nothing'
  return explainEvents(reading, by) ?? explainNative(reading, by) ?? noTransfer
}

/** A reason found in one event. Of several, the one with the lowest rank is shown. */
interface EventReason {
  readonly rank: number
  readonly why: string
}

function explainEvents(reading: TransactionReading, by: ExplainedBy): string | null {
  let best: EventReason | null = null
  for (const log of reading.logs) {
    const reason = explainEvent(log, reading, by)
    if (reason !== null && (best === null || reason.rank < best.rank)) best = reason
  }
  return best?.why ?? null
}

/** Why this event is not a deposit, or null where its recipient is not one of the caller's addresses. */
function explainEvent(
  { contract, topics, data, position }: Log,
  { header, transfers }: TransactionReading,
  { currencies, own, operators }: ExplainedBy,
): EventReason | null {
  const [topic0, fromTopic = '', toTopic = ''] = topics
  const named = addressFromHex(toTopic.slice(-40)) // the bytes before it are checked below
  if (topic0 !== transferTopic || named === null || !own.has(named)) return null
  const name = formatBase58(contract)
  if (topics.length === 4 && addressInTopic(toTopic) !== null) {
    return { rank: 4, why: `the contract ${name} sent an NFT (TRC-721), which is not an accepted token` }
  }
  const currency = currencies.byContract.get(contract)
  if (currency === undefined) {
    return { rank: 3, why: `its Transfer event comes from the contract ${name}, which is not an accepted token` }
  }
  const from = topics.length === 3 && addressInTopic(toTopic) !== null ? addressInTopic(fromTopic) : null
  if (from !== null && own.has(from)) return { rank: 1, why: fromOwnAddress }
  const isTransfer = transfers.some((one) => one.asset.kind === 'trc20' && one.position === position)
  if (from !== null && isTransfer) {
    return { rank: 0, why: isOperator(operators, from, header.height) ? fromOperator : internalTransfer }
  }
  if (from !== null && /^0x0*$/.test(data)) return { rank: 2, why: `it transfers 0 ${currency.symbol}` }
  return { rank: 5, why: `the contract ${name} names your address in an event that is not a token transfer` }
}

/** Why the transaction itself is not a TRX deposit, or null where it does not involve the caller. */
function explainNative(reading: TransactionReading, { currencies, own, operators }: ExplainedBy): string | null {
  const { owner, target, contractType, transfers, header } = reading
  if (target !== null && !own.has(target)) return owner !== null && own.has(owner) ? fromOwnAddress : null
  const paid = transfers.find((one) => one.asset.kind === 'native' && one.to === target)
  if (contractType !== contractTypes.transfer || paid === undefined) return explainContractType(contractType)
  if (own.has(paid.from)) return fromOwnAddress
  if (currencies.native === null) return 'it transfers TRX, which is not an accepted currency'
  return isOperator(operators, paid.from, header.height) ? fromOperator : internalTransfer // anything else is a deposit
}

/** `keccak256("Transfer(address,address,uint256)")`: the same for TRC-20 and TRC-721. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** The address in a topic of 32 bytes, or null where one of its first 12 bytes is not zero. */
function addressInTopic(topic: string): Address | null {
  return topic.length === 66 && topic.startsWith(`0x${'0'.repeat(24)}`) ? addressFromHex(topic.slice(26)) : null
}
