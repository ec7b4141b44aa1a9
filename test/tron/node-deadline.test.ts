import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import { type Chain, type ChainResult, readBlocksMax } from '../../src/worker/chain/chain.ts'
import { isObject } from '../../src/worker/tron/parse/fields.ts'
import type { Wire } from '../support/block-json.ts'
import { createChain } from '../support/chain-builder.ts'
import { changing, type Fault, failing, type IncomingRequest } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  at,
  createHarness,
  createProbed,
  type Harness,
  headOf,
  readBlocks,
  refOf,
  txidAt,
  us,
  wordsOf,
} from './harness.ts'

type Ask = (chain: Chain, h: Harness) => ChainResult<unknown>
/** Everything that the service asks of nodes. */
const questions: Readonly<Record<string, Ask>> = {
  'finalized head': (chain) => chain.finalizedHead(null),
  'finalized head after a correction': (chain, h) => chain.finalizedHead({ height: at(finalOf(h)), time: 0 }),
  'final blocks': (chain, { chain: { firstHeight } }) => chain.finalBlocks(at(firstHeight), at(firstHeight + 1)),
  'final blocks without a log': (chain, h) => chain.finalBlocks(at(finalOf(h)), at(finalOf(h))),
  receipts: (chain, h) => chain.receiptTransfers(firstOf(h), [txidAt(h.chain, h.chain.firstHeight, 1)]),
  tail: (chain, h) => chain.tail(refOf(h.chain, finalOf(h)), headOf(h)),
  'the place of a transaction': (chain, h) => chain.locate(txidAt(h.chain, h.chain.firstHeight, 0)),
  'a transaction': (chain, h) =>
    chain.finalTransaction(txidAt(h.chain, h.chain.firstHeight, 1), at(h.chain.firstHeight)),
  'TRX balances': (chain) => chain.balances([us], nativeAsset),
  'token balances': (chain) => chain.balances([us], trc20Asset(usdtAddress)),
  'a holder': (chain) => chain.holder([us], nativeAsset),
  'an account': (chain) => chain.activated(us),
  decimals: (chain) => chain.decimals(usdtAddress),
}
const firstOf = (h: Harness) => refOf(h.chain, h.chain.firstHeight)
const finalOf = (h: Harness) => h.chain.tip().height - 18

/** Any JSON value, often one of those that break code which expects another type. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      0,
      -1,
      1.5,
      1e308,
      2 ** 53,
      '',
      '0x',
      '0X1F',
      'null',
      '0xzz',
      `0x${'f'.repeat(300)}`,
      'x'.repeat(5_000),
    ],
    ...[[], {}, { toString: 0 }, { length: -1 }, { length: 2 ** 40 }, { valueOf: null, toString: null }],
    ...[{ toJSON: 1 }, { constructor: null }, [[[[[[[[]]]]]]]], [null], [{}], { code: {}, message: {} }],
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/**
 * The paths of the value itself and of all its members, at any depth; of arrays only the first
 * three.
 */
function pathsIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const members = Array.isArray(value) ? [...value.entries()].slice(0, 3) : isObject(value) ? Object.entries(value) : []
  return [path, ...members.flatMap(([key, member]) => pathsIn(member, [...path, key]))]
}

function replaceAt(value: unknown, [key, ...path]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by
  const copy = structuredClone(value) as Record<string | number, unknown>
  copy[key] = replaceAt(copy[key], path, by)
  return copy
}

/** A request to a node with its correct reply. */
interface Exchange {
  readonly request: IncomingRequest
  readonly reply: unknown
}

/**
 * All requests that a question causes, those that check a new node included, with their replies.
 */
async function exchangesOf(ask: Ask): Promise<readonly Exchange[]> {
  const h = createHarness({ nodes: 1 })
  await h.settle(ask(h.open(), h))
  const requests = [...h.node(0).requests]
  return Promise.all(
    requests.map(async (request) => {
      const { service, calls, batch } = request
      const [first] = calls
      const body = JSON.stringify(service === 'api' ? first?.params[0] : batch ? calls : first)
      const response = await h.node(0).respond(service === 'api' ? (first?.method ?? '') : '', { body })
      return { request, reply: JSON.parse(new TextDecoder().decode(await response.arrayBuffer())) as unknown }
    }),
  )
}

/**
 * Turns a reply to the request `before` into the same reply to the request `now`: only the ids
 * differ.
 */
function answering(reply: unknown, { calls: [before] }: IncomingRequest, { calls: [now] }: IncomingRequest): unknown {
  const withId = (one: unknown) =>
    isObject(one) && typeof one.id === 'number' ? { ...one, id: one.id - Number(before?.id) + Number(now?.id) } : one
  return Array.isArray(reply) ? reply.map(withId) : withId(reply)
}

const errors = [{ Error: 'x' }, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'x' } }]

/**
 * Which reply goes wrong, and how: one of its fields gets any value, or it is an error of which a
 * field may have any value.
 */
const anyFault = fc.record({
  which: fc.nat(),
  field: fc.nat(),
  value: anyValue,
  status: fc.constantFrom(200, 200, 200, 400, 429, 500),
  error: fc.option(fc.constantFrom(...errors), { freq: 5 }),
})

describe('whatever a node says', () => {
  it.each(Object.entries(questions))(
    'is an answer or that node’s failure, and never an exception: %s',
    async (_, ask) => {
      const exchanges = await exchangesOf(ask)
      const property = fc.asyncProperty(anyFault, async ({ which, field, value, status, error }) => {
        const place = which % exchanges.length
        const exchange = exchanges[place]
        if (exchange === undefined) throw new Error('no exchange')
        const reply = error ?? exchange.reply
        const paths = pathsIn(reply)
        const wrong = replaceAt(reply, paths[field % paths.length] ?? [], value)
        const h = createHarness({ nodes: 1 })
        h.node(0).script = (incoming) => {
          if (incoming.number <= place) return null
          return { kind: 'status', status, body: JSON.stringify(answering(wrong, exchange.request, incoming)) }
        }
        expect(await h.settle(ask(h.open(), h))).toHaveProperty('ok')
      })
      await fc.assert(property, { numRuns: 60 })
    },
    60_000,
  )

  it('is a bad answer where it has no text, of that node: the others are read', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, { kind: 'body', body: '{"Error":{"toString":0}}' })
    expect(wordsOf(await readBlocks(h))).toEqual([2, 2, 2, 2, 2])
    const failures = h.lines.filter(({ name }) => name === 'node-error').map(({ fields }) => fields)
    expect(new Set(failures.map(({ node, kind }) => `${node} ${kind}`))).toEqual(new Set(['1 bad-answer']))
  })
})

describe('the time of a node', () => {
  it('ends for all that one question asks of it: the next node is asked, and the slow one goes to the back', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.node(0).script = ({ batch }) =>
      // each request alone is answered in time
      batch ? { kind: 'status', status: 400, body: '{}' } : { kind: 'delayed', wait: () => h.sleep(2_500) }
    const read = () =>
      h.settle(h.open({ kind: 'tick' }, 18_000).finalBlocks(at(h.chain.firstHeight), at(h.chain.firstHeight + 4)))
    const begun = h.now()
    expect(wordsOf(await read())).toEqual([2, 2, 2, 2, 2])
    expect(h.now() - begun).toBeLessThan(9_000)
    expect(h.lines).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ node: 1, kind: 'timed-out' }) }),
    )
    const before = h.counts()
    expect(wordsOf(await read())).toEqual([2, 2, 2, 2, 2])
    expect(h.counts()[0]).toBe(before[0])
  })

  it('is asked of others for ever longer, if it is slow at every second request', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    let [asked, slow] = [0, 0]
    h.node(0).script = () => {
      asked += 1
      if (asked % 2 === 1) return null
      slow += 1
      return { kind: 'delayed', wait: () => h.sleep(2_500) }
    }
    for (let minutes = 0; minutes < 600; minutes += 1) {
      await h.settle(h.open({ kind: 'tick' }, 18_000).finalizedHead(null))
      h.chain.addEmpty(20)
      await h.settle(h.sleep(60_000))
    }
    expect(slow).toBeLessThan(8)
  })

  it('is its own failure, and not the end of everything, where no other node is left', async () => {
    const h = await createProbed({ nodes: 2, quorum: 2 })
    h.node(0).script = () => ({ kind: 'hang' })
    const read = await h.settle(h.open({ kind: 'tick' }, 18_000).finalizedHead(null))
    expect(read).toMatchObject({
      ok: false,
      error: { kind: 'no-answer', why: expect.stringContaining('node 1: no answer') },
    })
  })

  it('does not contain what it waits for its second', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 1 })
    for (let i = 0; i < 40; i += 1) h.chain.addEmpty(1)
    const read = await h.settle(
      h.open({ kind: 'tick' }, 30_000).finalBlocks(at(h.chain.firstHeight), at(h.chain.firstHeight + 40)),
    )
    expect(read.ok).toBe(true)
  })

  it('is too short for a long question where it takes no batches: the next ticks ask others, or for less', async () => {
    for (const [nodes, single] of [
      [2, [0]],
      [3, [0]],
      [4, [1, 2]],
    ] as const) {
      const chain = createChain()
      chain.addEmpty(120)
      const h = await createProbed({ chain, nodes, quorum: 2, perSecond: 3 })
      await readBlocks(h) // the node learns that blocks are small, and asks for many at once
      for (const i of single)
        h.node(i).script = ({ batch }) => (batch ? { kind: 'status', status: 400, body: '{}' } : null)
      const tick = () =>
        h.settle(h.open({ kind: 'tick' }, 18_000).finalBlocks(at(chain.firstHeight), at(chain.firstHeight + 99)))
      const ends = [await tick(), await tick(), await tick(), await tick()].map(({ ok }) => ok)
      expect(ends, `${nodes} nodes`).toContain(true)
    }
  })

  it('is too short for a long question no longer than some ticks, though another one never gives a block', async () => {
    const chain = createChain()
    chain.addEmpty(320)
    const h = createHarness({ chain, nodes: 3, quorum: 2, perSecond: 15 })
    h.fail(1, failing('eth_getLogs', -32_601, 'the method eth_getLogs does not exist'))
    h.node(2).script = ({ batch }) =>
      batch ? { kind: 'status', status: 400, body: '{}' } : { kind: 'delayed', wait: () => h.sleep(250) }
    let [from, ticks] = [chain.firstHeight, 0]
    for (; ticks < 40 && from < chain.firstHeight + 300; ticks += 1) {
      const tick = h.open({ kind: 'tick' }, 18_000)
      const read = await h.settle(tick.finalBlocks(at(from), at(from + readBlocksMax - 1)))
      if (read.ok) from += read.value.length
      h.advance(20_000)
    }
    expect(from).toBeGreaterThanOrEqual(chain.firstHeight + 300)
  })

  it('is not too short again each time that a question fitted: one grows only if twice as many blocks fit', async () => {
    const chain = createChain()
    chain.addEmpty(120)
    const h = await createProbed({ chain, nodes: 1 })
    await readBlocks(h)
    h.node(0).script = ({ batch }) =>
      batch ? { kind: 'status', status: 400, body: '{}' } : { kind: 'delayed', wait: () => h.sleep(150) }
    const ends: boolean[] = []
    for (let i = 0; i < 10; i += 1) {
      const chain100 = h.open({ kind: 'tick' }, 18_000)
      ends.push((await h.settle(chain100.finalBlocks(at(chain.firstHeight), at(chain.firstHeight + 99)))).ok)
      h.advance(3_000)
    }
    // a question that takes too long is asked again at once, for fewer blocks
    expect(ends).toEqual(Array<boolean>(10).fill(true))
  })

  it.each([
    ['is behind', (h: Harness) => (h.node(0).behind = 145)],
    ['rests', (h: Harness) => h.fail(0, { kind: 'status', status: 500 })],
    [
      'has no final blocks but their head',
      (h: Harness) =>
        h.fail(
          0,
          changing('/wallet/getblockbylimitnext', () => ({})),
        ),
    ],
  ])('of a node without batches decides how long questions are, beside another one that %s', async (_, begin) => {
    const chain = createChain()
    chain.addEmpty(160)
    const h = await createProbed({ chain, nodes: 3, quorum: 2, perSecond: 3 })
    await readBlocks(h)
    begin(h)
    h.node(1).script = ({ batch }) => (batch ? { kind: 'status', status: 400, body: '{}' } : null)
    const tick = async () => {
      const asked = h.open({ kind: 'tick' }, 18_000)
      const head = await h.settle(asked.finalizedHead(null))
      const read = await h.settle(asked.finalBlocks(at(chain.firstHeight + 20), at(chain.firstHeight + 119)))
      return head.ok && read.ok
    }
    const ends = [await tick(), await tick(), await tick(), await tick(), await tick()]
    // the first tick may fail, because in it the service finds out that a node takes no batches
    expect(ends.slice(1)).toEqual([true, true, true, true])
  })

  it('that it has used makes no honest node look behind, whose head came earlier', async () => {
    const chain = createChain()
    chain.addEmpty(40)
    const h = await createProbed({ chain, nodes: 4, quorum: 2 })
    h.node(0).script = ({ number }) => {
      if (number > 1) return null
      // The node answers after 4.5 s, when the chain has grown by four blocks.
      return { kind: 'delayed', wait: () => h.sleep(4_500).then(() => void chain.addEmpty(4)) }
    }
    await h.settle(h.open().finalizedHead(null))
    for (const node of h.nodes) node.requests.length = 0
    await h.settle(h.open().finalizedHead(null))
    expect(h.counts()).toEqual([0, 1, 1, 0])
  })
})

describe('a node that invents final blocks a little too high', () => {
  /**
   * Makes a node show invented blocks in place of the newest final ones, and a finalized head above
   * them.
   */
  const inventing = (h: Harness): Fault =>
    changing('eth_getBlockByNumber', (value, { params: [which] }) => {
      const final = finalOf(h)
      const height = which === 'finalized' ? final + 4 : Number(which)
      if (height < final - 3) return value
      const hash = (n: number) => `0x${n.toString(16).padStart(16, '0')}${'ee'.repeat(24)}`
      return {
        ...(value as Wire),
        number: `0x${height.toString(16)}`,
        hash: hash(height),
        parentHash: hash(height - 1),
      }
    })

  it('prevents no quorum where an honest node is one block behind: it is outvoted, named and asked last', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, inventing(h))
    h.node(2).behind = 1
    const height = finalOf(h) - 1
    const read = await h.settle(h.open().finalizedHead(null))
    expect(JSON.stringify(read)).toContain(`"hash":"${h.chain.at(height)?.hash}"`)
    expect(h.reports()).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ otherNode: 1, outcome: 'outvoted' }) }),
    )
    for (const node of h.nodes) node.requests.length = 0
    await h.settle(h.open().finalizedHead(null))
    expect(h.counts()).toEqual([0, 1, 1])
  })
})
