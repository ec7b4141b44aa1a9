import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { BlockReading, ChainTransfer } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { Moved } from './moved.ts'

/** What a transaction of a final block has to do with a payout address: it was sent by it, or a token's log moves from it. */
export interface Outgoing {
  readonly txid: Txid
  /** The payout address. */
  readonly address: Address
  readonly height: BlockHeight
  readonly succeeded: boolean
  /** Null: its receipt is not read yet. */
  readonly moved: readonly Moved[] | null
}

/** Final blocks as payouts need them. */
export interface OutgoingReading {
  /** The payout addresses that they were read with. */
  readonly watched: ReadonlySet<Address>
  readonly found: readonly Outgoing[]
  /** The blocks that were read, with their times. */
  readonly blocks: readonly { readonly height: BlockHeight; readonly time: UnixMs }[]
}

/** What payout addresses have sent in these blocks. */
export function findOutgoing(blocks: readonly BlockReading[], watched: ReadonlySet<Address>): OutgoingReading {
  const read = blocks.filter((block) => block.kind === 'read')
  const found = read.flatMap(({ header: { height }, sent, transfers, callsToRead }) => {
    const isMissing = new Set(callsToRead)
    const own = sent.filter(({ owner }) => watched.has(owner))
    return outgoingOf(own, transfers, height, watched).map((one) =>
      isMissing.has(one.txid) ? { ...one, moved: null } : one,
    )
  })
  return { watched, found, blocks: read.map(({ header: { height, timestamp } }) => ({ height, time: timestamp })) }
}

/** What payout addresses have sent by successful calls of a block, whose receipts have these transfers. */
export function findInReceipts(
  calls: readonly { readonly txid: Txid; readonly owner: Address }[],
  transfers: readonly ChainTransfer[],
  height: BlockHeight,
  watched: ReadonlySet<Address>,
): OutgoingReading {
  const own = calls.filter(({ owner }) => watched.has(owner)).map((call) => ({ ...call, succeeded: true }))
  return { watched, found: outgoingOf(own, transfers, height, watched), blocks: [] }
}

function outgoingOf(
  own: readonly { readonly txid: Txid; readonly owner: Address; readonly succeeded: boolean }[],
  transfers: readonly ChainTransfer[],
  height: BlockHeight,
  watched: ReadonlySet<Address>,
): readonly Outgoing[] {
  if (watched.size === 0) return []
  const moves = Map.groupBy(
    transfers.filter(({ from }) => watched.has(from)),
    ({ txid }) => txid,
  )
  const sent = own.map(({ txid, owner: address, succeeded }): Outgoing => {
    const moved = (moves.get(txid) ?? []).filter(({ from }) => from === address).map(movedBy)
    return { txid, address, height, succeeded, moved }
  })
  const isOwn = new Set(own.map(({ txid }) => txid))
  // Somebody else's: an allowance, or an issuer.
  const others = [...moves].flatMap(([txid, [first, ...more]]): readonly Outgoing[] => {
    if (first === undefined || isOwn.has(txid)) return []
    const moved = [first, ...more].filter(({ from }) => from === first.from).map(movedBy)
    return [{ txid, address: first.from, height, succeeded: true, moved }]
  })
  return [...sent, ...others]
}

function movedBy({ asset, to, amount }: ChainTransfer): Moved {
  return { contract: asset.kind === 'native' ? '' : asset.contract, to, raw: amount.toString() }
}
