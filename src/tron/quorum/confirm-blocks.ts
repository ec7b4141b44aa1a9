import type { Log, Transaction, Txid } from '../../chain/block.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { ok, type Result } from '../../common/result.ts'
import { blockCall, parseResult, queryFinal, rangeLogsCall, readNodeReceipts, readRangeLogs } from '../calls.ts'
import type { NodeError } from '../nodes/node-error.ts'
import { parseBlock } from '../parse/block.ts'
import { parseQuantityField } from '../parse/fields.ts'
import type { NodePool, TronNode } from '../transport/batch.ts'
import type { RpcReply } from '../transport/json-rpc.ts'
import type { BlockReading } from './final-blocks.ts'

/** What a second node says otherwise, and about what. */
export interface Mismatch {
  readonly about: string
  readonly mine: string
  readonly theirs: string
}

/**
 * Whether `node` confirms the blocks that `reader` gave: null where it does. One request: the same blocks in full, and
 * all logs of their range. A hash can't be recomputed from JSON, so equal hashes alone would let a reader leave out a
 * transaction or change its recipient: what can be a deposit is compared one by one.
 */
export async function confirmBlocks(
  pool: NodePool,
  node: TronNode,
  reader: TronNode,
  blocks: readonly BlockReading[],
): Promise<Result<Mismatch | null, NodeError>> {
  const first = blocks[0]
  const last = blocks.at(-1)
  if (first === undefined || last === undefined) return ok(null)
  const heard = await queryFinal(pool, node, last.height, [
    ...blocks.map(({ height }) => blockCall(height, true)),
    rangeLogsCall(first.height, last.height),
  ])
  if (!heard.ok) return heard
  const { replies } = heard.value
  for (const [i, block] of blocks.entries()) {
    const other = compareBodies(block, replies[i])
    if (!other.ok || other.value !== null) return other
  }
  const logs = await readRangeLogs(pool, node, blocks, replies[blocks.length])
  if (!logs.ok) return logs
  for (const [i, block] of blocks.entries()) {
    const other = await compareLogs(pool, node, reader, block, logs.value[i] ?? [])
    if (!other.ok || other.value !== null) return other
  }
  return ok(null)
}

function compareBodies(block: BlockReading, reply: RpcReply | undefined): Result<Mismatch | null, NodeError> {
  const about = `block ${block.height}`
  const body = parseResult(reply, about, (value) => parseBlock(value, block.height))
  if (!body.ok) return body
  const mine = `hash ${block.hash}\nparent ${block.parentHash}`
  const theirs = `hash ${body.value.hash}\nparent ${body.value.parentHash}`
  if (mine !== theirs) return ok({ about, mine, theirs })
  const others = body.value.transactions
  const count = Math.max(block.transactions.length, others.length)
  for (let at = 0; at < count; at++) {
    const [one, other] = [block.transactions[at], others[at]]
    if (one === undefined || other === undefined || !isSameMovement(one, other)) {
      const spell = (all: readonly Transaction[]) => `${all.length} transactions, at ${at} ${spellMovement(all[at])}`
      return ok({ about, mine: spell(block.transactions), theirs: spell(others) })
    }
  }
  return ok(null)
}

/** Whether two nodes say the same of what may be a TRX deposit. Other fields differ between versions (5.2). */
function isSameMovement(one: Transaction, other: Transaction): boolean {
  return (
    one.txid === other.txid &&
    one.from === other.from &&
    one.to === other.to &&
    (one.value === other.value || parseQuantityField(one.value) === parseQuantityField(other.value)) &&
    (one.input === '0x') === (other.input === '0x') &&
    (one.gas === other.gas || parseQuantityField(one.gas) === parseQuantityField(other.gas))
  )
}

function spellMovement(transaction: Transaction | undefined): string {
  if (transaction === undefined) return 'none'
  const { txid, from, to, value } = transaction
  return `${txid} from ${from} to ${to ?? 'nobody'} value ${value}`
}

/**
 * The watched logs of both. Logs of failed transactions are no consensus data (7.5): two honest nodes can differ
 * there, so such a difference counts only where a receipt says that the transaction succeeded.
 */
async function compareLogs(
  pool: NodePool,
  node: TronNode,
  reader: TronNode,
  block: BlockReading,
  logs: readonly Log[],
): Promise<Result<Mismatch | null, NodeError>> {
  const mine = watched(pool, block.logs)
  const theirs = watched(pool, logs)
  const differing = [...new Set([...mine.keys(), ...theirs.keys()])].filter(
    (txid) => mine.get(txid) !== theirs.get(txid),
  )
  if (differing.length === 0) return ok(null)
  if (differing.length <= receiptsMax) {
    const both = await Promise.all([reader, node].map((one) => readNodeReceipts(pool, one, differing, block.height)))
    const failed = both.every(
      (answer) =>
        answer.ok && [...answer.value.values()].every((one) => !one.succeeded && one.block.hash === block.hash),
    )
    if (failed) return ok(null)
    const spent = both.find((answer) => !answer.ok && answer.error.kind === 'out-of-budget')
    if (spent !== undefined && !spent.ok) return spent
  }
  const spell = (by: ReadonlyMap<Txid, string>, all: readonly Log[]) => {
    const count = all.filter(({ contract }) => pool.tokens.has(contract)).length
    return [`${count} watched logs`, ...differing.map((txid) => `${txid} ${by.get(txid) ?? 'no log'}`)].join('\n')
  }
  return ok({ about: `logs of block ${block.height}`, mine: spell(mine, block.logs), theirs: spell(theirs, logs) })
}

/** The logs of accepted contracts, as one text for each transaction. */
function watched(pool: NodePool, logs: readonly Log[]): ReadonlyMap<Txid, string> {
  const texts = new Map<Txid, string>()
  for (const { txid, position, contract, topics, data } of logs) {
    if (!pool.tokens.has(contract)) continue
    texts.set(txid, `${texts.get(txid) ?? ''}[${position} ${contract} ${topics.join(',')} ${data}]`)
  }
  return texts
}
