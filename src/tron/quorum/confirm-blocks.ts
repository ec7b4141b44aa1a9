import type { Address } from '../../chain/address.ts'
import type { Block, Log, Transaction, Txid } from '../../chain/block.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { parseQuantity, parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { forQuestion, type TronNode } from '../nodes/node.ts'
import type { NodeError, NodeResult } from '../nodes/node-error.ts'
import { type ParsedBlock, parseBlock } from '../parse/block.ts'
import { isObject, type Parsed } from '../parse/fields.ts'
import { parseLogs } from '../parse/log.ts'
import type { FinalReplies } from '../transport/batch.ts'
import * as rpc from '../transport/json-rpc.ts'
import { parseResults } from '../transport/json-rpc.ts'
import { type FinalBlocks, readAllLogs } from './read-blocks.ts'
import { readNodeReceipts } from './receipts.ts'
import { readTokenLogs, renderTokenLogs, verifyTokenLogs } from './token-logs.ts'

/** What the node that blocks are from and another node differ about: the text of each. */
export interface Mismatch {
  readonly about: string
  readonly text: string
  readonly otherText: string
}

type Difference = Mismatch | null

/** The result of a confirmation: the first mismatch, or the heights of blocks whose logs the node cannot confirm. */
export interface Confirmation {
  readonly mismatch: Mismatch | null
  readonly unread: readonly number[]
}

/**
 * Whether `node` confirms the blocks from `source`, by its reply to `queryRange`. JSON does not have what a block hash is
 * computed from, so equal hashes do not suffice: all fields that can make a deposit are compared. Blocks whose logs are null
 * are compared without them.
 */
export async function confirmBlocks(
  node: TronNode,
  source: TronNode,
  blocks: FinalBlocks,
  replied: NodeResult<FinalReplies>,
): NodeResult<Confirmation> {
  const { tokens } = node.pool
  const result = await replied
  if (!result.ok) return result
  const { replies } = result.value
  const others = parseResults(replies, blocks, ({ height }) => `block ${height}`, compareBlock)
  if (!others.ok) return others
  const different = others.value.find((difference) => difference !== null)
  if (different !== undefined) return ok({ mismatch: different, unread: [] })
  const withLogs = blocks.filter(({ logs }) => logs !== null)
  const reply = replies[blocks.length]
  const isTooLong = reply !== undefined && rpc.isTooLarge(reply)
  const shown = isTooLong ? await readTokenLogs(node, withLogs) : parseRange(tokens, withLogs, reply)
  if (!shown.ok) return shown
  const logs = await testSilence(node, withLogs, shown.value)
  if (!logs.ok) return logs
  const unread = withLogs.filter((_, i) => logs.value[i] === null).map(({ height }) => height)
  const mismatch = await compareLogs(node, source, withLogs, logs.value)
  return mismatch.ok ? ok({ mismatch: mismatch.value, unread }) : mismatch
}

/** The logs of blocks from the reply about their range. Those of other blocks are ignored. */
function parseRange(
  tokens: ReadonlySet<Address>,
  blocks: FinalBlocks,
  reply: rpc.RpcReply | undefined,
): Result<LogLists, NodeError> {
  if (tokens.size === 0) return ok(blocks.map(() => []))
  return rpc.parseResult(reply, 'logs of a range', (value) => {
    if (!Array.isArray(value)) return err('logs that are not an array')
    const byHeight = new Map<number | null, unknown[]>(blocks.map(({ height }) => [height, []]))
    for (const item of value) byHeight.get(isObject(item) ? parseSmallQuantity(item.blockNumber) : null)?.push(item)
    const lists: (readonly Log[])[] = []
    for (const block of blocks) {
      const logs = parseLogs(byHeight.get(block.height), block)
      if (!logs.ok) return err(`block ${block.height}: ${logs.error}`)
      lists.push(logs.value.logs)
    }
    return ok(lists)
  })
}

/**
 * The logs, with all of a block that has calls and for which the node shows no log of an accepted token: its log index can lack
 * the block, and the source can hide logs. Null where the node cannot show that nothing is hidden. A block of which the index has
 * one log is complete.
 */
async function testSilence(node: TronNode, blocks: FinalBlocks, shown: LogLists): NodeResult<LogLists> {
  const isSilent = ({ transactions }: ParsedBlock, i: number) =>
    shown[i]?.length === 0 && transactions.some(({ input }) => input !== '0x')
  const silent = node.pool.tokens.size === 0 ? [] : blocks.filter(isSilent)
  if (silent.length === 0) return ok(shown)
  const all = await readAllLogs(node, silent)
  if (!all.ok) return all
  const lists = [...shown]
  for (const [i, block] of silent.entries()) {
    const parsed = all.value[i] ?? null
    const verified = parsed === null ? await verifySilence(node, block) : ok(parsed.logs)
    if (!verified.ok) return verified
    lists[blocks.indexOf(block)] = verified.value
  }
  return ok(lists)
}

/** `[]` where the node shows that the source hides no log of an accepted token, by its index or by the receipts of all other calls. */
async function verifySilence(node: TronNode, block: FinalBlocks[number]): NodeResult<readonly Log[] | null> {
  const { tokens } = node.pool
  const own = renderTokenLogs(tokens, block.logs ?? [])
  if (own.size === 0) return verifyTokenLogs(node, block, [])
  const others = block.transactions.filter(({ txid, input }) => input !== '0x' && !own.has(txid))
  if (others.length > receiptsMax) return ok(null)
  if (others.length === 0) return ok([])
  const txids = others.map(({ txid }) => txid)
  const receipts = await readNodeReceipts(node, txids, block.height)
  if (!receipts.ok) return receipts
  const hidden = [...receipts.value.values()].filter(({ succeeded }) => succeeded).flatMap(({ logs }) => logs)
  return ok(renderTokenLogs(tokens, hidden).size === 0 ? [] : null)
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
    return ok({ about, text: render(block), otherText: render(other) })
  }
  if (own === others) return ok(null) // one object was parsed for both nodes
  for (let i = 0; i < Math.max(own.length, others.length); i++) {
    if (isSameTransfer(own[i], others[i])) continue
    const render = (all: readonly Transaction[]) => `${all.length} transactions, at ${i} ${renderTransfer(all[i])}`
    return ok({ about, text: render(own), otherText: render(others) })
  }
  return ok(null)
}

/** Whether what can be a TRX deposit is the same. Honest nodes can differ in other fields (PROTOCOL.md, Transactions). */
function isSameTransfer(a: Transaction | undefined, b: Transaction | undefined): boolean {
  if (a === undefined || b === undefined || a.txid !== b.txid || a.from !== b.from || a.to !== b.to) return false
  if (a.value !== b.value && parseQuantity(a.value) !== parseQuantity(b.value)) return false
  return (a.input === '0x') === (b.input === '0x')
}

function renderTransfer(transaction: Transaction | undefined): string {
  if (transaction === undefined) return 'none'
  const { txid, from, to, value, input } = transaction
  return `${txid} from ${from} to ${to ?? 'none'} value ${value}${input === '0x' ? '' : ' with call data'}`
}

/** The logs of each block, or null where they cannot be read. */
type LogLists = readonly (readonly Log[] | null)[]

/** A block whose logs of accepted tokens differ between two replies, and the transactions that they differ in. */
interface DifferentLogs {
  readonly block: ParsedBlock & Block
  readonly others: readonly Log[]
  /** Whether the other logs can lack some, because they were read by contract. */
  readonly isFiltered: boolean
  readonly txids: readonly Txid[]
}

/**
 * Compares the logs of accepted tokens. Where a filtered reply differs, the node is queried without a filter, since its log
 * index can have a gap; where that differs too, receipts decide.
 */
async function compareLogs(
  node: TronNode,
  source: TronNode,
  blocks: FinalBlocks,
  lists: LogLists,
): NodeResult<Difference> {
  const { tokens } = node.pool
  const filtered = differences(tokens, blocks, lists, () => true)
  if (filtered.length === 0) return ok(null)
  const unclear = filtered.map(({ block }) => block)
  const all = await readAllLogs(node, unclear)
  if (!all.ok) return all
  // Of a block that has too many logs for one reply, the filtered logs remain.
  const complete = all.value.map((parsed, i) => parsed?.logs ?? filtered[i]?.others ?? null)
  const isFiltered = (i: number) => all.value[i] === null
  for (const different of differences(tokens, unclear, complete, isFiltered)) {
    const difference = await compareReceipts(node, source, different)
    if (!difference.ok || difference.value !== null) return difference
  }
  return ok(null)
}

function differences(
  tokens: ReadonlySet<Address>,
  blocks: FinalBlocks,
  lists: LogLists,
  isFiltered: (i: number) => boolean,
): readonly DifferentLogs[] {
  return blocks.flatMap((block, i) => {
    const others = lists[i] ?? null
    if (others === null) return []
    const [own, other] = [renderTokenLogs(tokens, block.logs ?? []), renderTokenLogs(tokens, others)]
    const txids = [...new Set([...own.keys(), ...other.keys()])].filter((txid) => own.get(txid) !== other.get(txid))
    return txids.length === 0 ? [] : [{ block, others, txids, isFiltered: isFiltered(i) }]
  })
}

/**
 * Null where the transactions have failed at both nodes: honest nodes can differ in their logs (PROTOCOL.md, Failed
 * transactions with logs). Also where `node` lacks them in a filtered reply, and its receipts have them.
 */
async function compareReceipts(
  node: TronNode,
  source: TronNode,
  { block, others, txids, isFiltered }: DifferentLogs,
): NodeResult<Difference> {
  const { tokens } = node.pool
  const [own, other] = [renderTokenLogs(tokens, block.logs ?? []), renderTokenLogs(tokens, others)]
  const results = await Promise.all(
    [node, forQuestion(source)].map((each) => readNodeReceipts(each, txids, block.height)),
  )
  for (const result of results) if (!result.ok && isLimit(result.error)) return result
  const [receipts, ownReceipts] = results.map((result) => (result.ok ? result.value : null))
  const isExplained = txids.every((txid) => {
    const [receipt, ownReceipt] = [receipts?.get(txid), ownReceipts?.get(txid)]
    if (receipt?.block.hash !== block.hash) return false
    if (receipt.succeeded) {
      const isLacking = isFiltered && !other.has(txid)
      return isLacking && renderTokenLogs(tokens, receipt.logs).get(txid) === own.get(txid)
    }
    return ownReceipt?.block.hash === block.hash && !ownReceipt.succeeded
  })
  if (isExplained) return ok(null)
  const render = (logs: ReadonlyMap<Txid, string>) =>
    txids.map((txid) => `${txid} ${logs.get(txid) ?? 'no log'}`).join('\n')
  return ok({ about: `logs of block ${block.height}`, text: render(own), otherText: render(other) })
}

const isLimit = ({ kind }: NodeError) => kind === 'out-of-budget' || kind === 'too-costly'
