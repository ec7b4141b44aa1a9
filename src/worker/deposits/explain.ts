import { type Address, addressFromHex, formatBase58, zeroAddress } from '../chain/address.ts'
import { addressInTopic, type BlockRef, type Log, transferTopic } from '../chain/block.ts'
import type { TransactionReading } from '../chain/chain.ts'
import { formatUnits } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { HeldReason, RefusedReason, WorthlessReason } from '../common/reasons.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { isOperator, type OperatorRule } from './transfer.ts'

const heldSentences: Readonly<Record<HeldReason, string>> = {
  'decimals-unknown': "the decimals of the token's contract could not be read yet",
  'decimals-differ': "the decimals of the token's contract differ from the configured ones, so none of it is credited",
  retired: 'its currency is no longer accepted; the deposit is kept, and nothing of it is credited',
  'too-large': 'it is too large for one entry; an operator must decide about it',
  'wallet-full': 'your wallet has no room for it; it is credited as soon as there is room',
  review: 'it is being looked at before it is credited',
}

/** Says to the user why a transfer is held: one sentence without a full stop. */
export const explainHeld = (reason: HeldReason): string => heldSentences[reason]

export interface RefusedTransfer {
  readonly cuy: CurrencyId
  /** Chain units. */
  readonly raw: bigint
  readonly reason: RefusedReason
}

/**
 * Says to the user why a transfer is refused: one sentence without a full stop. It names the
 * present minimum, or says that the earlier one was higher.
 */
export function explainRefused({ cuy, raw, reason }: RefusedTransfer, currencies: Currencies): string {
  const currency = currencies.byId.get(cuy)
  if (currency === undefined) return 'its currency is no longer accepted'
  const { symbol, decimals, scale, minDeposit } = currency
  const amount = `${formatUnits(raw, decimals)} ${symbol}`
  // the transfer was refused before the operator lowered the minimum
  const isLowered = reason === 'below-minimum' && raw >= minDeposit
  if (isLowered) return `${amount} was below the smallest deposit of that time`
  switch (reason) {
    case 'below-minimum':
      return `${amount} is below the smallest deposit that is credited, ${formatUnits(minDeposit, decimals)} ${symbol}`
    case 'dust':
      return `${amount} is less than the smallest amount in a wallet, ${formatUnits(1n, scale)} ${symbol}`
    case 'review':
      return `${amount} was looked at by the operator of this service and is not credited`
  }
}

/** What `explainTransaction` must know about the user and the service. */
export interface ExplainedBy {
  readonly currencies: Currencies
  /** All addresses of the user. */
  readonly own: ReadonlySet<Address>
  readonly operators: OperatorRule
}

/**
 * Why a transaction credits nothing: `reason` for programs, and `why`, one sentence for the user
 * without a full stop.
 */
export interface Explanation {
  readonly reason: WorthlessReason
  readonly why: string
}

const explain = (reason: WorthlessReason, why: string): Explanation => ({ reason, why })

const noTransfer = explain('no-transfer', 'it contains no transfer to one of your addresses')
const sentElsewhere = explain('no-transfer', 'its transfer went to an address that is not one of yours')
const fromOwnAddress = explain(
  'from-own-address',
  'it was sent from one of your own deposit addresses, so it is not a deposit',
)
const internalTransfer = explain(
  'internal-transfer',
  'it was sent from an address of this service; internal transfers are not deposits',
)
const fromOperator = explain(
  'from-operator',
  'it was sent by the operator of this service; such transfers are not deposits',
)

/**
 * Says why a final transaction that has no deposit of this user credits nothing to the user. It
 * tells nothing about others: a payment to an address that is not the user's gets the same answer
 * whether or not the address belongs to another user.
 */
export function explainTransaction(reading: TransactionReading, by: ExplainedBy): Explanation {
  if (!reading.succeeded) return explain('transaction-failed', 'the transaction failed, so it paid nothing')
  const found = explainEvents(reading, by) ?? explainNative(reading, by)
  return found ?? (isTokenTransfer(reading, by.currencies) ? sentElsewhere : noTransfer)
}

/**
 * Whether a transaction only moves an accepted token of its sender to somebody: a call of the
 * token's contract whose one log is that transfer. In such a call no contract sends TRX. False if
 * the tokens go to the zero address: they are burnt, and the contract may pay the sender TRX for
 * them.
 */
export function isTokenTransfer(
  { owner, target, logs, transfers }: TransactionReading,
  { byContract }: Currencies,
): boolean {
  const [transfer] = transfers
  if (target === null || transfer === undefined || !byContract.has(target)) return false
  const { asset, from, to } = transfer
  const isOnlyOne = transfers.length === 1 && logs.length === 1
  return isOnlyOne && asset.kind === 'trc20' && asset.contract === target && from === owner && to !== zeroAddress
}

/**
 * What one event of the transaction explains. Of several explanations the one with the lowest rank
 * is the answer.
 */
interface EventExplanation extends Explanation {
  readonly rank: number
}

function explainEvents(reading: TransactionReading, by: ExplainedBy): Explanation | null {
  let best: EventExplanation | null = null
  for (const log of reading.logs) {
    const found = explainEvent(log, reading, by)
    if (found !== null && (best === null || found.rank < best.rank)) best = found
  }
  return best === null ? null : explain(best.reason, best.why)
}

/**
 * Says why this event is not a deposit; null if it names none of the user's addresses as the
 * recipient.
 */
function explainEvent(
  { contract, topics, data, position }: Log,
  { header, transfers }: TransactionReading,
  { currencies, own, operators }: ExplainedBy,
): EventExplanation | null {
  const [topic0, fromTopic = '', toTopic = ''] = topics
  const named = addressFromHex(toTopic.slice(-40)) // `addressInTopic` below checks the bytes before the address
  if (topic0 !== transferTopic || named === null || !own.has(named)) return null
  const name = formatBase58(contract)
  if (topics.length === 4 && addressInTopic(toTopic) !== null) {
    const why = `the contract ${name} sent an NFT (TRC-721), which is not an accepted token`
    return { rank: 4, reason: 'not-accepted', why }
  }
  const currency = currencies.byContract.get(contract)
  if (currency === undefined) {
    const why = `its Transfer event comes from the contract ${name}, which is not an accepted token`
    return { rank: 3, reason: 'not-accepted', why }
  }
  const from = topics.length === 3 && addressInTopic(toTopic) !== null ? addressInTopic(fromTopic) : null
  if (from !== null && own.has(from)) return { rank: 1, ...fromOwnAddress }
  const isTransfer = transfers.some((one) => one.asset.kind === 'trc20' && one.position === position)
  if (from !== null && isTransfer) {
    return { rank: 0, ...(isOperator(operators, from, header.height) === true ? fromOperator : internalTransfer) }
  }
  if (from !== null && /^0x0*$/.test(data)) {
    return { rank: 2, reason: 'zero-amount', why: `it transfers 0 ${currency.symbol}` }
  }
  const why = `the contract ${name} names your address in an event that is not a token transfer`
  return { rank: 5, reason: 'not-a-transfer', why }
}

/**
 * Says why the TRX that the transaction itself moves is not a deposit; null if neither sender nor
 * recipient is the user's.
 */
function explainNative(reading: TransactionReading, { currencies, own, operators }: ExplainedBy): Explanation | null {
  const { owner, target, contractType, transfers, header } = reading
  if (target !== null && !own.has(target)) return owner !== null && own.has(owner) ? fromOwnAddress : null
  const paid = transfers.find((one) => one.asset.kind === 'native' && one.to === target)
  if (contractType !== transferType || paid === undefined) return explainContractType(contractType)
  return explainNotDeposit(paid.from, header, { currencies, own, operators })
}

/**
 * Says why TRX from `from` to one of the user's addresses is not a deposit: an address of the user,
 * of an operator or of another user has sent it, or TRX is no currency.
 */
export function explainNotDeposit(
  from: Address,
  { height }: BlockRef,
  { currencies, own, operators }: ExplainedBy,
): Explanation {
  if (own.has(from)) return fromOwnAddress
  if (currencies.native === null) return explain('not-accepted', 'it transfers TRX, which is not an accepted currency')
  return isOperator(operators, from, height) === true ? fromOperator : internalTransfer
}

/**
 * Numbers of contract types, here and below: enum ContractType in java-tron
 * protocol/core/Tron.proto (PROTOCOL.md, Contract types).
 */
const transferType = 1
const trc10Type = 2
const closed = 'which this network has disabled'
const order = 'is an order on the token exchange of the chain, not a transfer of TRX to you'
const ownStake = 'of its sender and transfers none'

const sentences: ReadonlyMap<number, string> = new Map(
  Object.entries({
    'creates an account and transfers no TRX to it': [0],
    'is a TRX transfer whose bytes are not valid': [transferType],
    'is a TRC-10 token transfer, not TRX': [trc10Type],
    'is a governance vote and transfers no TRX': [3, 16, 17, 18],
    'is a vote for block producers: its number is a number of votes, not an amount of TRX': [4],
    'is an application to become a block producer: its fee goes to the network': [5],
    'issues a TRC-10 token: its fee goes to the network': [6],
    'is a change of settings and transfers no TRX': [8, 10, 15, 19, 33, 45, 48, 49],
    'is a purchase of a TRC-10 token, not a transfer of TRX to you': [9],
    'stakes the TRX of its sender: the receiver gets resources, not TRX': [11],
    'unstakes TRX, which returns to its sender, not to the receiver': [12],
    'pays a reward to its own sender': [13],
    'releases TRC-10 tokens to their issuer, not TRX': [14],
    [`is a custom transaction, ${closed}`]: [20],
    'creates a smart contract and transfers nothing to an address': [30],
    'is a contract call: the TRX in it goes to the contract, not to you': [31],
    [`is a contract query, ${closed}`]: [32],
    [order]: [41, 42, 43, 44, 52, 53],
    'changes permissions: its fee goes to the network': [46],
    [`is a shielded token transfer, ${closed}`]: [51],
    [`stakes the TRX ${ownStake}`]: [54],
    [`starts to unstake the TRX ${ownStake}`]: [55],
    'returns unstaked TRX to its own sender': [56],
    'delegates bandwidth or energy to the receiver and transfers no TRX': [57],
    'ends a delegation of bandwidth or energy and transfers no TRX': [58],
    'cancels the unstaking of its sender and transfers no TRX': [59],
  }).flatMap(([why, types]) => types.map((type) => [type, `this ${why}`] as const)),
)

/**
 * Says why a transaction of this contract type, which names one of the user's addresses, is not a
 * deposit of TRX. Unknown types get a sentence, too.
 */
export function explainContractType(type: number): Explanation {
  const why = sentences.get(type) ?? `this is a transaction of type ${type}, which is not a TRX transfer`
  return explain(type === trc10Type ? 'trc10' : 'not-a-transfer', why)
}
