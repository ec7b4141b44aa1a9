import type { BlockHeight, Txid } from '../chain/block.ts'
import { ok } from '../common/result.ts'
import { dayMs, isAhead } from '../common/time.ts'
import { tickRequests } from './allowance.ts'
import { askOne, recordUnfit, requireFit } from './ask.ts'
import { readHead, type StoredHead } from './finalized-head.ts'
import { peersCall, receiptCall } from './json-rpc.ts'
import { checkMs, checkPart } from './limits.ts'
import { type Session, standingOf, type TronNode, withDeadline } from './node.ts'
import { isCall, readNodeBlocks, readReceipt } from './node-blocks.ts'
import type { NodeError, NodeResult } from './node-errors.ts'
import { forgetFailures, noteHealth } from './node-health.ts'
import { parseQuantity } from './parse/fields.ts'
import { type NodeHead, watchHeads } from './watch-nodes.ts'

/**
 * Heads that are older than this are not compared with those that a check has read. The chain makes
 * 5 blocks in that time.
 */
const recentMs = 15_000

/**
 * Asks each node that has given no block for a minute what a scan needs, so that operators know
 * about each node, also about those that the scan does without. The answers count as those to the
 * scan.
 */
export async function checkNodes(session: Session, stored: NonNullable<StoredHead>): Promise<void> {
  const { pool } = session
  await pool.ready
  const now = pool.clock.now()
  const due = pool.nodes.filter((node) => isDue(node, now))
  if (due.length === 0) return
  for (const node of due) node.givenAt = now
  const errors = new Map<TronNode, NodeError>()
  const check = async (node: TronNode) => {
    const head = await checkNode(session, node, stored)
    if (!head.ok) errors.set(node, head.error)
  }
  await Promise.all(due.map(check))
  const answers = pool.nodes.flatMap((node) => {
    const { head } = node.telemetry
    return head !== null && head.at > now - recentMs ? [{ node, value: head }] : []
  })
  watchHeads(session, { answers, errors })
}

/**
 * Whether a node is to be checked. A node that refuses requests for a while is left alone, and one
 * with a small allowance is checked less often.
 */
function isDue({ rpc, api, givenAt, endpoint: { perDay } }: TronNode, now: number): boolean {
  if ([rpc, api].some((service) => standingOf(service, now) === 'blocked')) return false
  const ms = Math.max(checkMs, (dayMs * tickRequests) / (perDay * checkPart))
  return !isAhead(givenAt + ms, ms, now)
}

/**
 * Asks a node the questions of a scan, up to the first that it does not answer, and returns its
 * head. A probe asks for logs and receipts at once, so its failure names neither.
 */
async function checkNode(session: Session, node: TronNode, stored: NonNullable<StoredHead>): NodeResult<NodeHead> {
  const fit = await requireFit(withDeadline(session), node)
  if (!fit.ok && fit.error.kind === 'unfit') recordUnfit(session, node, fit.error.detail)
  if (!fit.ok && (fit.error.kind === 'unfit' || fit.error.kind === 'wrong-chain')) return fit
  const own = withDeadline(session)
  await checkPeers(own, node)
  const head = await readHead(own, node, stored)
  if (!head.ok) return head
  node.telemetry.head = head.value
  const height = Math.min(head.value.height, stored.height) as BlockHeight // safe: one of the two
  const blocks = await readNodeBlocks(own, node, height, 1)
  if (!blocks.ok && blocks.error.kind === 'no-receipt') noteHealth(own, node, 'receipts', blocks.error)
  if (blocks.ok) await checkReceipt(own, node, blocks.value[0]?.transactions.find(isCall)?.txid)
  return head
}

/**
 * Asks a node for the receipt of the newest block's call. Without one, a node in trouble is asked
 * again for the receipt that it was asked for last: blocks without calls must not keep the alarm
 * of a node that is well. It may lack that one for ever, so its lack is no further failure.
 */
async function checkReceipt(session: Session, node: TronNode, newest: Txid | undefined): Promise<void> {
  const txid = newest ?? (node.health.receipts.since === null ? null : node.receiptAsked)
  if (txid === null) return
  node.receiptAsked = txid
  const receipt = await askOne(session, node, receiptCall(txid), (reply) => readReceipt(reply, txid, null))
  const isOldLack = !receipt.ok && receipt.error.kind === 'no-receipt' && newest === undefined
  if (!isOldLack) noteHealth(session, node, 'receipts', receipt.ok ? null : receipt.error)
}

/**
 * Asks a node that is behind, or has said that it has no peers, whether it has any. Some providers
 * do not answer that.
 */
async function checkPeers(session: Session, node: TronNode): Promise<void> {
  if (node.behindSince === null && !node.lacksPeers) return
  const peers = await readPeers(session, node)
  if (peers === null) return
  if (node.lacksPeers && peers > 0n) forgetFailures(node.health.broadcasting)
  node.lacksPeers = peers === 0n
}

/** How many peers a node says that it has; null if it does not say so. */
export async function readPeers(session: Session, node: TronNode): Promise<bigint | null> {
  const peers = await askOne(session, node, peersCall, (reply) =>
    ok(reply.kind === 'result' ? parseQuantity(reply.value) : null),
  )
  return peers.ok ? peers.value : null
}
