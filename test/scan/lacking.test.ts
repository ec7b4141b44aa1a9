import { describe, expect, it } from 'vitest'
import { finalityLag, payFinal, type RunningService, testNodes, usdtTo } from '../http/service.ts'
import { renderBlock } from '../support/block-json.ts'
import type { Fault, IncomingRequest, ScriptedNode } from '../support/scripted-node.ts'
import { addressOf } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  breakNodes,
  callsOf,
  correct,
  finalizedIn,
  noise,
  openGaps,
  repairNodes,
  stateOf,
  tickFor,
  tickLater,
  withAddress,
} from './harness.ts'

type Lack = (service: RunningService, heights: readonly number[]) => ScriptedNode['script']

const heightOf = (hash: unknown) => Number.parseInt(String(hash).slice(2, 18), 16)

/**
 * A node that answers a question for blocks with the blocks of which `given` returns the heights.
 */
function givesBlocks({ chain }: RunningService, given: (from: number, count: number) => readonly number[]): Fault {
  return {
    kind: 'changed-calls',
    change({ method, params }) {
      if (method !== '/wallet/getblockbylimitnext') return undefined
      const { startNum, endNum } = params[0] as { readonly startNum: number; readonly endNum: number }
      const found = given(startNum, endNum - startNum).flatMap((height) => chain.at(height) ?? [])
      return { result: found.length === 0 ? {} : { block: found.map((block) => renderBlock(block).api()) } }
    },
  }
}

const heightsFrom = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

/** Whether a request asks for one of the blocks at these heights, or for its logs. */
function isAbout({ calls }: IncomingRequest, heights: readonly number[]): boolean {
  return calls.some(({ params: [first] }) => {
    const asked = (first ?? {}) as { readonly startNum?: number; readonly endNum?: number; readonly blockHash?: string }
    const { startNum = 0, endNum = 0, blockHash = '' } = asked
    return heights.some((height) => (startNum <= height && height < endNum) || heightOf(blockHash) === height)
  })
}

const refuses =
  (status: number): Lack =>
  (_, heights) =>
  (incoming) =>
    isAbout(incoming, heights) ? { kind: 'status', status } : null

/** How a node lacks blocks: what it answers in their place. */
const lacks: Readonly<Record<string, Lack>> = {
  'no block': (service, heights) => () =>
    givesBlocks(service, (from, count) => {
      const asked = heightsFrom(from, count)
      const end = asked.findIndex((height) => heights.includes(height))
      return end === -1 ? asked : asked.slice(0, end)
    }),
  'later blocks in their place': (service, heights) => () =>
    givesBlocks(service, (from, count) => {
      return heightsFrom(from, count + heights.length)
        .filter((height) => !heights.includes(height))
        .slice(0, count)
    }),
  'no log and no receipt':
    ({ chain }, heights) =>
    () => ({
      kind: 'changed-calls',
      change({ method, params: [first] }) {
        if (method === 'eth_getLogs') {
          return heights.includes(heightOf((first as { blockHash: string }).blockHash)) ? { result: [] } : undefined
        }
        const mined = method === 'eth_getTransactionReceipt' ? chain.blockOf(String(first).slice(2)) : undefined
        return mined !== undefined && heights.includes(mined.height) ? { result: null } : undefined
      },
    }),
  'no such hash over JSON-RPC': (_, heights) => () => ({
    kind: 'changed-calls',
    change: ({ method, params: [first] }) =>
      method === 'eth_getLogs' && heights.includes(heightOf((first as { blockHash: string }).blockHash))
        ? { error: { code: -32602, message: 'invalid blockHash' } }
        : undefined,
  }),
}

const kinds = Object.entries(lacks)
const oneNode = { TRON_NODES: testNodes.slice(0, 1) }

/**
 * Adds `before` final blocks with a deposit of 1 USDT each, three with 10 each, and as many with 1
 * after them. Returns the heights of the three.
 */
function payAround({ chain }: RunningService, own: Parameters<typeof usdtTo>[0], around: number): readonly number[] {
  const add = (amount: bigint) => chain.add([usdtTo(own, amount)]).height
  for (let i = 0; i < around; i += 1) add(1_000_000n)
  const heights = [1, 2, 3].map(() => add(10_000_000n))
  for (let i = 0; i < around; i += 1) add(1_000_000n)
  chain.addEmpty(finalityLag)
  return heights
}

function lackAt(service: RunningService, lack: Lack, heights: readonly number[], nodes = service.nodes): void {
  for (const node of nodes) node.script = lack(service, heights)
}

describe.each([
  ['the only node', oneNode],
  ['two of two nodes', {}],
])('three final blocks that %s lacks', (_, variables) => {
  it.each(kinds)('are gaps with alarms, and the scan goes on: %s', async (_, lack) => {
    const { service, own } = await withAddress(variables)
    await service.tick()
    const heights = payAround(service, own, 3)
    lackAt(service, lack, heights)
    await tickLater(service, 40)
    await tickLater(service)
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 6 })
    const open = await openGaps(service)
    expect(
      open.flatMap((gap) => heightsFrom(Number(gap.next_height), Number(gap.to_height) - Number(gap.next_height) + 1)),
    ).toEqual(heights)
    expect(alarmsOf(service, 'gap-unread').length).toBeGreaterThan(0)
    expect(alarmsOf(service, 'node-unfit')).toEqual([])
    expect(alarmsOf(service, 'node-lies')).toEqual([])
    repairNodes(service)
    await tickFor(service, 300)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 36 })
    expect(await openGaps(service)).toEqual([])
  })
})

it.each(kinds)('a hole among blocks without a log costs no deposit in it: %s', async (_, lack) => {
  const { service, own } = await withAddress(oneNode)
  await service.tick()
  const heights = payAround(service, own, 0)
  for (let i = 0; i < 3; i += 1) service.chain.add([noise(0)]) // calls without a log, whose receipts the node has
  service.chain.addEmpty(finalityLag)
  lackAt(service, lack, heights)
  await tickLater(service, 40)
  await tickLater(service)
  expect((await stateOf(service)).height).toBe(finalizedIn(service))
  repairNodes(service)
  await tickFor(service, 300)
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 30 })
})

it.each([
  ['HTTP 403', 403],
  ['HTTP 429', 429],
  ['HTTP 401', 401],
])(
  'a block that both nodes answer with %s for ever is passed once they have given a later one again and again',
  async (_, status) => {
    const { service, own } = await withAddress()
    await service.tick()
    const [height = 0] = [service.chain.tip().height + 3]
    for (let i = 0; i < 6; i += 1) service.chain.add([usdtTo(own, 1_000_000n)])
    service.chain.addEmpty(finalityLag)
    lackAt(service, refuses(status), [height])
    await tickFor(service, 1_200, () => service.chain.addEmpty(6))
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    expect(await openGaps(service)).toMatchObject([{ from_height: height, to_height: height }])
  },
)

it('a hole of 300 blocks is passed within ticks, by few requests for each of its blocks', async () => {
  const { service, own } = await withAddress(oneNode)
  await service.tick()
  const first = service.chain.tip().height + 1
  for (let i = 0; i < 300; i += 1) service.chain.add([usdtTo(addressOf(9), 1n)])
  service.chain.add([usdtTo(own, 2_000_000n)])
  service.chain.addEmpty(finalityLag)
  const [lack] = Object.values(lacks)
  if (lack === undefined) throw new Error('a kind')
  lackAt(service, lack, heightsFrom(first, 300))
  const before = callsOf(service, '/wallet/getblockbylimitnext').length
  await tickLater(service, 900)
  await tickLater(service)
  expect((await stateOf(service)).height).toBe(finalizedIn(service))
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
  expect(callsOf(service, '/wallet/getblockbylimitnext').length - before).toBeLessThan(150)
})

describe('no block is passed', () => {
  it.each(kinds)(
    'while the nodes have none of the newest final blocks yet, and nothing waits after they have them: %s',
    async (_, lack) => {
      const { service, own } = await withAddress()
      await service.tick()
      const addBusy = () => service.chain.add([usdtTo(addressOf(9), 1n)])
      const first = service.chain.add([usdtTo(own, 2_000_000n)]).height
      for (let i = 0; i < finalityLag; i += 1) addBusy()
      lackAt(service, lack, heightsFrom(first, 100))
      for (let i = 0; i < 3; i += 1) {
        for (let n = 0; n < 3; n += 1) addBusy()
        await tickLater(service)
      }
      expect(await openGaps(service)).toEqual([])
      expect((await stateOf(service)).height).toBeLessThan(first)
      repairNodes(service)
      await tickLater(service, 90)
      expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
      expect(await openGaps(service)).toEqual([])
    },
  )

  it('while both nodes are down, for however long', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    payFinal(service, usdtTo(own, 2_000_000n))
    breakNodes(service)
    await tickFor(service, 1_200, () => service.chain.addEmpty(6))
    expect(await openGaps(service)).toEqual([])
    repairNodes(service)
    await tickFor(service, 180)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
    expect(alarmsOf(service, 'gap-unread')).toEqual([])
  })

  it('where the nodes were down for the moment in which the block was asked for', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    payFinal(service, usdtTo(own, 2_000_000n))
    service.chain.addEmpty(10)
    for (const node of service.nodes) {
      let asked = 0
      node.script = ({ service: part }) => {
        asked += part === 'api' ? 1 : 0
        return part === 'api' && asked <= 8 ? { kind: 'status', status: 500 } : null
      }
    }
    await tickLater(service, 90)
    await tickLater(service)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
    expect(alarmsOf(service, 'gap-unread')).toEqual([])
  })
})

it('the finalized height can be lowered to a block that a node lacks for ever', async () => {
  const { service, own } = await withAddress()
  await service.tick()
  const heights = payAround(service, own, 3)
  const [node] = service.nodes
  if (node === undefined) throw new Error('no node')
  await tickLater(service, 40)
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 36 })
  node.script = () => ({
    kind: 'changed-calls',
    change: ({ method, params: [first] }) =>
      method === 'eth_getBlockByNumber' && heights.includes(Number(first)) ? { result: null } : undefined,
  })
  await correct(service, heights[2] ?? 0)
  await tickLater(service, 60)
  expect((await stateOf(service)).height).toBe(finalizedIn(service))
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 36 })
})
