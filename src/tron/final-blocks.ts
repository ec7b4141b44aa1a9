import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { BlockReading, ChainResult, ChainTransfer, MatchOwn, ReadBlock } from '../chain/chain.ts'
import { readBlocksMax } from '../chain/limits.ts'
import { err, ok } from '../common/result.ts'
import { type Agreement, agreeByQuorum, failureOf, type QuorumVerdict } from './agreement.ts'
import { questionBytes } from './limits.ts'
import type { Pool, Session } from './node.ts'
import { blockVote, isCall, type NodeBlock, readNodeBlocks } from './node-blocks.ts'

/** Blocks that fit into one reply, by the newest replies. */
export function blocksOfReply({ blockBytes, blocksMax }: Pool): number {
  return Math.min(Math.max(Math.floor(questionBytes / blockBytes), 1), blocksMax)
}

/** Final blocks as `quorum` nodes agree on them (see `Chain`; PROTOCOL.md, Scanner rules). */
export async function readFinalBlocks(
  session: Session,
  from: BlockHeight,
  to: BlockHeight,
  match: MatchOwn,
): ChainResult<readonly BlockReading[]> {
  const found = await agreeOnBlocks(session, from, Math.min(blocksOfReply(session.pool), to - from + 1), to)
  if (!found.ok) return found
  const own = await ownBlocks(
    found.value.flatMap((verdict) => ('value' in verdict ? [verdict.value] : [])),
    match,
  )
  return ok(
    found.value.map((verdict, i): BlockReading => {
      const height = (from + i) as BlockHeight // safe: an integer above a height
      const block = 'value' in verdict ? own.get(verdict.value) : undefined
      return block ?? { kind: 'not-agreed', height }
    }),
  )
}

type Verdicts = readonly QuorumVerdict<NodeBlock>[]

/**
 * What nodes say about the blocks from `from` on: `count` at most, and at least one that is agreed or not. Fewer, where too many are
 * too large or malformed, so that only the block that cannot be read is not agreed.
 */
async function agreeOnBlocks(session: Session, from: BlockHeight, count: number, to: number): ChainResult<Verdicts> {
  const { pool } = session
  for (let length = count; ; length = Math.ceil(length / 2)) {
    const agreement = await agreeOnRange(session, from, length)
    const known = untilMissing(agreement)
    if (known.length > 0) {
      pool.blocksMax = Math.min(pool.blocksMax * 2, readBlocksMax)
      return ok(known)
    }
    const failure = failureOf(session, agreement.errors)
    const kinds = new Set([...agreement.errors.values()].map(({ kind }) => kind))
    const isOfContent = kinds.has('too-large') || kinds.has('bad-answer')
    if (isOfContent || kinds.has('timed-out')) pool.blocksMax = Math.ceil(length / 2)
    // What takes too long is asked for in smaller parts by the next piece of work: this one has lost its time.
    if (failure.kind !== 'no-answer' || !(isOfContent || (kinds.has('timed-out') && length === 1))) return err(failure)
    if (length > 1) continue
    // The nodes are well where they have the next block: then it is this one that cannot be read.
    const next = from < to ? await agreeOnRange(session, (from + 1) as BlockHeight, 1) : null
    const [after] = next === null ? [] : untilMissing(next)
    return after !== undefined && 'value' in after ? ok([{ kind: 'differs' }, after]) : err(failure)
  }
}

function agreeOnRange(session: Session, from: BlockHeight, length: number): Promise<Agreement<NodeBlock>> {
  return agreeByQuorum(session, 'money', async (node) => {
    const blocks = await readNodeBlocks(session, node, from, length)
    return blocks.ok ? ok(blocks.value.map(blockVote)) : blocks
  })
}

/** The verdicts up to the first block that too few nodes have, or that is no child of the one before. */
function untilMissing({ verdicts }: Agreement<NodeBlock>): Verdicts {
  const end = verdicts.findIndex((verdict, i) => {
    const before = verdicts[i - 1]
    if (verdict.kind === 'missing') return true
    if (before === undefined || !('value' in before) || !('value' in verdict)) return false
    return verdict.value.header.parentHash !== before.value.header.hash
  })
  return end === -1 ? verdicts : verdicts.slice(0, end)
}

/** What concerns addresses of the service in blocks. One lookup for all of them. */
export async function ownBlocks(
  blocks: readonly NodeBlock[],
  match: MatchOwn,
): Promise<ReadonlyMap<NodeBlock, ReadBlock>> {
  const addresses = new Set<Address>()
  for (const { transactions, native, tokens } of blocks) {
    for (const { owner } of transactions) if (owner !== null) addresses.add(owner)
    for (const { from, to } of [...native, ...(tokens ?? [])]) addresses.add(from).add(to)
  }
  const own = addresses.size === 0 ? new Set<Address>() : await match([...addresses])
  return new Map(blocks.map((block) => [block, ownBlock(block, own)]))
}

function ownBlock({ header, transactions, native, tokens }: NodeBlock, own: ReadonlySet<Address>): ReadBlock {
  return {
    kind: 'read',
    header,
    transfers: ownTransfers([...native, ...(tokens ?? [])], own),
    sent: transactions.flatMap(({ txid, owner }) => (owner !== null && own.has(owner) ? [{ txid, owner }] : [])),
    callsToRead: tokens === null ? transactions.filter(isCall).map(({ txid }) => txid) : null,
  }
}

/** The transfers to or from these addresses. */
export function ownTransfers(transfers: readonly ChainTransfer[], own: ReadonlySet<Address>): readonly ChainTransfer[] {
  return transfers.filter(({ from, to }) => own.has(from) || own.has(to))
}
