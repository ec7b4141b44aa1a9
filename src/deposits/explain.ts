import { type Address, addressFromHex, formatBase58 } from '../chain/address.ts'
import type { Log, Receipt, Transaction } from '../chain/block.ts'
import { isZeroQuantity } from '../chain/quantity.ts'
import { formatUnits } from '../common/amount.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { contractTypes, explainContractType } from './contract-types.ts'
import type { Deposit, PendingReason } from './deposit.ts'
import { addressInTopic, tokenTransfer, transferParties, transferTopic } from './trc20.ts'
import { nativeTransfer, proveTransfer, type TransferFault } from './trx.ts'
import { explainFault, failedTransaction } from './verify-deposit.ts'

/** A final transaction that brought its caller no deposit. */
export interface WorthlessTransaction {
  readonly transaction: Transaction
  readonly receipt: Receipt
  /** The transaction's own bytes, or null where they are not available: the answer is then true, but less exact. */
  readonly bytes: Uint8Array | null
  readonly currencies: Currencies
  /** All addresses of the caller. */
  readonly own: ReadonlySet<Address>
  /** The operator's own wallets. */
  readonly operators: ReadonlySet<Address>
}

const noTransfer = 'it contains no transfer to one of your addresses'
const fromOwnAddress = 'it was sent from one of your own deposit addresses, so it is not a deposit'
const internalTransfer = 'it was sent from an address of this service; internal transfers are not deposits'
const fromOperator = 'it was sent by the operator of this service; such transfers are not deposits'
const contradictsBytes = "the nodes show this transaction differently from the transaction's own bytes"

/**
 * Why a transaction is worth nothing to its caller: one sentence, without a full stop. It describes the caller's part
 * only: a payment to another address reads the same whether or not that address belongs to a caller.
 */
export function explainTransaction(worthless: WorthlessTransaction): string {
  if (!worthless.receipt.succeeded) return failedTransaction
  return explainEvents(worthless) ?? explainNative(worthless) ?? noTransfer
}

/** What became of a stored deposit, for the caller who owns it: one sentence, without a full stop. */
export function explainOutcome(
  deposit: Pick<Deposit, 'cuy' | 'raw' | 'outcome' | 'amount'>,
  currencies: Currencies,
): string {
  const currency = currencies.byId.get(deposit.cuy)
  if (currency === undefined) return 'its currency is no longer accepted'
  const { symbol, decimals, scale, minDeposit } = currency
  const amount = `${formatUnits(deposit.raw, decimals)} ${symbol}`
  switch (deposit.outcome) {
    case 'credited':
      return `${amount} arrived, and ${formatUnits(deposit.amount, scale)} ${symbol} was credited`
    case 'below-minimum':
      return `${amount} is below the smallest deposit that is credited, ${formatUnits(minDeposit, decimals)} ${symbol}`
    case 'dust':
      return `${amount} is less than the smallest amount in a wallet, ${formatUnits(1n, scale)} ${symbol}`
    case 'too-large':
      return `${amount} is too large for one entry; an operator must decide about it`
  }
}

/** Why a deposit cannot be decided now: one sentence, without a full stop. */
export function explainPending(reason: PendingReason): string {
  switch (reason) {
    case 'queued':
      return 'it is recorded and waits to be verified'
    case 'no-api':
      return 'TRX deposits are on hold: no node has the HTTP API that is needed to verify them'
    case 'api-unavailable':
      return "the transaction's own bytes are not available yet, so it cannot be verified"
    case 'bytes-unreadable':
      return "the transaction's own bytes are not those of a single TRX transfer; an operator must look at it"
    case 'disagreement':
      return 'the nodes disagree about this transaction'
    case 'decimals-differ':
      return "the decimals of the token's contract differ from the configured ones, so none of it is credited"
    case 'decimals-unknown':
      return "the decimals of the token's contract could not be read yet"
    case 'retired':
      return 'its currency is no longer accepted; the deposit is kept, and nothing of it is credited'
  }
}

/** A reason found in one event. Of several, the one with the lowest rank is shown. */
interface EventReason {
  readonly rank: number
  readonly why: string
}

function explainEvents({ receipt, ...rest }: WorthlessTransaction): string | null {
  let best: EventReason | null = null
  for (const log of receipt.logs) {
    const reason = explainEvent(log, rest)
    if (reason !== null && (best === null || reason.rank < best.rank)) best = reason
  }
  return best?.why ?? null
}

/** Why this event is not a deposit, or null where its recipient is not one of the caller's addresses. */
function explainEvent(
  log: Log,
  { currencies, own, operators }: Pick<WorthlessTransaction, 'currencies' | 'own' | 'operators'>,
): EventReason | null {
  const [topic0, , toTopic = ''] = log.topics
  const named = addressFromHex(toTopic.slice(-40)) // the bytes before it are checked below
  if (topic0 !== transferTopic || named === null || !own.has(named)) return null
  const contract = formatBase58(log.contract)
  if (log.topics.length === 4 && addressInTopic(toTopic) !== null) {
    return { rank: 4, why: `the contract ${contract} sent an NFT (TRC-721), which is not an accepted token` }
  }
  const currency = currencies.byContract.get(log.contract)
  if (currency === undefined) {
    return { rank: 3, why: `its Transfer event comes from the contract ${contract}, which is not an accepted token` }
  }
  const parties = transferParties(log)
  if (parties !== null && own.has(parties.from)) return { rank: 1, why: fromOwnAddress }
  if (tokenTransfer(log, currencies) !== null) {
    return { rank: 0, why: parties !== null && operators.has(parties.from) ? fromOperator : internalTransfer }
  }
  if (parties !== null && isZeroQuantity(log.data)) return { rank: 2, why: `it transfers 0 ${currency.symbol}` }
  return { rank: 5, why: `the contract ${contract} names your address in an event that is not a token transfer` }
}

/** Why the transaction itself is not a TRX deposit, or null where it does not involve the caller. */
function explainNative({ transaction, bytes, currencies, own, operators }: WorthlessTransaction): string | null {
  const { from, to } = transaction
  if (to !== null && !own.has(to)) return own.has(from) ? fromOwnAddress : null
  const proof = bytes === null ? null : proveTransfer(bytes)
  if (proof !== null && !proof.ok) return to === null ? explainWithoutTarget(proof.error) : explainFault(proof.error)
  if (to === null) return null
  if (own.has(from)) return fromOwnAddress
  const transfer = nativeTransfer(transaction)
  if (transfer === null) return explainNoTransfer(transaction, proof !== null)
  if (currencies.native === null) return 'it transfers TRX, which is not an accepted currency'
  return operators.has(from) ? fromOperator : internalTransfer // anything else would have made it a deposit
}

/** A transaction without a target is explained only where its type is known: nothing in it names the caller. */
function explainWithoutTarget(fault: TransferFault): string | null {
  return fault.kind === 'other-contract' ? explainFault(fault) : null
}

function explainNoTransfer({ value, input }: Transaction, isTransferByItsBytes: boolean): string {
  if (isTransferByItsBytes) return contradictsBytes
  if (input !== '0x') return explainContractType(contractTypes.contractCall)
  return isZeroQuantity(value) ? 'it transfers no TRX to your address' : contradictsBytes
}
