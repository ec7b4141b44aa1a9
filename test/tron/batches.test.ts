import { describe, expect, it } from 'vitest'
import { parseBatchReply } from '../../src/worker/tron/json-rpc.ts'
import { createProbed, readBlocks, wordsOf } from './harness.ts'

const five = [2, 2, 2, 2, 2]

describe('a batch', () => {
  it('whose replies come in another order is read by their ids', async () => {
    const h = await createProbed({ nodes: 1 })
    h.node(0).script = ({ service }) =>
      service === 'rpc' ? { kind: 'changed-responses', change: (list) => [...list].reverse() } : null
    expect(wordsOf(await readBlocks(h))).toEqual(five)
  })

  it('with one error without an id has it for the only call without another reply', () => {
    const result = (id: number) => ({ jsonrpc: '2.0', id, result: 'x' })
    const error = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32700, message: 'JSON parse error' } })
    const kinds = (list: unknown) => {
      const replies = parseBatchReply(list, 1, 3)
      return replies.ok ? replies.value.map(({ kind }) => kind) : replies.error.kind
    }
    expect(kinds([result(1), error('null'), result(3)])).toEqual(['result', 'error', 'result'])
    expect(kinds([result(3), result(2), error(null)])).toEqual(['error', 'result', 'result'])
    expect(kinds([result(1), error(null), error('null')])).toBe('bad-answer')
    expect(kinds([result(1), result(1), result(3)])).toBe('bad-answer')
    expect(kinds([result(1), result(2), result(4)])).toBe('bad-answer')
  })

  it.each([
    ['java-tron 4.8.2', { callsMax: 4, code: -32005 }],
    ['a gateway, HTTP 400', { callsMax: 4, code: -32600, status: 400 }],
    ['a gateway, HTTP 501', { callsMax: 4, code: -32600, status: 501 }],
  ])('that is refused is sent in smaller ones, and the limit is remembered: %s', async (_, limit) => {
    const h = await createProbed({ nodes: 1 })
    h.fail(0, { kind: 'batch-limit', ...limit })
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    h.node(0).requests.length = 0
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    expect(h.node(0).requests.map(({ calls }) => calls.length)).toEqual([1, 4, 3])
  })

  it('that a gateway never takes becomes single calls, the chain id among them', async () => {
    const h = await createProbed({ nodes: 1 })
    h.fail(0, { kind: 'batch-limit', callsMax: 0, code: -32600, status: 405 })
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    h.node(0).requests.length = 0
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    const rpc = h.node(0).requests.filter(({ service }) => service === 'rpc')
    expect(rpc.map(({ batch, calls }) => [batch, calls[0]?.method])).toEqual([
      [false, 'eth_chainId'],
      ...Array(5).fill([false, 'eth_getLogs']),
    ])
  })
})
