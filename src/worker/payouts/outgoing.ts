import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { BlockReading, ChainTransfer, SentTransaction } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { Outflow } from './outflow.ts'

/**
 * A transaction of a final block that concerns a payout address: the address sent it, or a token
 * moved from the address in it.
 */
export interface Outgoing {
  readonly txid: Txid
  /** The payout address. */
  readonly address: Address
  readonly height: BlockHeight
  readonly succeeded: boolean
  /** The chain's word for how it ended. */
  readonly result: string
  /** Null until the transaction's receipt is read. */
  readonly moved: readonly Outflow[] | null
}

/** The transactions of payout addresses in final blocks. */
export interface OutgoingReading {
  /** The payout addresses that the read looked for. */
  readonly watched: ReadonlySet<Address>
  readonly found: readonly Outgoing[]
  readonly blocks: readonly { readonly height: BlockHeight; readonly time: UnixMs }[]
}

/**
 * Finds the transactions in these blocks that concern payout addresses. A call whose receipt is
 * still to be read has a `moved` of null.
 */
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

/**
 * Finds the transactions that concern payout addresses among the successful calls of a block.
 * `transfers` are those in their receipts.
 */
export function findInReceipts(
  calls: readonly { readonly txid: Txid; readonly owner: Address }[],
  transfers: readonly ChainTransfer[],
  height: BlockHeight,
  watched: ReadonlySet<Address>,
): OutgoingReading {
  const own = calls.filter(({ owner }) => watched.has(owner)).map((call) => ({ ...call, ...success }))
  return { watched, found: outgoingOf(own, transfers, height, watched), blocks: [] }
}

/** How a transaction ended whose logs moved something. */
const success = { succeeded: true, result: 'SUCCESS' } as const

function outgoingOf(
  own: readonly SentTransaction[],
  transfers: readonly ChainTransfer[],
  height: BlockHeight,
  watched: ReadonlySet<Address>,
): readonly Outgoing[] {
  if (watched.size === 0) return []
  const moves = Map.groupBy(
    transfers.filter(({ from }) => watched.has(from)),
    ({ txid }) => txid,
  )
  const sent = own.map(({ txid, owner: address, succeeded, result }): Outgoing => {
    const moved = (moves.get(txid) ?? []).filter(({ from }) => from === address).map(outflowOf)
    return { txid, address, height, succeeded, result, moved }
  })
  const isOwn = new Set(own.map(({ txid }) => txid))
  // Transactions that somebody else sent, and that moved tokens of a payout address: by an
  // allowance of the token, or as its issuer.
  const others = [...moves].flatMap(([txid, [first, ...more]]): readonly Outgoing[] => {
    if (first === undefined || isOwn.has(txid)) return []
    const moved = [first, ...more].filter(({ from }) => from === first.from).map(outflowOf)
    return [{ txid, address: first.from, height, ...success, moved }]
  })
  return [...sent, ...others]
}

function outflowOf({ asset, to, amount }: ChainTransfer): Outflow {
  return { contract: asset.kind === 'native' ? '' : asset.contract, to, raw: amount.toString() }
}
