import type { Address } from '../addresses/address.ts'
import type { Block, Log } from '../chain/block.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'

/** `keccak256("Transfer(address,address,uint256)")`: shared by TRC-20 and TRC-721. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A Transfer event of an accepted token. Its amount stays in the log until somebody needs it. */
export interface TokenTransfer {
  readonly log: Log
  readonly currency: Currency
  readonly from: Address
  readonly to: Address
}

const addressTopicHead = `0x${'0'.repeat(24)}` // 12 zero bytes in front of the 20
const wordLength = 2 + 64
const zeroWord = `0x${'0'.repeat(64)}`

/**
 * The accepted tokens' transfers in a block (fact sheet, rule R6): the emitting contract, which can't be forged, is in
 * the list; exactly 3 topics, so no TRC-721; clean addresses; 32 bytes of data; more than zero.
 */
export function tokenTransfers(block: Pick<Block, 'logs'>, currencies: Currencies): readonly TokenTransfer[] {
  const found: TokenTransfer[] = []
  for (const log of block.logs) {
    const transfer = tokenTransfer(log, currencies)
    if (transfer !== null) found.push(transfer)
  }
  return found
}

/** The same for one log; null where it is anything else. */
export function tokenTransfer(log: Log, currencies: Currencies): TokenTransfer | null {
  const currency = currencies.byContract.get(log.contract)
  if (currency === undefined) return null // first: nearly all logs end here, after one look-up
  const parties = transferParties(log)
  if (parties === null || log.data.length !== wordLength || log.data === zeroWord) return null
  return { log, currency, ...parties }
}

/** Who a Transfer event of any contract names, or null where it has another shape. Its data is not looked at. */
export function transferParties(log: Log): { readonly from: Address; readonly to: Address } | null {
  if (log.topics.length !== 3) return null
  const [topic0, fromTopic = '', toTopic = ''] = log.topics
  if (topic0 !== transferTopic) return null
  const from = addressInTopic(fromTopic)
  const to = addressInTopic(toTopic)
  return from === null || to === null ? null : { from, to }
}

/** The address in a 32-byte topic, or null where the 12 bytes in front of it are not all zero. */
export function addressInTopic(topic: string): Address | null {
  if (topic.length !== wordLength || !topic.startsWith(addressTopicHead)) return null
  return topic.slice(addressTopicHead.length) as Address // safe: a topic's digits are lower-case hex (Log)
}

/** What a transfer moved, in the token's own units: positive, up to 2^256−1. */
export function tokenAmount(transfer: TokenTransfer): bigint {
  return BigInt(transfer.log.data)
}
