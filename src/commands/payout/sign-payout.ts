import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { BlockHash, BlockHeight } from '../../worker/chain/block.ts'
import { encodeSigned, encodeTransfer, referenceOf, txidOf } from '../../worker/chain/transaction.ts'
import type { Currency } from '../../worker/ledger/currencies.ts'
import type { SigningKey } from '../signing/account-key.ts'
import type { JournalEntry } from './journal.ts'
import { expirationOf } from './judge.ts'
import { accountAt, type ShownHead, type ShownPayout, textOfKey } from './payout.ts'

/** What a payout's transaction is made of, besides the payout. */
export interface TransactionTerms {
  readonly currency: Currency
  /** Ledger units. */
  readonly units: bigint
  /** Sun that a token's transfer may burn. */
  readonly feeLimit: bigint
  readonly head: ShownHead
  /** How long it can be mined after the head. */
  readonly minutes: number
  /** Milliseconds: when it is signed, and its timestamp. In one journal each is another one, so no two payouts share a transaction. */
  readonly at: number
}

/** Signs a payout. Only recipient and amount are of what the service has shown; contract, decimals and fee limit are the signer's. */
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
