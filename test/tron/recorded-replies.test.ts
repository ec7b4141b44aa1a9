import { bytesToHex } from '@noble/hashes/utils.js'
import { describe, expect, it } from 'vitest'
import type { Txid } from '../../src/chain/block.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createRequestBudget, postJson } from '../../src/tron/transport/http.ts'
import { isTooLarge, isUnsupported, parseBatchReply, parseSingleReply } from '../../src/tron/transport/json-rpc.ts'
import noFinalized from '../recordings/documented/finalized-before-4.8.0.json' with { type: 'json' }
import ipLimit from '../recordings/documented/rate-limit-of-trongrid-ip.json' with { type: 'json' }
import keyLimit from '../recordings/documented/rate-limit-of-trongrid-key.json' with { type: 'json' }
import { outcomeOf, type RecordedCall, recording, recordingNames } from '../recordings/recordings.ts'
import { createHarness } from './harness.ts'

/** What the service makes of a recorded HTTP response: JSON, or the kind of node error. */
async function received({ status = 200, response, responseText }: RecordedCall): Promise<string> {
  const clock = { now: () => 0 as UnixMs, sleep: () => new Promise<void>(() => {}), random: () => 0 }
  const fetch = async () => new Response(responseText ?? JSON.stringify(response), { status })
  const budget = createRequestBudget({ fetch, clock, deadline: 1_000 as UnixMs, requestsMax: 1 }, true)
  const reply = await postJson(budget, { url: 'https://node.test/jsonrpc', key: null }, '', { left: 1, slowestMs: 0 })
  return reply.ok ? 'JSON' : reply.error.kind
}

describe('a recorded error', () => {
  type Meaning = 'unsupported' | 'too large' | 'failed' | 'result'
  const expected: Readonly<Record<string, readonly (readonly [string, ReturnType<typeof outcomeOf>, Meaning])[]>> = {
    'errors/methods-refused': [
      ['an unknown method', -32601, 'unsupported'],
      ['a method that no node supports', -32601, 'unsupported'],
      ['a method that the PBFT port does not have', -32601, 'unsupported'],
      ['a request without a method', -32601, 'unsupported'],
      ['the client version on JDK 17', -32001, 'failed'],
    ],
    'errors/parameters-refused': [
      ['too few parameters', -32602, 'unsupported'],
      ['a hash of 2 bytes', -32602, 'unsupported'],
      ['a hash that is not hex', -32602, 'unsupported'],
      ['an object as a tag', -32700, 'unsupported'],
      ['an object as a height', -32700, 'unsupported'],
      ['a height that does not exist', -32000, 'failed'],
      ['an unknown field of a log query', -32700, 'unsupported'],
    ],
    'errors/tags-refused': [
      ['pending for a block', -32602, 'unsupported'],
      ['safe for a block', -32602, 'unsupported'],
      ['0x for a block', -32602, 'unsupported'],
      ['0xzz for a block', -32602, 'unsupported'],
      ['finalized for a balance', -32602, 'unsupported'],
      ['a height for a balance', -32602, 'unsupported'],
      ['safe for a contract call', -32602, 'unsupported'],
      ['pending for logs', -32602, 'unsupported'],
      ['safe for logs', -32602, 'unsupported'],
      ['0xzz for logs', -32001, 'failed'],
    ],
    'errors/log-queries-refused': [
      ['an address of 2 bytes', -32602, 'unsupported'],
      ['an address of 21 bytes', -32602, 'unsupported'],
      ['a base58 address', -32001, 'failed'],
      ['a topic of 2 bytes', -32602, 'unsupported'],
      ['five topics', -32602, 'unsupported'],
      ['a range that ends before it begins', -32602, 'unsupported'],
      ['a hash and a range', -32602, 'unsupported'],
      ['too many blocks', -32602, 'unsupported'],
      ['too many entries of a topic', -32602, 'unsupported'],
    ],
    'errors/block-of-more-than-10000-logs': [
      ['all logs by hash', -32005, 'too large'],
      ['all logs by range', -32005, 'too large'],
      ['the logs of one contract', 'result', 'result'],
    ],
    'errors/contract-calls-refused': [
      ['an address without a contract', -32600, 'unsupported'],
      ['a revert with a reason', -32000, 'failed'],
      ['an unknown function', -32000, 'failed'],
      ['no contract address', -32602, 'unsupported'],
      ['the field input', -32700, 'unsupported'],
      ['the field chainId', -32700, 'unsupported'],
      ['too long a run', -32000, 'failed'],
      ['a node without constant calls', -32600, 'unsupported'],
    ],
  }

  it('is in one of the tables', () => {
    expect(new Set(Object.keys(expected))).toEqual(new Set(recordingNames('errors/')))
  })

  it.each(Object.entries(expected))('of %s has a code and a meaning', (name, rows) => {
    const meaningOf = ({ response }: RecordedCall): Meaning => {
      const reply = parseSingleReply(response, 1)
      if (!reply.ok || reply.value.kind === 'result') return 'result'
      if (isTooLarge(reply.value)) return 'too large'
      return isUnsupported(reply.value) ? 'unsupported' : 'failed'
    }
    const read = recording(name).map((call, i) => [rows[i]?.[0], outcomeOf(call), meaningOf(call)])
    expect(read).toEqual(rows)
  })

  it('of a node before 4.8.0 shows that it has no tag finalized', () => {
    const reply = parseSingleReply(noFinalized, 1)
    expect(reply.ok && isUnsupported(reply.value)).toBe(true)
  })
})

describe('a recorded reply to one call', () => {
  it.each([
    [0, 'with the id of the call', 'result'],
    [1, 'with a text as its id', 'not JSON-RPC'],
    [2, 'without an id, which is an error with null', -32601],
    [3, 'with a wrong type, which is an error with the text "null"', -32700],
    [4, 'of JSON-RPC 1.0', 'not JSON-RPC'],
    [5, 'to an empty body', -32700],
    [6, 'to a body that is not JSON', -32700],
    [7, 'to null', -32600],
    [8, 'to a text', -32600],
    [9, 'to an empty object', -32601],
  ])('call %d: %s', (i, _, outcome) => {
    const call = recording('transport/ids')[i]
    expect(call && outcomeOf(call)).toBe(outcome)
  })

  it('that is an error object refuses a batch as a whole', () => {
    const refusals = recording('transport/ids').filter(({ response }) => typeof outcomeOf({ response }) === 'number')
    expect(refusals).toHaveLength(7)
    for (const { response } of refusals) {
      expect(parseBatchReply(response, 1, 2)).toMatchObject({ ok: false, error: { kind: 'batch-refused' } })
    }
  })
})

describe('a recorded reply to a batch', () => {
  it.each([
    [0, 'of 20 calls has 20 results', 0, 20, Array(20).fill('result')],
    [1, 'with a malformed call has an error in its place', 1, 3, ['result', 'error', 'result']],
    [2, 'with members that are not calls is refused', 1, 5, 'bad-answer'],
    [3, 'with one id twice is refused', 1, 2, 'bad-answer'],
    [4, 'without ids is refused', 1, 1, 'bad-answer'],
    [5, 'without calls is refused', 1, 1, 'bad-answer'],
    [6, 'within a batch is refused', 1, 1, 'bad-answer'],
    [7, 'with ids of other types is refused', 1, 6, 'bad-answer'],
  ])('call %d: %s', (i, _, firstId, count, expected) => {
    const replies = parseBatchReply(recording('transport/batches')[i]?.response, firstId, count)
    expect(replies.ok ? replies.value.map(({ kind }) => kind) : replies.error.kind).toEqual(expected)
  })
})

describe('a recorded HTTP response', () => {
  it.each([
    [0, 'the rate limit of a node, with HTTP 200', 'rate-limited'],
    [1, 'an empty body for malformed parameters', 'bad-answer'],
    [2, 'an empty body for a call without an id', 'bad-answer'],
    [3, 'HTTP 405 with HTML for another path', 'batch-refused'],
    [4, 'HTTP 405 without a body for another method', 'batch-refused'],
  ])('call %d: %s', async (i, _, outcome) => {
    expect(await received(recording('transport/replies-that-are-not-json-rpc')[i] ?? {})).toBe(outcome)
  })

  it.each([
    ['an IP address', ipLimit],
    ['a key', keyLimit],
  ])('of TronGrid above the limit of %s is a rate limit', async (_, response) => {
    expect(await received({ response })).toBe('rate-limited')
  })

  it('above a rate limit makes the service leave the node alone', async () => {
    const h = createHarness({ nodes: 1 })
    const body = JSON.stringify(recording('transport/replies-that-are-not-json-rpc')[0]?.response)
    for (const node of h.nodes) node.script = () => ({ kind: 'body', body })
    await h.settle(h.pool().finalizedHead())
    expect(h.health.nodes.values().next().value?.rpc.restUntil).toBeGreaterThanOrEqual(h.now() + 30_000)
  })
})

describe('a recorded reply of the HTTP API', () => {
  /** The bytes that the service takes from a recorded reply, or null. */
  async function bytesFrom({ status = 200, response, responseText }: RecordedCall, txid: string) {
    const h = createHarness({ nodes: 1 })
    const body = responseText ?? JSON.stringify(response)
    for (const node of h.nodes) node.script = () => ({ kind: 'status', status, body })
    const bytes = await h.settle(h.pool().transactionBytes(txid as Txid))
    return bytes.ok && bytes.value !== null ? bytesToHex(bytes.value) : null
  }
  const trx = 'aaccf44c0f24829da4060eb09fd2fa6df3ba33d9bc8eca298603652ca37c239d'
  const trc10 = 'a2fc2a8f25d1e15c52afe1879ae9ac3e9a8a692f286fa39730b0b1d637b4520f'
  const failedCall = '1a6140613ccab8b015cbe60de8fa588ffa6655ca16d42a58582f8a4f4276f877'

  it.each([
    [0, 'of a TRX transfer', trx],
    [1, 'with addresses in base58', trx],
    [2, 'to an upper-case txid', trx],
    [3, 'to a txid with 0x', trx],
    [4, 'of a TRC-10 transfer', trc10],
    [5, 'of a failed call', failedCall],
    [6, 'on the solidity port', trx],
  ])('call %d: %s has bytes that hash to the txid', async (i, _, txid) => {
    const call = recording('http-api/bytes-of-transactions')[i] ?? {}
    expect(await bytesFrom(call, txid)).toMatch(/^0a02/)
    expect(await bytesFrom(call, txid === trx ? trc10 : trx)).toBeNull()
  })

  it('of a transaction that is not mined has its bytes too', async () => {
    const calls = recording('state/unmined-transaction').filter(({ path }) => path !== undefined)
    const txid = '960fd09c16fcb059ee90ca836f9421c6d8d79b53481298c37b82e64a85f0198f'
    const bytes = await Promise.all(calls.map((call) => bytesFrom(call, txid)))
    expect(bytes.map((hex) => hex !== null)).toEqual([true, false])
  })

  it.each([
    [0, 'of an unknown transaction'],
    [1, 'to a body without a txid'],
    [2, 'to a txid that is not hex'],
    [3, 'to a body that is not JSON'],
    [4, 'of the other port'],
    [5, 'to another HTTP method'],
  ])('call %d: %s has no bytes', async (i) => {
    expect(await bytesFrom(recording('http-api/no-transaction')[i] ?? {}, trx)).toBeNull()
  })
})
