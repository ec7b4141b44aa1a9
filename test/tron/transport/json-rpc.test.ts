import { describe, expect, it } from 'vitest'
import { parseBatchReply } from '../../../src/tron/transport/json-rpc.ts'

const result = (id: unknown, value: unknown = `of ${id}`) => ({ jsonrpc: '2.0', id, result: value })
const error = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32700, message: 'JSON parse error' } })
/** What the replies to the calls 101, 102 and 103 mean. */
const read = (...replies: readonly unknown[]) => {
  const parsed = parseBatchReply(replies, 101, 3)
  return parsed.ok
    ? parsed.value.map((reply) => (reply.kind === 'result' ? reply.value : reply.code))
    : parsed.error.kind
}

describe('the replies to a batch', () => {
  it.each([[[101, 102, 103]], [[103, 102, 101]], [[102, 103, 101]]])('belong to the calls by their ids: %j', (ids) => {
    expect(read(...ids.map((id) => result(id)))).toEqual(['of 101', 'of 102', 'of 103'])
  })

  it.each([null, 'null'])('may have one error with the id %j, for the only call without a reply', (id) => {
    expect(read(error(id), result(103), result(101))).toEqual(['of 101', -32700, 'of 103'])
  })

  it.each<[string, unknown[]]>([
    ['a missing id', [result(101), result(103)]],
    ['a duplicate id', [result(101), result(101), result(102)]],
    ['a duplicate id among all others', [result(101), result(102), result(103), result(103)]],
    ['a foreign id', [result(101), result(102), result(104)]],
    ['a foreign id and an error without an id', [result(101), result(104), error(null)]],
    ['a fraction as an id', [result(101), result(102), result(102.5)]],
    ['an id as text', [result(101), result(102), result('103')]],
    ['two errors without an id', [result(101), error(null), error('null')]],
    ['an error without an id and no missing call', [result(101), result(102), result(103), error(null)]],
    ['a result without an id', [result(101), result(102), result(null)]],
    ['a result with the text "null" as its id', [result(101), result(102), result('null')]],
  ])('with %s are a bad answer', (_, replies) => {
    expect(read(...replies)).toBe('bad-answer')
  })
})
