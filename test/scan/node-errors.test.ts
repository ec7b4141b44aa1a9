import { describe, expect, it } from 'vitest'
import { checkNode } from '../../src/commands/doctor/check-node.ts'
import { openPool } from '../../src/commands/node-pool.ts'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import { chainSchema } from '../../src/worker/config/chain.ts'
import { parseBindings } from '../../src/worker/config/schemas.ts'
import { anyRemedy, meanings, type NodeErrorKind, refusals } from '../../src/worker/tron/node-errors.ts'
import { payFinal, type RunningService, testNodes, usdtTo } from '../http/service.ts'
import { createWorld } from '../http/world.ts'
import { connect, type IncomingRequest } from '../support/scripted-node.ts'
import { type RefusalReply, refusalReplies } from '../tron/refusal-replies.ts'
import { alarmsOf, balancesOf, openGaps, repairNodes, stateOf, tickFor, tickLater, withAddress } from './harness.ts'

/** What the summary says about a reply that no row of `refusals` describes. */
const otherwise = /an exception of the node|an empty body|a body that is not JSON|an unexpected status|an error/

const rows: readonly (readonly [string, RefusalReply, NodeErrorKind, RegExp | string, string])[] = Object.entries(
  refusalReplies,
).flatMap(([name, replies]) => {
  // safe: every other name is a key of `refusals`
  const row = name === 'in no row' ? null : refusals[name as keyof typeof refusals]
  const says = row?.says ?? otherwise
  const remedy = row !== null && 'remedy' in row ? row.remedy : anyRemedy
  return replies.map((reply) => [`${name}: ${reply.what}`, reply, row?.kind ?? 'bad-answer', says, remedy] as const)
})
/**
 * Three blocks have deposits of 1, 2 and 4 USDT, and all nodes refuse the block with 2. For each
 * meaning that the refusal can have for the query, this is how many USDT are credited after a
 * minute.
 */
const creditedOf = { first: 5, content: 5, size: 7, perhaps: 5, time: 1, pace: 1, nothing: 0 }

const queryOf = (kind: NodeErrorKind) => meanings[kind].query

interface SummaryNode {
  readonly use: string
  readonly state: string
  readonly failure: string | null
}

async function nodesOf(service: RunningService): Promise<readonly SummaryNode[]> {
  const { data } = await (await service.ledger('/ledger/summary')).json<{ data: { nodes: SummaryNode[] } }>()
  return data.nodes
}

/** What the doctor finds about the first node of the service. */
async function doctorOf(service: RunningService): Promise<string> {
  const config = parseBindings(chainSchema, service.bindings)
  if (!config.ok) throw new Error(config.error.join())
  const reach = connect(
    testNodes.flatMap((urls, i) => service.nodes.slice(i, i + 1).map((node) => ({ ...urls, node }))),
  )
  const pool = openPool(config.value, createWorld(reach, [], service.clock.seconds).platform)
  const [node] = pool.nodes
  if (node === undefined) throw new Error('a node')
  const { results } = await checkNode(pool, '0x2b6653dc', node)
  return results.map(({ level, text }) => `${level} ${text}`).join('\n')
}

/** Whether a request asks for the block at this height, or for its logs. */
const isAbout = ({ calls }: IncomingRequest, height: number) =>
  calls.some(({ params: [first] }) => {
    const {
      startNum = 0,
      endNum = 0,
      blockHash = '',
    } = (first ?? {}) as {
      readonly startNum?: number
      readonly endNum?: number
      readonly blockHash?: string
    }
    return (startNum <= height && height < endNum) || Number.parseInt(blockHash.slice(2, 18), 16) === height
  })

describe('a node that refuses every request so', () => {
  it.each(rows)('%s', async (name, { service: asked, fault }, kind, says, remedy) => {
    const { service, own } = await withAddress({ TRON_QUORUM: 1 })
    const [first] = service.nodes
    if (first === undefined) throw new Error('a node')
    // the check of a node before its first use meets this reply, and finds the node unfit
    const isOfProbe = name.startsWith('not-taken')
    const isOfSize = queryOf(kind) === 'size' // only large requests are refused
    first.script = ({ service, calls }) => (service === asked && (!isOfSize || calls.length > 2) ? fault : null)
    await tickFor(service, 600, () => payFinal(service, usdtTo(own, 1_000_000n)))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 30 })

    const isUnfit = kind === 'unsupported' || kind === 'unfit' || isOfProbe
    const fails = !isUnfit && !isOfSize // the node gives something else than what is asked for, each time
    const why = { node: 1, why: expect.stringMatching(says) }
    expect(alarmsOf(service, 'node-unfit')).toEqual(isUnfit ? [expect.objectContaining(why)] : [])
    expect(alarmsOf(service, 'node-failing')).toEqual(fails ? [expect.objectContaining(why)] : [])
    expect(alarmsOf(service, 'gap-unread')).toEqual([])
    const [shown] = await nodesOf(service)
    if (isUnfit) expect(shown).toMatchObject({ use: 'unfit', state: 'refuses' })
    if (fails) expect(shown?.state).toMatch(/limited|refuses|down/)
    if (isOfSize)
      expect(shown?.use).toMatch(/first|demoted/) // the node still serves small requests, and another node the logs
    else expect(shown?.failure).toMatch(says)
    const advice = await doctorOf(service)
    expect(/FAIL .*does not answer/.test(advice)).toBe(!isOfSize)
    if (isOfSize) return
    expect(advice).toMatch(says)
    expect(advice).toContain(remedy)
  })
})

describe('where all nodes refuse one block so', () => {
  it.each(rows)('%s', async (_, { service: asked, fault }, kind) => {
    const { service, own } = await withAddress()
    await tickLater(service)
    payFinal(service, usdtTo(own, 1_000_000n))
    const height = (service.chain.tip().height + 1) as BlockHeight
    payFinal(service, usdtTo(own, 2_000_000n))
    payFinal(service, usdtTo(own, 4_000_000n))
    for (const node of service.nodes) {
      node.script = (incoming) => (incoming.service === asked && isAbout(incoming, height) ? fault : null)
    }
    await tickFor(service, 60)
    const question = queryOf(kind)
    const credited = creditedOf[question]
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: credited })
    expect((await openGaps(service)).map(({ from_height }) => from_height)).toEqual(
      question === 'content' ? [height] : [],
    )
    expect(alarmsOf(service, 'gap-unread')).toHaveLength(question === 'content' ? 1 : 0)
    expect((await stateOf(service)).height >= height).toBe(credited > 1)
    repairNodes(service)
    await tickFor(service, 300)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 7 })
    expect(await openGaps(service)).toEqual([])
  })
})
