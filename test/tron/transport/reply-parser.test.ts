import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/common/parse-json.ts'
import { sharedCharactersMin, sharedRepliesMax } from '../../../src/tron/limits.ts'
import { createReplyParser } from '../../../src/tron/transport/reply-parser.ts'
import { at, createProbed } from '../harness.ts'

const long = 'x'.repeat(sharedCharactersMin)
const blocks = [
  long,
  { number: '0x1', transactions: [{ hash: '0xa' }, { hash: '0xb' }] },
  [
    [1, 2],
    ['],', '\\"['],
  ],
  12,
]
const logs = [{ topics: [[], {}] }, 'a, b]', null]

describe('the parser of replies', () => {
  it('parses what two replies have in common once, whichever comes first', () => {
    const [short, both] = [JSON.stringify(blocks), JSON.stringify([...blocks, ...logs])]
    for (const [first, second] of [
      [short, both],
      [both, short],
      [short, short],
    ] as const) {
      const { parse } = createReplyParser()
      const [one, other] = [parse(first), parse(second)] as unknown[][]
      expect([one, other]).toEqual([JSON.parse(first), JSON.parse(second)])
      for (const i of [1, 2]) expect(one?.[i]).toBe(other?.[i])
    }
  })

  it('also finds a reply behind others, and shares nothing of a text that differs', () => {
    const { parse } = createReplyParser()
    const first = parse(JSON.stringify(blocks)) as unknown[]
    for (let i = 2; i < sharedRepliesMax; i += 1) parse(JSON.stringify([...blocks, i]).replace('0xa', '0xc'))
    const other = parse(JSON.stringify(blocks).replace('0xb', '0xd')) as unknown[]
    expect(other[1]).toEqual({ number: '0x1', transactions: [{ hash: '0xa' }, { hash: '0xd' }] })
    expect((parse(JSON.stringify(blocks)) as unknown[])[1]).toBe(first[1])
  })

  it('shares nothing with what was parsed before it forgot it', () => {
    const replies = createReplyParser()
    const [first, second] = [JSON.stringify(blocks), JSON.stringify([...blocks, ...logs])]
    const before = replies.parse(first) as unknown[]
    replies.forget()
    const after = replies.parse(second) as unknown[]
    expect(after).toEqual([...blocks, ...logs])
    expect(after[1]).not.toBe(before[1])
  })

  it('has the values of JSON.parse for every text that is a part of another one', () => {
    const whole = JSON.stringify([...blocks, ...logs])
    let valid = 0
    for (let end = sharedCharactersMin; end <= whole.length; end += 1) {
      for (const text of [`${whole.slice(0, end)}]`, whole.slice(0, end), `${whole.slice(0, end)},1]`]) {
        const value = parseJson(text)
        if (value !== undefined) valid += 1
        const [first, second] = [createReplyParser().parse, createReplyParser().parse]
        expect([first(whole), first(text)]).toEqual([JSON.parse(whole), value])
        expect([second(text), second(whole)]).toEqual([value, JSON.parse(whole)])
      }
    }
    expect(valid).toBeGreaterThan(10)
  })
})

describe('two nodes that agree', () => {
  it('are asked with the same ids for the same blocks, and each node with other ids for anything else', async () => {
    const h = await createProbed(2)
    for (const node of h.nodes) node.requests.length = 0
    const { firstHeight } = h.chain
    const pool = h.pool({ quorum: 2 })
    for (let i = 0; i < 2; i += 1) {
      expect(await h.settle(pool.finalizedBlocks(at(firstHeight), at(firstHeight + 4)))).toMatchObject({ ok: true })
    }
    const ids = h.nodes.map(({ requests }) => requests.map(({ calls }) => calls[0]?.id))
    expect(ids.map((list) => new Set(list).size)).toEqual([4, 2])
    expect([ids[0]?.[0], ids[0]?.[2]]).toEqual(ids[1])
  })
})
