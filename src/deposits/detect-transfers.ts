import type { Address } from '../addresses/address.ts'
import type { Block, BlockRef, Transaction } from '../chain/block.ts'
import { parseQuantity } from '../chain/quantity.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'
import type { Candidate, Movement } from './deposit.ts'
import { type TokenTransfer, tokenAmount, tokenTransfers } from './trc20.ts'
import { type NativeTransfer, nativeTransfer } from './trx.ts'

/** What blocks hold that could concern us, before it is known which addresses are ours. No amount is read yet. */
export interface DetectedTransfers {
  readonly native: Currency | null
  readonly blocks: readonly FoundBlock[]
  /** Everybody whose money may have moved: of them it is asked which are ours. */
  readonly addresses: ReadonlySet<Address>
}

interface FoundBlock extends BlockRef {
  /** Every transaction: any of them costs its sender a fee in TRX. Empty where TRX is no currency of ours. */
  readonly transactions: readonly Transaction[]
  readonly tokens: readonly TokenTransfer[]
}

/** A candidate and the caller whose address it pays. */
export interface OwnedCandidate {
  readonly candidate: Candidate
  readonly uid: Uid
}

/** Candidates for deposits, and what only moved money that was ours already. */
export interface OwnedTransfers {
  readonly candidates: readonly OwnedCandidate[]
  readonly movements: readonly Movement[]
}

/** All that blocks of 400 transactions and 200 logs can mean for us, and the addresses to look up (rules R6 and R9). */
export function detectTransfers(blocks: readonly Block[], currencies: Currencies): DetectedTransfers {
  const addresses = new Set<Address>()
  const found = blocks.map((block): FoundBlock => {
    const transactions = currencies.native === null ? [] : block.transactions
    for (const transaction of transactions) {
      addresses.add(transaction.from)
      const transfer = nativeTransfer(transaction)
      if (transfer !== null) addresses.add(transfer.to)
    }
    const tokens = tokenTransfers(block, currencies)
    for (const { from, to } of tokens) {
      addresses.add(from)
      addresses.add(to)
    }
    return { height: block.height, hash: block.hash, transactions, tokens }
  })
  return { native: currencies.native, blocks: found, addresses }
}

/**
 * Candidates and movements of blocks; `owners` holds which of their addresses are ours. Money from an address of ours is
 * never a deposit (R17): it is a movement out, and in where the recipient is ours too. Any transaction that one of
 * our addresses sent is a movement out of TRX, with 0 where it is no plain transfer: it cost a fee (R11).
 */
export function assignOwners({ native, blocks }: DetectedTransfers, owners: ReadonlyMap<Address, Uid>): OwnedTransfers {
  const claims: OwnedCandidate[] = []
  const movements: Movement[] = []
  if (owners.size === 0) return { candidates: claims, movements } // nearly always
  for (const { transactions, tokens, height, hash } of blocks) {
    const block = { height, hash }
    if (native !== null) {
      for (const one of transactions) judgeTransaction(block, native, one, owners, claims, movements)
    }
    for (const transfer of tokens) {
      if (!owners.has(transfer.from) && !owners.has(transfer.to)) continue
      file(tokenCandidate(block, transfer), owners, claims, movements)
    }
  }
  return { candidates: claims, movements }
}

/** A token transfer as a candidate. */
function tokenCandidate(block: BlockRef, transfer: TokenTransfer): Candidate {
  const { log, currency, from, to } = transfer
  return { txid: log.txid, position: log.position, block, currency, from, to, raw: tokenAmount(transfer) }
}

/** A transaction that looks like a TRX transfer as a candidate. `value` must be a quantity: the wire schema's promise. */
function nativeCandidate(block: BlockRef, currency: Currency, transfer: NativeTransfer): Candidate {
  const { transaction, from, to } = transfer
  const raw = parseQuantity(transaction.value)
  if (!raw.ok || raw.value === null) throw new Error(`transaction ${transaction.txid} has no quantity as its value`)
  return { txid: transaction.txid, position: 0, block, currency, from, to, raw: raw.value }
}

function judgeTransaction(
  block: BlockRef,
  native: Currency,
  transaction: Transaction,
  owners: ReadonlyMap<Address, Uid>,
  claims: OwnedCandidate[],
  movements: Movement[],
): void {
  const { txid, from, to } = transaction
  const ours = owners.has(from)
  if (!ours && (to === null || !owners.has(to))) return // nearly all end here
  const transfer = nativeTransfer(transaction)
  if (transfer !== null) {
    file(nativeCandidate(block, native, transfer), owners, claims, movements)
  } else if (ours) {
    movements.push({ txid, position: 0, block, cuy: native.cuy, address: from, direction: 'out', raw: 0n })
  }
}

/** Sorts a transfer that touches us: a claim where it comes from outside, else movements. */
function file(
  candidate: Candidate,
  owners: ReadonlyMap<Address, Uid>,
  claims: OwnedCandidate[],
  movements: Movement[],
): void {
  const { from, to } = candidate
  const uid = owners.get(to)
  if (owners.has(from)) {
    movements.push(movement(candidate, from, 'out'))
    if (uid !== undefined) movements.push(movement(candidate, to, 'in'))
  } else if (uid !== undefined) {
    claims.push({ candidate, uid })
  }
}

function movement(candidate: Candidate, address: Address, direction: 'in' | 'out'): Movement {
  const { txid, position, block, currency, raw } = candidate
  return { txid, position, block, cuy: currency.cuy, address, direction, raw }
}
