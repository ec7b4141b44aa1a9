import type { BlockHash, Txid } from '../chain/block.ts'
import { err, ok, type Result } from '../common/result.ts'
import { isAhead, type UnixMs } from '../common/time.ts'
import { tickRequests } from './allowance.ts'
import {
  blockCall,
  chainIdCall,
  encodeCalls,
  fitsSmallerBatch,
  isTooLarge,
  isUnsupported,
  logsCall,
  oversizeReply,
  parseBatchReply,
  parseResult,
  parseSingleReply,
  type RpcCall,
  type RpcReply,
  receiptCall,
} from './json-rpc.ts'
import * as limits from './limits.ts'
import {
  demoteSlow,
  fieldsOf,
  type NodeService,
  noteTrouble,
  recordFailure,
  recordSuccess,
  type Session,
  type TronNode,
  takesNoBatches,
} from './node.ts'
import { type NodeError, type NodeResult, needed, nodeError } from './node-errors.ts'
import { noteHealth } from './node-health.ts'
import { type BriefBlock, parseBriefBlock } from './parse/block.ts'
import { isObject, parseHash, parseQuantity } from './parse/fields.ts'
import { parseReceipt } from './parse/log.ts'
import { postJson, type ReadReply } from './transport.ts'
import type { NoTurn, Turn } from './turns.ts'

/**
 * Sends one request to a service of a node, within the node's allowance, and records the result in
 * the service's health. If the service was healthy before, a request that fails is tried once more.
 */
async function request<T>(
  session: Session,
  node: TronNode,
  service: NodeService,
  path: string,
  body: string,
  read: ReadReply<T>,
): NodeResult<T> {
  const { pool, deadline, nodeDeadline } = session
  const { clock } = pool
  for (let attempt = 1; ; attempt += 1) {
    const turn = clock.now() < nodeDeadline.until ? await waitForTurn(session, node) : ok({ end: () => {} })
    if (!turn.ok) return turn
    const { failures } = node[service]
    const result = await sendOnce(session, node, service, path, body, read, turn.value)
    if (result.ok) return result
    const { kind } = result.error
    const until = Math.min(nodeDeadline.until, deadline)
    const isPassing = kind === 'unreachable' || kind === 'bad-answer'
    if (!isPassing || failures > 0 || attempt > 1 || clock.now() + limits.retryMs >= until) return result
    session.retried.error = result.error
    await clock.sleep(limits.retryMs)
  }
}

/**
 * Sends one request on the connection of `turn`, which it gives back, and records the result in the
 * service's health.
 */
export async function sendOnce<T>(
  session: Session,
  node: TronNode,
  service: NodeService,
  path: string,
  body: string,
  read: ReadReply<T>,
  turn: Pick<Turn, 'end'>,
): NodeResult<T> {
  const { pool, deadline, nodeDeadline } = session
  const { clock, network, allowance } = pool
  const { endpoint, number } = node
  const { rpc, api } = endpoint
  const target = service === 'rpc' ? rpc : { ...api, url: api.url + path }
  const [startedAt, { rests }] = [clock.now(), node[service]]
  const until = Math.min(nodeDeadline.until, deadline) as UnixMs // safe: the earlier of two times
  const result = blameSlow(session, await postJson(network, target, body, until, read).finally(turn.end))
  const ms = clock.now() - startedAt
  if (ms > limits.slowMs) demoteSlow(node[service], clock.now()) // a slow service is demoted even if its answer is good
  if (result.ok) {
    allowance.noteAnswer(number)
    recordSuccess(node[service], ms, clock.now())
    node.telemetry.answer = { at: clock.now(), ms }
    // tells operators why other nodes are used before this one
    if (ms > limits.slowMs) pool.logger.warn('node-slow', { node: number, service, ms })
    noteTrouble(pool, node)
    pool.remember()
    return result
  }
  if (result.error.kind === 'rate-limited') allowance.slowDown(number)
  recordError(session, node, service, result.error, rests)
  return result
}

/**
 * Turns `out-of-time` into a failure of the node if only the node's share of the time is used up:
 * this piece of work then asks another node.
 */
function blameSlow<T>({ pool, deadline }: Session, result: Result<T, NodeError>): Result<T, NodeError> {
  if (result.ok || result.error.kind !== 'out-of-time' || pool.clock.now() >= deadline) return result
  return nodeError('timed-out', 'no answer in its part of the time')
}

/** Waits until the node may be asked, and takes a connection. */
async function waitForTurn(session: Session, node: TronNode): NodeResult<Turn> {
  const { pool, quota, sent, nodeDeadline } = session
  const { clock } = pool
  const before = sent.get(node.number) ?? 0
  const askedAt = clock.now()
  const turn = await beginTurn(session, () => [node.number])
  nodeDeadline.until += Math.max(clock.now() - askedAt, 0)
  if (turn.ok) return turn
  if (turn.error.kind === 'late') {
    if (quota.kind !== 'caller') {
      // This node takes no batches, so its requests in a second do not suffice for a tick. Demote
      // it: the next tick asks all other nodes before it.
      if (quota.kind === 'tick' && takesNoBatches(node, clock.now()) && before > tickRequests)
        node.rpc.demotedUntil = clock.now() + limits.demotedMs
      return noRoom()
    }
    return limitedBy({ kind: 'limited', whose: 'nodes', seconds: turn.error.seconds })
  }
  if (quota.kind === 'tick' && turn.error.whose === 'nodes') {
    // deposits wait until the node may be asked again, so an operator must know the reason
    const why = 'perDay is used up'
    pool.raiseAlarm('allowance-used-up', { node: node.number }, { ...fieldsOf(node), seconds: turn.error.seconds, why })
  }
  return limitedBy(turn.error)
}

/** Waits until one of these nodes may be asked, and takes a connection. */
export async function beginTurn(
  { pool, quota, deadline, order, sent }: Session,
  numbers: () => readonly number[],
): Promise<Result<Turn, NoTurn>> {
  const count = (number: number) => sent.get(number) ?? 0
  const latest = (deadline - limits.answerMsMin) as UnixMs // safe: an earlier time
  const turn = await pool.turns.begin({ numbers, quota, sent: count, order, deadline: latest })
  if (turn.ok) sent.set(turn.value.number, count(turn.value.number) + 1)
  return turn
}

/** The error of a request for which no node has room before its deadline. */
export const noRoom = () => nodeError('out-of-time', 'its seconds have no room before the deadline')
/** The error of a request that an allowance refuses. */
export const limitedBy = (limit: NonNullable<NodeError['limit']>) =>
  err<NodeError>({ kind: 'limited', detail: `its allowance (${limit.whose})`, limit })

/**
 * Logs the failure of a node's service, and lets the service rest. `restsBefore` is how often it
 * had rested when the failed request began.
 */
export function recordError(
  { pool }: Session,
  node: TronNode,
  service: NodeService,
  error: NodeError,
  restsBefore = node[service].rests,
): void {
  const { kind, detail } = error
  const { clock, logger, raiseAlarm } = pool
  const now = clock.now()
  recordFailure(node, service, error, restsBefore, clock)
  noteTrouble(pool, node)
  if (kind !== 'out-of-time' && kind !== 'limited') node.lastError = { at: now, why: detail }
  if (kind !== 'out-of-time') logger.warn('node-error', { ...fieldsOf(node), service, kind, why: detail })
  if (kind === 'wrong-chain')
    raiseAlarm('node-lies', { node: node.number, why: kind }, { ...fieldsOf(node), why: detail })
  pool.remember()
}

/** Sends one request to the HTTP API of a node. `path` is appended to the URL of that API. */
export function askApi<T>(session: Session, node: TronNode, path: string, body: object, read: ReadReply<T>) {
  return request(session, node, 'api', path, JSON.stringify(body), read)
}

/**
 * Sends calls to one node in batches, and checks the chain id in each batch. If a reply is too
 * large, its batch is halved. If the node takes no batches, each call is sent alone. `read` parses
 * the reply to the call at an index. An error that `read` returns counts as the node's failure.
 */
export async function askRpc<T>(
  session: Session,
  node: TronNode,
  calls: readonly RpcCall[],
  read: (reply: RpcReply, index: number) => Result<T, NodeError>,
  batchMax = limits.batchCallsMax,
): NodeResult<readonly T[]> {
  const { clock } = session.pool
  const values: T[] = []
  const readAt = (reply: RpcReply, i: number): Result<null, NodeError> => {
    const value = read(reply, i)
    if (!value.ok) return value
    values[i] = value.value
    return ok(null)
  }
  const groups = chunksOf([...calls.keys()], batchMax - 1)
  let isChainKnown = false
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const isLimited = isAhead(node.callsMaxUntil, limits.smallBatchesMs, clock.now())
    const callsMax = isLimited ? node.callsMax : batchMax
    const isSingle = callsMax === 1
    if (isSingle && !isChainKnown) {
      const chain = await send(session, node, [], true, () => ok(null))
      if (!chain.ok) return chain
      isChainKnown = true
    }
    const [first = 0] = group
    const sent = group.slice(0, Math.max(callsMax - 1, 1))
    if (sent.length < group.length) groups.unshift(group.slice(sent.length))
    const tooLarge: number[] = []
    const batch = sent.flatMap((i) => calls[i] ?? [])
    const result = await send(session, node, batch, isSingle, (replies) => {
      for (const [at, i] of sent.entries()) {
        const reply = replies[at] ?? oversizeReply
        const value = sent.length > 1 && fitsSmallerBatch(reply) ? null : readAt(reply, i)
        if (value === null) tooLarge.push(i)
        else if (!value.ok) return value
      }
      return ok(null)
    })
    const kind = result.ok ? null : result.error.kind
    if (kind === 'batch-refused' && !isSingle) {
      node.callsMax = sent.length > 1 ? Math.ceil(sent.length / 2) + 1 : 1
      node.callsMaxUntil = clock.now() + limits.smallBatchesMs
      groups.unshift(sent)
    } else if (kind === 'too-large' && sent.length === 1) {
      const value = readAt(oversizeReply, first)
      if (!value.ok) return value
    } else if (!result.ok && kind !== 'too-large') return result
    else groups.unshift(...chunksOf(result.ok ? tooLarge : sent, Math.ceil(sent.length / 2)))
  }
  return ok(values)
}

function chunksOf(items: readonly number[], length: number): number[][] {
  const chunks: number[][] = []
  for (let i = 0; i < items.length; i += length) chunks.push(items.slice(i, i + length))
  return chunks
}

/** Sends one call to one node, as `askRpc` does. */
export async function askOne<T>(
  session: Session,
  node: TronNode,
  call: RpcCall,
  read: (reply: RpcReply) => Result<T, NodeError>,
): NodeResult<T> {
  const result = await askRpc(session, node, [call], read)
  return result.ok ? ok(result.value[0] as T) : result // one call has one value
}

/** Sends one request: a batch that begins with the chain id, or a single call. */
function send(
  session: Session,
  node: TronNode,
  calls: readonly RpcCall[],
  isSingle: boolean,
  read: (replies: readonly RpcReply[]) => Result<null, NodeError>,
): NodeResult<null> {
  const { pool } = session
  const hasChain = !isSingle || calls.length === 0
  const all = hasChain ? [chainIdCall, ...calls] : calls
  pool.lastId += 100 // no request uses the ids of an earlier one, so a proxy's stored reply to that one never matches
  const firstId = pool.lastId
  return request(session, node, 'rpc', '', encodeCalls(all, firstId, isSingle), (value) => {
    const single = isSingle ? parseSingleReply(value, firstId) : null
    const replies =
      single === null ? parseBatchReply(value, firstId, all.length) : single.ok ? ok([single.value]) : single
    if (!replies.ok) return replies
    const [first, ...others] = replies.value
    const chain = hasChain ? checkChain(pool.chainId, first) : ok(null)
    return chain.ok ? read(hasChain ? others : replies.value) : chain
  })
}

function checkChain(expected: bigint, reply: RpcReply | undefined): Result<null, NodeError> {
  if (reply?.kind === 'error') return err({ ...reply.error, detail: `chain id: ${reply.error.detail}` })
  const chainId = parseQuantity(reply?.value)
  if (chainId === null) return nodeError('bad-answer', 'no chain id')
  return chainId === expected ? ok(null) : nodeError('wrong-chain', `another chain: chain id 0x${chainId.toString(16)}`)
}

/**
 * Hashes of block 0 by chain id. A node of another chain can be configured with this chain id, but
 * has another block 0 (PROTOCOL.md, Chain identity). Of the block 0 of all other chains only the
 * last 4 bytes of the hash are known, because they are the chain id.
 */
export const genesisHashes: ReadonlyMap<bigint, string> = new Map([
  [0x2b6653dcn, '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
  [0xcd8690dcn, '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
])

const noLogs = 'it gives no logs of a block'
/**
 * `why` of an unfit node without transaction history: it answers `[]` in place of logs
 * (PROTOCOL.md, Log queries).
 */
const noHistory = 'it has no transaction history (storage.transHistory.switch)'

/**
 * Fails if a node must not be used for money. A node is probed on first use, after failures, and
 * every `probedMs`.
 */
export async function requireFit(session: Session, node: TronNode): NodeResult<null> {
  const { pool } = session
  const now = pool.clock.now()
  if (node.unfit !== null && isAhead(node.unfit.until, limits.unfitMs, now)) return nodeError('unfit', node.unfit.why)
  if (isAhead(node.probedUntil, limits.probedMs, now)) return ok(null)
  const isMine = node.probing === null
  node.probing ??= probe(session, node).finally(() => {
    node.probing = null
  })
  const result = await node.probing
  // Another piece of work began the probe and has run out of its own time or allowance. This one
  // still has both, so it probes again.
  const isCut = !result.ok && (result.error.kind === 'out-of-time' || result.error.kind === 'limited')
  if (isCut && !isMine) return requireFit(session, node)
  if (!result.ok) return result
  node.unfit = null
  node.probedUntil = pool.clock.now() + limits.probedMs
  noteTrouble(pool, node)
  pool.remember()
  return result
}

/**
 * Stops using a node for `unfitMs`, and raises an alarm with the cause, so that an operator can act
 * on it.
 */
export function recordUnfit({ pool }: Session, node: TronNode, why: string): void {
  const now = pool.clock.now()
  // unfit already, so the alarm was raised before
  if (node.unfit !== null && isAhead(node.unfit.until, limits.unfitMs, now)) return
  node.probedUntil = 0
  node.unfit = { why, until: now + limits.unfitMs }
  node.lastError = { at: now, why }
  noteTrouble(pool, node)
  pool.remember()
  pool.raiseAlarm('node-unfit', { node: node.number }, { ...fieldsOf(node), why })
}

async function probe(session: Session, node: TronNode): NodeResult<null> {
  const { logger } = session.pool
  const result = await askRpc(session, node, [blockCall(0), blockCall('finalized')], (reply, i) =>
    i === 0 ? parseGenesis(reply, session.pool.chainId) : parseFinalized(reply),
  )
  const first = needed(result)
  if (!first.ok) {
    noteHealth(session, node, 'heads', first.error)
    return first
  }
  const head = first.value[1]
  if (head === undefined) throw new Error('two replies to two calls')
  const history = await requireHistory(session, node, head)
  if (history.ok) logger.info('node-probed', { ...fieldsOf(node), finalized: head.height })
  return history
}

/**
 * Parses the reply with block 0. If the block has another hash than the configured chain's, the
 * error says that the node is of another chain.
 */
function parseGenesis(reply: RpcReply, chainId: bigint): Result<BriefBlock, NodeError> {
  const genesis = parseResult(reply, 'block 0', parseBriefBlock)
  if (!genesis.ok) return genesis
  const expected = genesisHashes.get(chainId) ?? chainId.toString(16).padStart(8, '0')
  if (genesis.value.height !== 0) return nodeError('bad-answer', 'another block in place of block 0')
  if (genesis.value.hash.endsWith(expected)) return genesis
  return nodeError('wrong-chain', `another chain: block 0 is ${genesis.value.hash}`)
}

/**
 * Parses the reply with the block `finalized`. A node that does not support this tag is `unfit`
 * (PROTOCOL.md, Block tags).
 */
export function parseFinalized(reply: RpcReply | undefined): Result<BriefBlock, NodeError> {
  const isUnknown = reply !== undefined && isUnsupported(reply)
  if (isUnknown) return nodeError('unfit', 'it has no tag finalized (java-tron 4.8.0)')
  return parseResult(reply, 'finalized head', parseBriefBlock)
}

/**
 * Fails if the node lacks history: for this block's transactions it must have receipts, and as many
 * logs as these count. An empty block proves nothing.
 */
async function requireHistory(session: Session, node: TronNode, block: BriefBlock): NodeResult<null> {
  const txids = block.txids.slice(0, limits.probeReceiptsMax)
  if (txids.length === 0) return ok(null)
  const calls = [logsCall(block.hash), ...txids.map(receiptCall)]
  /**
   * The txids of the logs; null if there are too many logs for one reply, so that they cannot be
   * compared. Logs are read before receipts.
   */
  let shown: readonly (string | null)[] | null = null
  const read = await askRpc(session, node, calls, (reply, i) => {
    const txid = txids[i - 1]
    if (txid !== undefined) return countLogs(reply, txid, block.hash)
    if (isTooLarge(reply)) return ok(0)
    if (reply.kind === 'error') {
      return isUnsupported(reply) ? nodeError('unfit', `${noLogs}: ${reply.error.detail}`) : err(reply.error)
    }
    if (!Array.isArray(reply.value)) return nodeError('unfit', noLogs)
    shown = reply.value.map((log: unknown) => (isObject(log) ? parseHash(log.transactionHash) : null))
    return ok(shown.length)
  })
  if (!read.ok) return read
  const [, ...counts] = read.value
  const isWhole = txids.every((txid, i) => shown === null || shown.filter((one) => one === txid).length === counts[i])
  return isWhole ? ok(null) : nodeError('unfit', noHistory)
}

/** The number of logs in a receipt of this block. */
function countLogs(reply: RpcReply, txid: Txid, hash: BlockHash): Result<number, NodeError> {
  if (reply.kind === 'result' && reply.value === null) return nodeError('unfit', noHistory)
  const receipt = parseResult(reply, 'a receipt', (value) => parseReceipt(value, txid, hash))
  return receipt.ok ? ok(receipt.value.logs.length) : receipt
}
