import { type Address, addressFromHex, formatBase58 } from '../addresses/address.ts'
import type { Log, Receipt, Transaction } from '../chain/block.ts'
import { isZeroQuantity } from '../chain/quantity.ts'
import { formatUnits } from '../ledger/amount.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { contractTypes, describeContractType } from './contract-types.ts'
import type { Deposit, PendingReason } from './deposit.ts'
import { addressInTopic, tokenTransfer, transferParties, transferTopic } from './trc20.ts'
import { nativeTransfer, proveTransfer } from './trx.ts'
import { explainFault, failedTransaction } from './verify-deposit.ts'

/** A final transaction that brought its caller no deposit. */
export interface TransactionInQuestion {
  readonly transaction: Transaction
  readonly receipt: Receipt
  /** The transaction's own bytes, or null where they could not be had: the answer is then true, and less exact. */
  readonly rawData: Uint8Array | null
  readonly currencies: Currencies
  /** The caller's addresses, all of them and nobody else's. */
  readonly own: ReadonlySet<Address>
}

const nothingForYou = 'it holds no transfer to one of your addresses'
const fromYourself = 'it was sent from one of your own deposit addresses, and that is no deposit'
const fromUs = 'it was sent from an address of this service, and moves between those are no deposits'
const notOfItsBytes = "the nodes show this transaction otherwise than the transaction's own bytes"

/**
 * Why a transaction is worth nothing to its caller: one sentence, without a full stop. It speaks of the caller's part
 * only; a transaction that pays somebody else reads the same whether or not that somebody is known here.
 */
export function explainTransaction(question: TransactionInQuestion): string {
  if (!question.receipt.succeeded) return failedTransaction
  return explainEvents(question) ?? explainNative(question) ?? nothingForYou
}

/** What a stored deposit is worth, for the caller it belongs to: one sentence, without a full stop. */
export function explainOutcome(deposit: Deposit, currencies: Currencies): string {
  const currency = currencies.byId.get(deposit.cuy)
  if (currency === undefined) return 'its currency is not accepted any more'
  const { symbol, decimals, scale, minDeposit } = currency
  const amount = `${formatUnits(deposit.raw, decimals)} ${symbol}`
  switch (deposit.outcome) {
    case 'credited':
      return `${amount} arrived, and ${formatUnits(deposit.amount, scale)} ${symbol} was credited`
    case 'below-minimum':
      return `${amount} is below the smallest deposit that is credited, ${formatUnits(minDeposit, decimals)} ${symbol}`
    case 'dust':
      return `${amount} is less than the smallest amount that a wallet can hold, ${formatUnits(1n, scale)} ${symbol}`
    case 'too-large':
      return `${amount} is more than one entry can hold, so a person has to decide about it`
  }
}

/** Why a deposit can't be decided now: one sentence, without a full stop. */
export function explainPending(reason: PendingReason): string {
  switch (reason) {
    case 'queued':
      return 'it waits for its turn behind other transfers of the same block'
    case 'no-api':
      return 'no source is configured that can tell TRX from a worthless token, so TRX deposits wait'
    case 'api-silent':
      return "the transaction's own bytes could not be read yet, so it can't be proven"
    case 'disagreement':
      return 'the nodes do not agree about this transaction yet'
    case 'decimals-differ':
      return "the token's contract reports other decimals than configured, so nothing of it is credited"
    case 'decimals-unknown':
      return "the decimals of the token's contract could not be read yet"
  }
}

/** A sentence about one event; of several, the one with the lowest rank is said. */
interface Finding {
  readonly rank: number
  readonly why: string
}

function explainEvents({ receipt, currencies, own }: TransactionInQuestion): string | null {
  let best: Finding | null = null
  for (const log of receipt.logs) {
    const finding = explainEvent(log, currencies, own)
    if (finding !== null && (best === null || finding.rank < best.rank)) best = finding
  }
  return best?.why ?? null
}

/** Why this event is no deposit, or null where it names none of the caller's addresses as its recipient. */
function explainEvent(log: Log, currencies: Currencies, own: ReadonlySet<Address>): Finding | null {
  const [topic0, , toTopic = ''] = log.topics
  const named = addressFromHex(toTopic.slice(-40)) // whatever stands in front of it: that is judged below
  if (topic0 !== transferTopic || named === null || !own.has(named)) return null
  const contract = formatBase58(log.contract)
  if (log.topics.length === 4 && addressInTopic(toTopic) !== null) {
    return { rank: 4, why: `the contract ${contract} sent an NFT (TRC-721), not an accepted token` }
  }
  const currency = currencies.byContract.get(log.contract)
  if (currency === undefined) {
    return { rank: 3, why: `its Transfer event comes from the contract ${contract}, which is not an accepted token` }
  }
  const parties = transferParties(log)
  if (parties !== null && own.has(parties.from)) return { rank: 1, why: fromYourself }
  if (tokenTransfer(log, currencies) !== null) return { rank: 0, why: fromUs }
  if (parties !== null && isZeroQuantity(log.data)) return { rank: 2, why: `it transfers 0 ${currency.symbol}` }
  return { rank: 5, why: `the contract ${contract} names your address in an event that is no token transfer` }
}

/** Why the transaction itself is no TRX deposit, or null where it has nothing to do with the caller. */
function explainNative({ transaction, rawData, currencies, own }: TransactionInQuestion): string | null {
  const { from, to } = transaction
  if (to !== null && !own.has(to)) return own.has(from) ? fromYourself : null
  const proof = rawData === null ? null : proveTransfer(rawData)
  if (proof !== null && !proof.ok) return to === null ? explainTargetless(proof.error) : explainFault(proof.error)
  if (to === null) return null
  if (own.has(from)) return fromYourself
  const transfer = nativeTransfer(transaction)
  if (transfer === null) return explainNoTransfer(transaction, proof !== null)
  if (currencies.native === null) return 'it transfers TRX, which is not an accepted currency'
  return fromUs // everything else about it would have made it a deposit
}

/** A transaction without a target: said only where its type is known, since nothing in it points at the caller. */
function explainTargetless(fault: Parameters<typeof explainFault>[0]): string | null {
  return fault.kind === 'other-contract' ? explainFault(fault) : null
}

function explainNoTransfer({ value, input }: Transaction, isTransferByItsBytes: boolean): string {
  if (isTransferByItsBytes) return notOfItsBytes
  if (input !== '0x') return describeContractType(contractTypes.contractCall).why
  return isZeroQuantity(value) ? 'it moves no TRX to your address' : notOfItsBytes
}
