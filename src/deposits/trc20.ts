import type { Address } from '../chain/address.ts'
import type { Block, Log } from '../chain/block.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'

/** `keccak256("Transfer(address,address,uint256)")`: the same for TRC-20 and TRC-721. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A Transfer event of an accepted token. Its amount is not parsed yet. */
export interface TokenTransfer {
  readonly log: Log
  readonly currency: Currency
  readonly from: Address
  readonly to: Address
}

const addressTopicPrefix = `0x${'0'.repeat(24)}` // 12 zero bytes before the 20 bytes of the address
const wordLength = 2 + 64
const zeroWord = `0x${'0'.repeat(64)}`

/**
 * The transfers of accepted tokens in a block: emitted by the configured contract, which cannot be forged; exactly 3
 * topics, so no TRC-721; clean addresses; 32 bytes of data; more than zero (PROTOCOL.md, Token transfers). None where the
 * logs of the block could not be read: a scan reads these again.
 */
export function tokenTransfers(block: Pick<Block, 'logs'>, currencies: Currencies): readonly TokenTransfer[] {
  const found: TokenTransfer[] = []
  for (const log of block.logs ?? []) {
    const transfer = tokenTransfer(log, currencies)
    if (transfer !== null) found.push(transfer)
  }
  return found
}

/** A log as a transfer of an accepted token, or null. */
export function tokenTransfer(log: Log, currencies: Currencies): TokenTransfer | null {
  const currency = currencies.byContract.get(log.contract)
  if (currency === undefined) return null // first: nearly all logs end here
  const parties = transferParties(log)
  if (parties === null || log.data.length !== wordLength || log.data === zeroWord) return null
  return { log, currency, ...parties }
}

/** Sender and recipient of a Transfer event of any contract, or null for another shape. Its data is not checked. */
export function transferParties(log: Log): { readonly from: Address; readonly to: Address } | null {
  if (log.topics.length !== 3) return null
  const [topic0, fromTopic = '', toTopic = ''] = log.topics
  if (topic0 !== transferTopic) return null
  const from = addressInTopic(fromTopic)
  const to = addressInTopic(toTopic)
  return from === null || to === null ? null : { from, to }
}

/** The address in a topic of 32 bytes, or null where one of its first 12 bytes is not zero. */
export function addressInTopic(topic: string): Address | null {
  if (topic.length !== wordLength || !topic.startsWith(addressTopicPrefix)) return null
  return topic.slice(addressTopicPrefix.length) as Address // safe: topics are lower-case hex (Log)
}

/** The amount of a transfer in the token's own units: positive, up to 2^256−1. */
export function tokenAmount(transfer: TokenTransfer): bigint {
  return BigInt(transfer.log.data)
}
