import type { Address } from '../../chain/address.ts'
import { internalPosition, nativeAsset, type Txid } from '../../chain/block.ts'
import type { ChainTransfer } from '../../chain/chain.ts'
import { amountMax } from '../../common/amount.ts'
import { err, ok } from '../../common/result.ts'
import { isObject, type Parsed, parseNodeAddress } from './fields.ts'

/** The internal transactions whose notes count, in order (PROTOCOL.md, Internal transactions). */
export interface ParsedInternals {
  /** The text on which nodes must agree: one line for each internal transaction. */
  readonly canonicalText: string
  /** The transfers of TRX among the internal transactions, each with its position. */
  readonly transfers: readonly ChainTransfer[]
}

/**
 * The notes (kinds) of the internal transactions that count, in hex as nodes show them. Other kinds
 * are listed only by some honest nodes.
 */
const notes: ReadonlyMap<unknown, string> = new Map([
  ['63616c6c', 'call'],
  ['637265617465', 'create'],
  ['73756963696465', 'suicide'],
])

/**
 * Parses the internal transactions of `txid` in the block at `height`, in a reply to
 * `gettransactioninfobyid`.
 */
export function parseInternals(value: unknown, txid: Txid, height: number): Parsed<ParsedInternals> {
  if (!isObject(value)) return err('a transaction info that is not an object')
  // the node does not have the info
  if (Object.keys(value).length === 0) return ok({ canonicalText: '', transfers: [] })
  if (value.id !== txid || value.blockNumber !== height) return err('the info of another transaction')
  const items = value.internal_transactions ?? []
  if (!Array.isArray(items)) return err('internal transactions that are no list')
  const lines: string[] = []
  const transfers: ChainTransfer[] = []
  for (const item of items) {
    if (!isObject(item)) return err('an internal transaction that is not an object')
    const note = notes.get(item.note)
    if (note === undefined) continue
    const [from, to] = [addressOf(item.caller_address), addressOf(item.transferTo_address)]
    const sun = sunOf(item.callValueInfo)
    if (!['undefined', 'boolean'].includes(typeof item.rejected))
      return err('an internal transaction that is undone or not')
    const isUndone = item.rejected === true
    if (from !== null && to !== null && note !== 'create' && !isUndone && sun > 0n && sun <= amountMax) {
      const position = internalPosition(lines.length)
      transfers.push({ txid, position, asset: nativeAsset, from, to, amount: sun })
    }
    lines.push(`${note} ${from} ${to} ${sun}${isUndone ? ' rejected' : ''}`)
  }
  return ok({ canonicalText: lines.join('\n'), transfers })
}

/** Parses an address of 21 bytes in hex; null if it is malformed. */
const addressOf = (value: unknown): Address | null =>
  typeof value === 'string' ? parseNodeAddress(`0x${value}`) : null

/**
 * The TRX that a call sent, in sun: among its values, the one that names no other token. Nodes
 * leave out a value of 0.
 */
function sunOf(values: unknown): bigint {
  const list: readonly unknown[] = Array.isArray(values) ? values : []
  const trx = list.find((one) => isObject(one) && one.tokenId === undefined)
  const sun = isObject(trx) ? trx.callValue : 0n
  // safe: just checked
  return typeof sun === 'bigint' || Number.isSafeInteger(sun) ? BigInt(sun as bigint | number) : 0n
}
