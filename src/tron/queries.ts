import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../addresses/address.ts'
import {
  type BlockHash,
  type BlockHeight,
  type BlockRef,
  heightInHash,
  type Receipt,
  type Txid,
} from '../chain/block.ts'
import type { ChainResult, TransactionBytes, TransactionLocation } from '../chain/chain.ts'
import { balancesMax, receiptsMax } from '../chain/limits.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Asset } from '../ledger/asset.ts'
import { parseResult, readNodeReceipts } from './calls.ts'
import { batchCallsMax } from './limits.ts'
import { createNodeSelector, firstAnswer } from './nodes/failover.ts'
import { type NodeError, nodeError } from './nodes/node-error.ts'
import { type Parsed, parseSun, parseTransaction, parseUint256 } from './parse/block.ts'
import { parseHash, parseSafeInteger, rawDataSchema } from './parse/fields.ts'
import { agreeByQuorum, collectVotes } from './quorum/agreement.ts'
import { type NodePool, queryNode, type TronNode } from './transport/batch.ts'
import { isObject, postJson } from './transport/http.ts'
import type { RpcCall } from './transport/json-rpc.ts'

/** What `receipts` is asked about. */
type Asked = readonly { readonly txid: Txid; readonly block: BlockRef }[]

/** Receipts on whose block, status and logs `quorum` nodes agree. */
export async function readReceipts(pool: NodePool, asked: Asked): ChainResult<ReadonlyMap<Txid, Receipt>> {
  if (asked.length === 0) return ok(new Map())
  if (asked.length > receiptsMax) return err({ kind: 'no-answer', why: `${asked.length} receipts at once` })
  const txids = asked.map(({ txid }) => txid)
  const height = Math.max(...asked.map(({ block }) => block.height)) as BlockHeight // safe: one of these heights
  const [one] = txids
  const about = txids.length === 1 ? `receipt ${one}` : `${txids.length} receipts from ${one}`
  const turns = createNodeSelector(pool, 'money')
  const agreed = await agreeByQuorum(
    pool,
    turns,
    about,
    (node) => readNodeReceipts(pool, node, txids, height),
    spellReceipts,
  )
  if (!agreed.ok) return agreed
  const stray = asked.find(({ txid, block }) => agreed.value.get(txid)?.block.hash !== block.hash)
  return stray === undefined ? agreed : err({ kind: 'disagreement', about: `the block of ${stray.txid}` })
}

/** A line for each receipt. Logs of failed transactions are no consensus data (7.5), so they are left out. */
function spellReceipts(all: ReadonlyMap<Txid, Receipt>): string {
  const spell = ({ txid, block, succeeded, logs }: Receipt) => {
    if (!succeeded) return `${txid} failed in ${block.hash}`
    const text = logs.map(({ contract, topics, data }) => `${contract} ${topics.join(',')} ${data}`).join('\n')
    const digest = bytesToHex(sha256(utf8ToBytes(text)))
    return `${txid} succeeded in ${block.hash} with ${logs.length} logs ${digest}`
  }
  return [...all.values()].map(spell).join('\n')
}

/** `decimals()` of a contract, as `quorum` nodes say it. */
export async function readTokenDecimals(pool: NodePool, contract: Address): ChainResult<number> {
  const read = (value: unknown): Parsed<number> => {
    const number = parseUint256(value)
    if (!number.ok) return number
    return number.value > 255n ? err('more than a uint8') : ok(Number(number.value))
  }
  const question = async (node: TronNode): Promise<Result<number, NodeError>> => {
    const heard = await queryNode(pool, node, 'chain', [contractCall(contract, '0x313ce567')])
    return heard.ok ? parseResult(heard.value.replies[0], 'decimals', read) : heard
  }
  return agreeByQuorum(pool, createNodeSelector(pool, 'money'), `decimals of ${contract}`, question, String)
}

/** `to` and `data` alone: nodes before 4.8.2 refuse any other field (section 4). State is read at `latest` only (2.2). */
function contractCall(to: Address, data: string): RpcCall {
  return { method: 'eth_call', params: [{ to: `0x${to}`, data }, 'latest'] }
}

/** What addresses hold by one node's newest view. */
export async function readBalances(
  pool: NodePool,
  addresses: readonly Address[],
  asset: Asset,
): ChainResult<readonly bigint[]> {
  if (addresses.length === 0) return ok([])
  if (addresses.length > balancesMax) return err({ kind: 'no-answer', why: `${addresses.length} balances at once` })
  const calls = addresses.map((address): RpcCall => {
    if (asset.kind === 'trc20') return contractCall(asset.contract, `0x70a08231${address.padStart(64, '0')}`)
    return { method: 'eth_getBalance', params: [`0x${address}`, 'latest'] }
  })
  const read = asset.kind === 'native' ? parseSun : parseUint256
  const answer = await firstAnswer(
    createNodeSelector(pool, 'word'),
    async (node): Promise<Result<readonly bigint[], NodeError>> => {
      // The one batch of more than 20 calls: the contract wants 20 addresses in one request, and the chain id comes with
      // them. No probe either: the chain id is in the batch, and what one node shows as a balance is news, never money.
      const heard = await queryNode(pool, node, 'chain', calls, batchCallsMax + 1)
      if (!heard.ok) return heard
      const units: bigint[] = []
      for (const reply of heard.value.replies) {
        const one = parseResult(reply, 'a balance', read)
        if (!one.ok) return one
        units.push(one.value)
      }
      return ok(units)
    },
  )
  return answer.ok ? ok(answer.value.value) : answer
}

/**
 * Where a transaction is: in the block that most nodes name, of `quorum` that know it in one. Not an agreement: what
 * is credited is read from that block again, with all checks.
 */
export async function locateTransaction(pool: NodePool, txid: Txid): ChainResult<TransactionLocation> {
  const turns = createNodeSelector(pool, 'chain')
  const voices = await collectVotes(
    turns,
    (node) => locateAt(pool, node, txid),
    (heard) => pool.quorum - mostNamed(heard.map(({ value }) => value)).length,
  )
  const kinds = voices.map(({ value }) => value)
  const found = mostNamed(kinds)[0] ?? kinds.find(({ kind }) => kind === 'unmined')
  if (found !== undefined) return ok(found)
  const everyone = voices.length >= pool.quorum && !turns.failed()
  return everyone ? ok({ kind: 'unknown' }) : err(turns.failure())
}

/** The largest group of answers that name one block. */
function mostNamed(answers: readonly TransactionLocation[]): readonly TransactionLocation[] {
  const hashOf = (answer: TransactionLocation) => (answer.kind === 'mined' ? answer.block.hash : null)
  const groups = answers
    .map(hashOf)
    .filter((hash) => hash !== null)
    .map((hash) => answers.filter((answer) => hashOf(answer) === hash))
  return groups.reduce<readonly TransactionLocation[]>((best, group) => (group.length > best.length ? group : best), [])
}

async function locateAt(pool: NodePool, node: TronNode, txid: Txid): Promise<Result<TransactionLocation, NodeError>> {
  const heard = await queryNode(pool, node, 'chain', [{ method: 'eth_getTransactionByHash', params: [`0x${txid}`] }])
  if (!heard.ok) return heard
  const [reply] = heard.value.replies
  if (reply?.kind === 'result' && reply.value === null) return ok({ kind: 'unknown' })
  return parseResult(reply, 'a transaction', (value): Parsed<TransactionLocation> => {
    const transaction = isObject(value) ? parseTransaction(value) : null
    if (!isObject(value) || transaction?.txid !== txid) return err('not the transaction that was asked for')
    if (value.blockHash === '0x' && value.blockNumber === '0x') return ok({ kind: 'unmined' })
    const hash = parseHash(value.blockHash) as BlockHash | null // safe: 32 bytes
    const height = parseSafeInteger(value.blockNumber) as BlockHeight | null // safe: a small quantity
    if (hash === null || height === null || heightInHash(hash) !== height) return err('a malformed block reference')
    return ok({ kind: 'mined', block: { height, hash }, transaction })
  })
}

/**
 * A transaction's bytes from any node with an HTTP API. They prove themselves by their SHA-256, so the rest of the
 * answer and the node's standing do not matter. `{}` is a node that does not have it.
 */
export async function readTransactionBytes(pool: NodePool, txid: Txid): ChainResult<TransactionBytes | null> {
  const nodes = pool.nodes.filter(({ endpoint }) => endpoint.api !== null)
  if (nodes.length === 0) return ok(null)
  const answer = await firstAnswer(
    createNodeSelector(pool, 'api', nodes),
    async ({ endpoint }): Promise<Result<TransactionBytes, NodeError>> => {
      const target = { url: `${endpoint.api}/wallet/gettransactionbyid`, key: endpoint.key }
      const answered = await postJson(pool.budget, target, JSON.stringify({ value: txid }))
      if (!answered.ok) return answered
      if (isObject(answered.value) && Object.keys(answered.value).length === 0) {
        return err(nodeError('behind', 'the API does not have the transaction'))
      }
      const wire = rawDataSchema.safeParse(answered.value)
      if (!wire.success) return err(nodeError('bad-answer', 'no raw_data_hex'))
      const bytes = hexToBytes(wire.data.raw_data_hex)
      return bytesToHex(sha256(bytes)) === txid
        ? ok(bytes)
        : err(nodeError('bad-answer', 'bytes of another transaction'))
    },
  )
  return answer.ok ? ok(answer.value.value) : answer
}
