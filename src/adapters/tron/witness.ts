import type { Log, Txid } from '../../domain/block.ts'
import { batchCallsMax, receiptsMax } from '../../domain/limits.ts'
import { err, ok, type Result } from '../../domain/result.ts'
import type { Reading } from './blocks.ts'
import { askFinal, blockCall, logsCall, logsOf, parsed, receiptsFrom } from './calls.ts'
import type { Reply } from './envelope.ts'
import type { Pool, PoolNode } from './node.ts'
import { readHead, readTxids } from './normalise.ts'
import { type Trouble, trouble } from './trouble.ts'

/** What a second node says otherwise, and about what. */
export interface Testimony {
  readonly about: string
  readonly mine: string
  readonly theirs: string
}

/** Calls that the guard leaves free in one batch. */
const room = batchCallsMax - 2

/**
 * Whether `node` confirms the blocks that `reader` gave: null where it does. One request: the logs of every block by
 * the reader's hash, which a node that has another block there answers with an error, and as many headers with their
 * txids as there is room for, the last block's first: a hash names all blocks before it.
 */
export async function testify(
  pool: Pool,
  node: PoolNode,
  reader: PoolNode,
  blocks: readonly Reading[],
): Promise<Result<Testimony | null, Trouble>> {
  const last = blocks.at(-1)
  if (last === undefined) return ok(null)
  const headed = blocks.slice(-Math.max(room - blocks.length, 1))
  const heard = await askFinal(pool, node, last.height, [
    ...headed.map(({ height }) => blockCall(height, false)),
    ...blocks.map(({ hash }) => logsCall(hash)),
  ])
  if (!heard.ok) return heard
  const { replies } = heard.value
  for (const [i, block] of headed.entries()) {
    const other = compareHeads(block, replies[i])
    if (!other.ok || other.value !== null) return other
  }
  for (const [i, block] of blocks.entries()) {
    const reply = replies[headed.length + i]
    // A node that names the block and yet does not know its hash contradicts itself, not the reader.
    if (isUnknownHash(reply) && !headed.includes(block)) {
      return ok({ about: `block ${block.height}`, mine: `hash ${block.hash}`, theirs: 'a block of another hash' })
    }
    const logs = await logsOf(pool, node, block, reply)
    if (!logs.ok) return logs
    const other = await compareLogs(pool, node, reader, block, logs.value)
    if (!other.ok || other.value !== null) return other
  }
  return ok(null)
}

/** -32602 `invalid blockHash`: the node does not know the block (7.1). */
function isUnknownHash(reply: Reply | undefined): boolean {
  return reply?.kind === 'error' && (reply.code === -32602 || reply.code === -32000)
}

function compareHeads(block: Reading, reply: Reply | undefined): Result<Testimony | null, Trouble> {
  const about = `block ${block.height}`
  const head = parsed(reply, about, readHead)
  if (!head.ok) return head
  const { height, hash, parentHash } = head.value
  if (height !== block.height) return err(trouble('bad-answer', `block ${height} for ${block.height}`))
  const mine = `hash ${block.hash}\nparent ${block.parentHash}`
  const theirs = `hash ${hash}\nparent ${parentHash}`
  if (mine !== theirs) return ok({ about, mine, theirs })
  const places = readTxids(head.value)
  if (!places.ok) return err(trouble('bad-answer', `${about}: ${places.error}`))
  const txids = [...places.value.keys()]
  const at = block.transactions.findIndex(({ txid }, i) => txid !== txids[i])
  if (at === -1 && txids.length === block.transactions.length) return ok(null)
  const spell = (count: number, txid: string | undefined) => `${count} transactions, at ${place} ${txid ?? 'none'}`
  const place = at === -1 ? block.transactions.length : at
  return ok({
    about,
    mine: spell(block.transactions.length, block.transactions[place]?.txid),
    theirs: spell(txids.length, txids[place]),
  })
}

/**
 * The watched logs of both. Logs of failed transactions are no consensus data (7.5): two honest nodes can differ
 * there, so such a difference counts only where a receipt says that the transaction succeeded.
 */
async function compareLogs(
  pool: Pool,
  node: PoolNode,
  reader: PoolNode,
  block: Reading,
  logs: readonly Log[],
): Promise<Result<Testimony | null, Trouble>> {
  const mine = watched(pool, block.logs)
  const theirs = watched(pool, logs)
  const differing = [...new Set([...mine.keys(), ...theirs.keys()])].filter(
    (txid) => mine.get(txid) !== theirs.get(txid),
  )
  if (differing.length === 0) return ok(null)
  if (differing.length <= receiptsMax) {
    const both = await Promise.all([reader, node].map((one) => receiptsFrom(pool, one, differing, block.height)))
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
function watched(pool: Pool, logs: readonly Log[]): ReadonlyMap<Txid, string> {
  const texts = new Map<Txid, string>()
  for (const { txid, position, contract, topics, data } of logs) {
    if (!pool.tokens.has(contract)) continue
    texts.set(txid, `${texts.get(txid) ?? ''}[${position} ${contract} ${topics.join(',')} ${data}]`)
  }
  return texts
}
