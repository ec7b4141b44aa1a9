import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { BlockHash, BlockHeight } from '../../worker/chain/block.ts'
import { encodeSigned, encodeTransfer, referenceOf, txidOf } from '../../worker/chain/transaction.ts'
import type { Currency } from '../../worker/ledger/currencies.ts'
import type { SigningKey } from '../signing/account-key.ts'
import type { JournalEntry } from './journal.ts'
import { expirationOf } from './judge.ts'
import { accountAt, type ShownHead, type ShownPayout, textOfKey } from './payout.ts'

/** What the transaction of a payout depends on besides the payout and the key. */
export interface TransactionTerms {
  readonly currency: Currency
  /** Ledger units. */
  readonly units: bigint
  /** The most sun that a token transfer may burn. */
  readonly feeLimit: bigint
  readonly head: ShownHead
  /** Lifetime after the head, in minutes. */
  readonly minutes: number
  /**
   * Milliseconds: the time of signing and the timestamp of the transaction. It differs for each
   * line of a journal, so no two payouts share a transaction.
   */
  readonly at: number
}

/**
 * Signs a payout. Only recipient and amount come from the service; contract, decimals and fee limit
 * are the signer's own.
 */
export function signPayout(payout: ShownPayout, terms: TransactionTerms, key: SigningKey): JournalEntry {
  const { currency, units, feeLimit, head, minutes, at } = terms
  const { asset, decimals, scale } = currency
  const digest = sha256(utf8ToBytes(textOfKey(payout)))
  const expiration = expirationOf(head, minutes, new DataView(digest.buffer).getUint16(0))
  const rawData = encodeTransfer({
    asset,
    from: key.address,
    to: accountAt(payout.to),
    amount: units * 10n ** BigInt(decimals - scale),
    reference: referenceOf({ height: head.height as BlockHeight, hash: head.hash as BlockHash }), // safe: checked
    expiration: BigInt(expiration),
    timestamp: BigInt(at),
    feeLimit: asset.kind === 'native' ? 0n : feeLimit,
  })
  const { id, uid, cuy, osn, amt, to, attempts, created_at } = payout
  const transaction = encodeSigned(rawData, key.sign(rawData))
  return { at, id, uid, cuy, osn, amt, to, attempts, created_at, txid: txidOf(rawData), expiration, head, transaction }
}
