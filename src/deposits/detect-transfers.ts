import type { AddressBook, AddressOwner } from '../addresses/address-book.ts'
import { createSuffixSet } from '../addresses/suffix-set.ts'
import type { Address } from '../chain/address.ts'
import type { Block, BlockRef, Transaction } from '../chain/block.ts'
import { parseQuantity } from '../chain/quantity.ts'
import type { Uid } from '../common/ids.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { Candidate, Movement } from './deposit.ts'
import { type TokenTransfer, tokenAmount, tokenTransfers } from './trc20.ts'
import { type NativeTransfer, nativeTransfer } from './trx.ts'

/** A candidate and the caller whose address it pays. */
export interface OwnedCandidate {
  readonly candidate: Candidate
  readonly uid: Uid
}

/** Candidates for deposits, and movements of money that already was at an address of the service. */
export interface OwnedTransfers {
  readonly candidates: readonly OwnedCandidate[]
  /** Transfers that were final before their address was issued to its caller: never a deposit. */
  readonly early: readonly OwnedCandidate[]
  readonly movements: readonly Movement[]
}

type Owners = ReadonlyMap<Address, AddressOwner>

/** `OwnedTransfers` while it is built. */
interface FoundTransfers {
  readonly candidates: OwnedCandidate[]
  readonly early: OwnedCandidate[]
  readonly movements: Movement[]
}

/** What finding transfers needs. */
export interface FindTransfersParts {
  readonly addresses: Pick<AddressBook, 'match'>
  readonly currencies: Currencies
  /** The operator's own wallets (`OPERATOR_ADDRESSES`): what they send is never a deposit. */
  readonly operators: ReadonlySet<Address>
}

/** The candidates and movements of blocks. One query for all addresses of all blocks. */
export async function findOwnedTransfers(
  { addresses, currencies, operators }: FindTransfersParts,
  blocks: readonly Block[],
): Promise<OwnedTransfers> {
  const detected = detectTransfers(blocks, currencies)
  return assignOwners(detected, await addresses.match(detected.addresses), operators)
}

/** The transfers of blocks, before it is known which addresses belong to callers. No amount is parsed yet. */
export interface DetectedTransfers {
  readonly native: Currency | null
  readonly blocks: readonly BlockTransfers[]
  /** All addresses whose money may have moved; one can be there more than once. */
  readonly addresses: readonly Address[]
}

interface BlockTransfers extends BlockRef {
  /** Every transaction, since each one costs its sender a fee in TRX. Empty where TRX is not configured. */
  readonly transactions: readonly Transaction[]
  readonly tokens: readonly TokenTransfer[]
}

/** Everything in the blocks that can move money of a configured currency (PROTOCOL.md, Scanner rules). */
export function detectTransfers(blocks: readonly Block[], currencies: Currencies): DetectedTransfers {
  const addresses: Address[] = []
  const found = blocks.map((block): BlockTransfers => {
    const transactions = currencies.native === null ? [] : block.transactions
    for (const transaction of transactions) {
      addresses.push(transaction.from)
      const transfer = nativeTransfer(transaction)
      if (transfer !== null) addresses.push(transfer.to)
    }
    const tokens = tokenTransfers(block, currencies)
    for (const { from, to } of tokens) {
      addresses.push(from, to)
    }
    return { height: block.height, hash: block.hash, transactions, tokens }
  })
  return { native: currencies.native, blocks: found, addresses }
}

/**
 * Sorts transfers by `owners`, the callers by address. Money from an address of the service is never a deposit: it is a
 * movement out, and a movement in where the recipient is an address of the service too. Money from an operator's wallet
 * (mostly for the fees of collecting) is a movement in. Any other transaction that an address of the service sends is a
 * movement of 0 TRX: it costs a fee that JSON-RPC does not show (PROTOCOL.md, Transactions). What was final before the
 * recipient's address was issued was paid to another owner of the address.
 */
export function assignOwners(
  { native, blocks }: DetectedTransfers,
  owners: Owners,
  operators: ReadonlySet<Address>,
): OwnedTransfers {
  const found: FoundTransfers = { candidates: [], early: [], movements: [] }
  if (owners.size === 0) return found // nearly always
  const sort = (candidate: Candidate) => sortTransfer(candidate, owners, operators, found)
  const suffixes = createSuffixSet(3)
  for (const address of owners.keys()) suffixes.add(address, address.length - 3)
  const isOwn = (address: Address | null) => address !== null && suffixes.mayHave(address) && owners.has(address)
  for (const { transactions, tokens, height, hash } of blocks) {
    const block = { height, hash }
    if (native !== null) {
      for (const one of transactions) sortTransaction(block, native, one, isOwn, sort, found)
    }
    for (const transfer of tokens) {
      if (!isOwn(transfer.from) && !isOwn(transfer.to)) continue
      sort(tokenCandidate(block, transfer))
    }
  }
  return found
}

/** A token transfer as a candidate. */
function tokenCandidate(block: BlockRef, transfer: TokenTransfer): Candidate {
  const { log, currency, from, to } = transfer
  return { txid: log.txid, position: log.position, block, currency, from, to, raw: tokenAmount(transfer) }
}

/** A transaction that looks like a TRX transfer as a candidate. Node replies are parsed so that `value` is a quantity. */
function nativeCandidate(block: BlockRef, currency: Currency, transfer: NativeTransfer): Candidate {
  const { transaction, from, to } = transfer
  const raw = parseQuantity(transaction.value)
  if (raw === null) throw new Error(`transaction ${transaction.txid} has no quantity as its value`)
  return { txid: transaction.txid, position: 0, block, currency, from, to, raw }
}

function sortTransaction(
  block: BlockRef,
  native: Currency,
  transaction: Transaction,
  isOwn: (address: Address | null) => boolean,
  sort: (candidate: Candidate) => void,
  found: FoundTransfers,
): void {
  const { txid, from, to } = transaction
  if (!isOwn(from) && !isOwn(to)) return // nearly all end here
  const transfer = nativeTransfer(transaction)
  if (transfer !== null) {
    sort(nativeCandidate(block, native, transfer))
  } else if (isOwn(from)) {
    found.movements.push({ txid, position: 0, block, cuy: native.cuy, address: from, direction: 'out', raw: 0n })
  }
}

/** A candidate, or an early one, where the money comes from outside; otherwise movements. */
function sortTransfer(
  candidate: Candidate,
  owners: Owners,
  operators: ReadonlySet<Address>,
  found: FoundTransfers,
): void {
  const { from, to } = candidate
  const owner = owners.get(to)
  if (owners.has(from)) {
    found.movements.push(movement(candidate, from, 'out'))
    if (owner !== undefined) found.movements.push(movement(candidate, to, 'in'))
  } else if (owner !== undefined && operators.has(from)) {
    found.movements.push(movement(candidate, to, 'in'))
  } else if (owner !== undefined) {
    const list = candidate.block.height > owner.issuedHeight ? found.candidates : found.early
    list.push({ candidate, uid: owner.uid })
  }
}

function movement(candidate: Candidate, address: Address, direction: 'in' | 'out'): Movement {
  const { txid, position, block, currency, raw } = candidate
  return { txid, position, block, cuy: currency.cuy, address, direction, raw }
}
