import * as z from 'zod/mini'
import type { BlockHash, BlockHeight, BlockRef, Header, Txid } from '../../chain/block.ts'
import { parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import { hasHeight, type Parsed, parseHash } from './fields.ts'

/** A block of JSON-RPC with txids. */
export interface BriefBlock extends Header {
  readonly txids: readonly Txid[]
}

const schema = z.object({
  number: z.string(),
  hash: z.string(),
  parentHash: z.string(),
  timestamp: z.string(),
  transactions: z.array(z.unknown()),
})

/** A block with txids. Both of its hashes contain a height (PROTOCOL.md, Blocks). */
export function parseBriefBlock(value: unknown): Parsed<BriefBlock> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return err('a block with missing fields')
  const seconds = parseSmallQuantity(parsed.data.timestamp)
  const header = headerOf(
    parseSmallQuantity(parsed.data.number),
    parseHash(parsed.data.hash),
    parseHash(parsed.data.parentHash),
    seconds === null ? null : seconds * 1000,
  )
  if (!header.ok) return header
  const txids = parsed.data.transactions.map(parseHash)
  if (txids.includes(null)) return err('a malformed txid')
  if (new Set(txids).size < txids.length) return err('a duplicate txid')
  return ok({ ...header.value, txids: txids as Txid[] }) // safe: 32 bytes each
}

/** A header of checked fields, each of which is null where it is malformed. */
export function headerOf(
  height: number | null,
  hash: string | null,
  parentHash: string | null,
  timestamp: number | null,
): Parsed<Header> {
  if (height === null || hash === null || parentHash === null || timestamp === null) return err('a malformed block')
  if (!hasHeight(hash, height)) return err(`a hash that is not of height ${height}`)
  if (height > 0 && !hasHeight(parentHash, height - 1)) return err(`a parent hash that is not of height ${height - 1}`)
  return ok({
    height: height as BlockHeight, // safe: an integer from 0
    hash: hash as BlockHash, // safe: 32 bytes
    parentHash: parentHash as BlockHash, // safe: 32 bytes
    timestamp: timestamp as UnixMs, // safe: milliseconds
  })
}

/** The block that an object names by `blockHash` and `blockNumber`, or null. */
export function parseBlockRef({ blockHash, blockNumber }: Record<string, unknown>): BlockRef | null {
  const height = parseSmallQuantity(blockNumber)
  const hash = parseHash(blockHash)
  if (height === null || hash === null || !hasHeight(hash, height)) return null
  return { height: height as BlockHeight, hash: hash as BlockHash } // safe: checked above
}
