import { ok, type Result } from '../common/result.ts'
import { askRpc, recordError } from './ask.ts'
import { blockCall, isTooLarge, isUnsupported, logsCall, parseResult, type RpcReply, receiptCall } from './json-rpc.ts'
import { probeReceiptsMax, unfitMs } from './limits.ts'
import type { Session, TronNode } from './node.ts'
import { type NodeError, type NodeResult, nodeError } from './node-error.ts'
import { type BriefBlock, parseBriefBlock } from './parse/header.ts'
import { parseReceipt } from './parse/receipt.ts'

/**
 * Hashes of block 0 by chain id. A chain id can be imitated, a hash cannot (PROTOCOL.md, Chain identity). Of other chains
 * only the last 4 bytes of the hash are known: they are the chain id.
 */
export const genesisHashes: ReadonlyMap<bigint, string> = new Map([
  [0x2b6653dcn, '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
  [0xcd8690dcn, '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
])

/** Fails where a node may not be used for money. A node is probed when it is first used, and after failures. */
export async function requireFit(session: Session, node: TronNode): NodeResult<null> {
  const { clock } = session.pool
  if (node.unfit !== null && clock.now() < node.unfit.until) return nodeError('unfit', node.unfit.why)
  if (node.isProbed) return ok(null)
  node.probing ??= probe(session, node).finally(() => {
    node.probing = null
  })
  const result = await node.probing
  if (result.ok) node.isProbed = true
  else if (result.error.kind === 'unfit') recordUnfit(session, node, result.error.detail)
  return result
}

/** Leaves a node alone for a while and reports why, so that an operator can act on the cause. */
export function recordUnfit({ pool }: Session, node: TronNode, why: string): void {
  node.isProbed = false
  node.unfit = { why, until: pool.clock.now() + unfitMs }
  pool.report('node-unfit', `node ${node.number}`, { node: node.number, why })
}

/** Why a node without transaction history is unfit: its logs are `[]` (PROTOCOL.md, Log queries). */
export const noHistory = 'it has no transaction history (storage.transHistory.switch)'

async function probe(session: Session, node: TronNode): NodeResult<null> {
  const { chainId, logger } = session.pool
  const result = await askRpc(session, node, [blockCall(0), blockCall('finalized')], (reply) => ok(reply))
  if (!result.ok) return result
  const genesis = parseResult(result.value[0], 'block 0', parseBriefBlock)
  if (!genesis.ok) return genesis
  const expected = genesisHashes.get(chainId) ?? chainId.toString(16).padStart(8, '0')
  if (genesis.value.height !== 0) return nodeError('bad-answer', 'another block in place of block 0')
  if (!genesis.value.hash.endsWith(expected)) {
    const wrong = nodeError('wrong-chain', `block 0 is ${genesis.value.hash}`)
    recordError(session, node, 'rpc', wrong.error)
    return wrong
  }
  const head = parseFinalized(result.value[1])
  if (!head.ok) return head
  const history = await requireHistory(session, node, head.value)
  if (history.ok) logger.info('node-probed', { node: node.number, finalized: head.value.height })
  return history
}

/** The finalized head in a reply. A node that does not support the tag is `unfit` (PROTOCOL.md, Block tags). */
export function parseFinalized(reply: RpcReply | undefined): Result<BriefBlock, NodeError> {
  if (reply !== undefined && isUnsupported(reply))
    return nodeError('unfit', 'it has no tag finalized (java-tron 4.8.0)')
  return parseResult(reply, 'finalized head', parseBriefBlock)
}

/** A block with transactions has receipts, and as many logs as they do. An empty block shows nothing. */
async function requireHistory(session: Session, node: TronNode, block: BriefBlock): NodeResult<null> {
  const txids = block.txids.slice(0, probeReceiptsMax)
  if (txids.length === 0) return ok(null)
  const result = await askRpc(session, node, [logsCall(block.hash), ...txids.map(receiptCall)], (reply) => ok(reply))
  if (!result.ok) return result
  const [logs, ...receipts] = result.value
  if (receipts.some((reply) => reply.kind === 'result' && reply.value === null)) return nodeError('unfit', noHistory)
  if (isTooLarge(logs)) return ok(null) // a full block shows nothing either
  if (logs?.kind !== 'result' || !Array.isArray(logs.value)) return nodeError('unfit', 'it gives no logs of a block')
  const shown = logs.value.map((log: { transactionHash?: unknown } | null) => log?.transactionHash)
  for (const [i, txid] of txids.entries()) {
    const receipt = parseResult(receipts[i], 'a receipt', (value) => parseReceipt(value, txid, block))
    if (!receipt.ok) return receipt
    const count = shown.filter((name) => name === `0x${txid}`).length
    if (count !== receipt.value.logs.length) return nodeError('unfit', noHistory)
  }
  return ok(null)
}
