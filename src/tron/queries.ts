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
import { balancesMax, batchCallsMax, receiptsMax } from '../scan/limits.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Answer, Located, RawData } from '../chain/chain.ts'
import { agree, collect } from './quorum/agreement.ts'
import { parsed, receiptsFrom } from './calls.ts'
import type { Call } from './transport/json-rpc.ts'
import { ask, type Pool, type PoolNode } from './transport/batch.ts'
import { type Read, readBalance, readNumber, readTransaction } from './parse/block.ts'
import { isObject, post } from './transport/http.ts'
import { type Trouble, trouble } from './nodes/node-error.ts'
import { createTurns, first } from './nodes/failover.ts'
import { parse32, parseSmall, rawDataWire } from './parse/fields.ts'

/** What `receipts` is asked about. */
type Asked = readonly { readonly txid: Txid; readonly block: BlockRef }[]

/** Receipts on whose block, status and logs `quorum` nodes agree. */
export async function receipts(pool: Pool, asked: Asked): Answer<ReadonlyMap<Txid, Receipt>> {
  if (asked.length === 0) return ok(new Map())
  if (asked.length > receiptsMax) return err({ kind: 'no-answer', why: `${asked.length} receipts at once` })
  const txids = asked.map(({ txid }) => txid)
  const height = Math.max(...asked.map(({ block }) => block.height)) as BlockHeight // safe: one of these heights
  const [one] = txids
  const about = txids.length === 1 ? `receipt ${one}` : `${txids.length} receipts from ${one}`
  const turns = createTurns(pool, 'money')
  const agreed = await agree(pool, turns, about, (node) => receiptsFrom(pool, node, txids, height), spellReceipts)
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
export async function decimals(pool: Pool, contract: Address): Answer<number> {
  const read = (value: unknown): Read<number> => {
    const number = readNumber(value)
    if (!number.ok) return number
    return number.value > 255n ? err('more than a uint8') : ok(Number(number.value))
  }
  const question = async (node: PoolNode): Promise<Result<number, Trouble>> => {
    const heard = await ask(pool, node, 'chain', [contractCall(contract, '0x313ce567')])
    return heard.ok ? parsed(heard.value.replies[0], 'decimals', read) : heard
  }
  return agree(pool, createTurns(pool, 'money'), `decimals of ${contract}`, question, String)
}

/** `to` and `data` alone: nodes before 4.8.2 refuse any other field (section 4). State is read at `latest` only (2.2). */
function contractCall(to: Address, data: string): Call {
  return { method: 'eth_call', params: [{ to: `0x${to}`, data }, 'latest'] }
}

/** What addresses hold by one node's newest view. */
export async function balances(
  pool: Pool,
  addresses: readonly Address[],
  contract: Address | null,
): Answer<readonly bigint[]> {
  if (addresses.length === 0) return ok([])
  if (addresses.length > balancesMax) return err({ kind: 'no-answer', why: `${addresses.length} balances at once` })
  const calls = addresses.map((address): Call => {
    if (contract !== null) return contractCall(contract, `0x70a08231${address.padStart(64, '0')}`)
    return { method: 'eth_getBalance', params: [`0x${address}`, 'latest'] }
  })
  const read = contract === null ? readBalance : readNumber
  const answer = await first(createTurns(pool, 'word'), async (node): Promise<Result<readonly bigint[], Trouble>> => {
    // The one batch of more than 20 calls: the contract wants 20 addresses in one request, and the chain id comes with
    // them. No probe either: the chain id is in the batch, and what one node shows as a balance is news, never money.
    const heard = await ask(pool, node, 'chain', calls, batchCallsMax + 1)
    if (!heard.ok) return heard
    const units: bigint[] = []
    for (const reply of heard.value.replies) {
      const one = parsed(reply, 'a balance', read)
      if (!one.ok) return one
      units.push(one.value)
    }
    return ok(units)
  })
  return answer.ok ? ok(answer.value.value) : answer
}

/**
 * Where a transaction is: in the block that most nodes name, of `quorum` that know it in one. Not an agreement: what
 * is credited is read from that block again, with all checks.
 */
export async function locate(pool: Pool, txid: Txid): Answer<Located> {
  const turns = createTurns(pool, 'chain')
  const voices = await collect(
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
function mostNamed(answers: readonly Located[]): readonly Located[] {
  const hashOf = (answer: Located) => (answer.kind === 'mined' ? answer.block.hash : null)
  const groups = answers
    .map(hashOf)
    .filter((hash) => hash !== null)
    .map((hash) => answers.filter((answer) => hashOf(answer) === hash))
  return groups.reduce<readonly Located[]>((best, group) => (group.length > best.length ? group : best), [])
}

async function locateAt(pool: Pool, node: PoolNode, txid: Txid): Promise<Result<Located, Trouble>> {
  const heard = await ask(pool, node, 'chain', [{ method: 'eth_getTransactionByHash', params: [`0x${txid}`] }])
  if (!heard.ok) return heard
  const [reply] = heard.value.replies
  if (reply?.kind === 'result' && reply.value === null) return ok({ kind: 'unknown' })
  return parsed(reply, 'a transaction', (value): Read<Located> => {
    const transaction = isObject(value) ? readTransaction(value) : null
    if (!isObject(value) || transaction?.txid !== txid) return err('not the transaction that was asked for')
    if (value.blockHash === '0x' && value.blockNumber === '0x') return ok({ kind: 'unmined' })
    const hash = parse32(value.blockHash) as BlockHash | null // safe: 32 bytes
    const height = parseSmall(value.blockNumber) as BlockHeight | null // safe: a small quantity
    if (hash === null || height === null || heightInHash(hash) !== height) return err('a malformed block reference')
    return ok({ kind: 'mined', block: { height, hash }, transaction })
  })
}

/**
 * A transaction's bytes from any node with an HTTP API. They prove themselves by their SHA-256, so the rest of the
 * answer and the node's standing do not matter. `{}` is a node that does not have it.
 */
export async function rawData(pool: Pool, txid: Txid): Answer<RawData | null> {
  const nodes = pool.nodes.filter(({ endpoint }) => endpoint.api !== null)
  if (nodes.length === 0) return ok(null)
  const answer = await first(
    createTurns(pool, 'api', nodes),
    async ({ endpoint }): Promise<Result<RawData, Trouble>> => {
      const target = { url: `${endpoint.api}/wallet/gettransactionbyid`, key: endpoint.key }
      const answered = await post(pool.line, target, JSON.stringify({ value: txid }))
      if (!answered.ok) return answered
      if (isObject(answered.value) && Object.keys(answered.value).length === 0) {
        return err(trouble('behind', 'the API does not have the transaction'))
      }
      const wire = rawDataWire.safeParse(answered.value)
      if (!wire.success) return err(trouble('bad-answer', 'no raw_data_hex'))
      const bytes = hexToBytes(wire.data.raw_data_hex)
      return bytesToHex(sha256(bytes)) === txid ? ok(bytes) : err(trouble('bad-answer', 'bytes of another transaction'))
    },
  )
  return answer.ok ? ok(answer.value.value) : answer
}
