import type { Address } from '../../addresses/address.ts'
import type { Block, Log, Transaction, Txid } from '../../chain/block.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { parseQuantity } from '../../chain/quantity.ts'
import { ok } from '../../common/result.ts'
import { blockCall, rangeLogsCall } from '../calls.ts'
import type { TronNode } from '../nodes/node.ts'
import type { NodeResult } from '../nodes/node-error.ts'
import { type ParsedBlock, parseBlock } from '../parse/block.ts'
import type { Parsed } from '../parse/fields.ts'
import { queryFinal } from '../transport/batch.ts'
import { parseResults } from '../transport/json-rpc.ts'
import type { Vote } from './agreement.ts'
import { type FinalBlocks, readRangeLogs } from './read-blocks.ts'
import { readNodeReceipts } from './receipts.ts'

/** What the node that blocks are from and another node differ about. */
export interface Mismatch {
  readonly about: string
  readonly source: Vote
  readonly other: Vote
}

/** The texts that differ, first that of the source, or null. */
type Difference = readonly [about: string, source: string, other: string] | null

/**
 * Whether `node` confirms the blocks from `source`: null, or the first mismatch. One request reads the blocks in full and
 * the logs of their range. JSON does not have what a block hash is computed from, so equal hashes do not suffice: all
 * fields that can make a deposit are compared.
 */
export async function confirmBlocks(
  node: TronNode,
  source: TronNode,
  blocks: FinalBlocks,
): NodeResult<Mismatch | null> {
  const heights = blocks.map(({ height }) => height)
  const [from, to] = [heights[0], heights.at(-1)]
  if (from === undefined || to === undefined) return ok(null)
  const mismatch = ([about, text, otherText]: NonNullable<Difference>) =>
    ok({ about, source: { node: source, text }, other: { node, text: otherText } })
  const calls = [...heights.map((height) => blockCall(height, true)), rangeLogsCall(from, to)]
  const result = await queryFinal(node, to, calls)
  if (!result.ok) return result
  const { replies } = result.value
  const others = parseResults(replies, blocks, ({ height }) => `block ${height}`, compareBlock)
  if (!others.ok) return others
  const different = others.value.find((difference) => difference !== null)
  if (different !== undefined) return mismatch(different)
  const logs = await readRangeLogs(node, blocks, replies[blocks.length])
  if (!logs.ok) return logs
  for (const [i, block] of blocks.entries()) {
    const difference = await compareLogs([source, node], block, logs.value[i] ?? [])
    if (!difference.ok) return difference
    if (difference.value !== null) return mismatch(difference.value)
  }
  return ok(null)
}

/** The difference of a block to one in a reply. */
function compareBlock(value: unknown, block: ParsedBlock): Parsed<Difference> {
  const parsed = parseBlock(value, block.height)
  if (!parsed.ok) return parsed
  const other = parsed.value
  const about = `block ${block.height}`
  const [own, others] = [block.transactions, other.transactions]
  if (block.hash !== other.hash || block.parentHash !== other.parentHash) {
    const render = ({ hash, parentHash }: ParsedBlock) => `hash ${hash}\nparent ${parentHash}`
    return ok([about, render(block), render(other)])
  }
  for (let i = 0; i < Math.max(own.length, others.length); i++) {
    if (isSameTransfer(own[i], others[i])) continue
    const render = (all: readonly Transaction[]) => `${all.length} transactions, at ${i} ${renderTransfer(all[i])}`
    return ok([about, render(own), render(others)])
  }
  return ok(null)
}

/** Whether what can be a TRX deposit is the same. Other fields differ between versions (PROTOCOL.md, Transactions). */
function isSameTransfer(a: Transaction | undefined, b: Transaction | undefined): boolean {
  if (a === undefined || b === undefined || a.txid !== b.txid || a.from !== b.from || a.to !== b.to) return false
  if (a.value !== b.value && parseQuantity(a.value) !== parseQuantity(b.value)) return false
  if (a.gas !== b.gas && parseQuantity(a.gas) !== parseQuantity(b.gas)) return false
  return (a.input === '0x') === (b.input === '0x')
}

function renderTransfer(transaction: Transaction | undefined): string {
  if (transaction === undefined) return 'none'
  const { txid, from, to, value } = transaction
  return `${txid} from ${from} to ${to ?? 'none'} value ${value}`
}

/** Compares the logs of accepted tokens, but those of failed transactions (PROTOCOL.md, Failed transactions with logs). */
async function compareLogs(
  nodes: readonly [source: TronNode, other: TronNode],
  block: Block,
  otherLogs: readonly Log[],
): NodeResult<Difference> {
  const { tokens } = nodes[0].pool
  const [own, others] = [renderTokenLogs(tokens, block.logs), renderTokenLogs(tokens, otherLogs)]
  const txids = [...new Set([...own.keys(), ...others.keys()])].filter((txid) => own.get(txid) !== others.get(txid))
  if (txids.length === 0) return ok(null)
  if (txids.length <= receiptsMax) {
    const results = await Promise.all(nodes.map((node) => readNodeReceipts(node, txids, block.height)))
    const haveFailed = results.every((result) => {
      const receipts = result.ok ? [...result.value.values()] : null
      return receipts?.every((receipt) => !receipt.succeeded && receipt.block.hash === block.hash)
    })
    if (haveFailed) return ok(null)
    for (const result of results) if (!result.ok && result.error.kind === 'out-of-budget') return result
  }
  const render = (logs: ReadonlyMap<Txid, string>) => txids.map((txid) => `${txid} ${logs.get(txid) ?? 'no log'}`)
  return ok([`logs of block ${block.height}`, render(own).join('\n'), render(others).join('\n')])
}

/** The logs of accepted tokens: one text for each transaction that has any. */
function renderTokenLogs(tokens: ReadonlySet<Address>, logs: readonly Log[]): ReadonlyMap<Txid, string> {
  const texts = new Map<Txid, string>()
  for (const { txid, position, contract, topics, data } of logs) {
    if (!tokens.has(contract)) continue
    texts.set(txid, `${texts.get(txid) ?? ''}[${position} ${contract} ${topics.join(',')} ${data}]`)
  }
  return texts
}
