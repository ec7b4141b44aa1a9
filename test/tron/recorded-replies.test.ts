import { describe, expect, it } from 'vitest'
import { ok } from '../../src/worker/common/result.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { isTooLarge, isUnsupported, parseBatchReply, parseSingleReply } from '../../src/worker/tron/json-rpc.ts'
import { createNetwork, postJson } from '../../src/worker/tron/transport.ts'
import noFinalized from '../recordings/documented/finalized-before-4.8.0.json' with { type: 'json' }
import ipLimit from '../recordings/documented/rate-limit-of-trongrid-ip.json' with { type: 'json' }
import keyLimit from '../recordings/documented/rate-limit-of-trongrid-key.json' with { type: 'json' }
import { outcomeOf, type RecordedCall, recording, recordingNames } from '../recordings/recordings.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

/**
 * What the service makes of a recorded HTTP response to a request with this body: the word `JSON`,
 * or the kind of node error.
 */
async function received({ status = 200, response, responseText }: RecordedCall, body = '[]'): Promise<string> {
  const fetch = async () => new Response(responseText ?? JSON.stringify(response), { status })
  const target = { url: 'https://node.test/jsonrpc', keyHeader: null }
  const reply = await postJson(createNetwork(fetch, createVirtualClock(0)), target, body, 1_000 as UnixMs, ok)
  return reply.ok ? 'JSON' : reply.error.kind
}

describe('a recorded error', () => {
  const meanings = new Map([
    ...[-32600, -32601, -32602, -32700].map((code) => [code, 'unsupported'] as const),
    ...[-32000, -32001].map((code) => [code, 'failed'] as const),
    [-32005, 'too large'] as const,
  ])

  it.each(recordingNames('errors/'))('of %s has the meaning of its code', (name) => {
    const read = recording(name).map((call) => {
      const reply = parseSingleReply(call.response, 1)
      if (!reply.ok || reply.value.kind === 'result') return 'result'
      if (isTooLarge(reply.value)) return 'too large'
      return isUnsupported(reply.value) ? 'unsupported' : 'failed'
    })
    const codes = recording(name).map(outcomeOf)
    expect(read).toEqual(codes.map((code) => (code === 'result' ? 'result' : meanings.get(Number(code)))))
    expect(codes.filter((code) => code !== 'result').length).toBeGreaterThan(0)
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
    const call = recording('transport/replies-that-are-not-json-rpc')[i] ?? {}
    expect(await received(call, '[]')).toBe(outcome)
    expect(await received(call, '{}')).toBe(outcome === 'batch-refused' ? 'bad-answer' : outcome)
  })

  it.each([
    ['an IP address', ipLimit],
    ['a key', keyLimit],
  ])('of TronGrid above the limit of %s is a rate limit', async (_, response) => {
    expect(await received({ response })).toBe('rate-limited')
  })
})
