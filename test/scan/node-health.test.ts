import { describe, expect, it } from 'vitest'
import { payer, payFinal, type RunningService, threeNodes, usdtTo } from '../http/service.ts'
import { changing, type Fault, failing, type IncomingRequest } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { alarmsOf, balancesOf, limitLogs, noise, repairNodes, tickFor, withAddress } from './harness.ts'

interface Summary {
  readonly alarms: readonly { readonly kind: string; readonly subject: object }[]
  readonly nodes: readonly { readonly state: string }[]
}

async function summaryOf(service: RunningService): Promise<Summary> {
  return (await (await service.ledger('/ledger/summary')).json<{ data: Summary }>()).data
}

/** The raised alarms of a kind, by what they are about. */
const raisedOf = async (service: RunningService, kind: string) =>
  (await summaryOf(service)).alarms.filter((alarm) => alarm.kind === kind).map(({ subject }) => subject)

const statesOfNodes = async (service: RunningService) => (await summaryOf(service)).nodes.map(({ state }) => state)

/** The methods and paths with which the service asks each question. */
const methods = {
  heads: 'eth_getBlockByNumber',
  blocks: '/wallet/getblockbylimitnext',
  logs: 'eth_getLogs',
  receipts: 'eth_getTransactionReceipt',
} as const
type Asked = keyof typeof methods

const asks = ({ calls }: IncomingRequest, question: Asked) => calls.some(({ method }) => method === methods[question])
const status = (code: number): Fault => ({ kind: 'status', status: code })

/** What a node answers in place of the contents, and the word for its state. */
const refusals: readonly (readonly [string, Asked, Fault, string])[] = [
  ['HTTP 403', 'logs', status(403), 'refuses'],
  ['HTTP 429', 'logs', status(429), 'limited'],
  ['HTTP 500', 'logs', status(500), 'down'],
  ['-32005', 'logs', failing('eth_getLogs', -32005, 'query returned more than 10000 results'), 'refuses'],
  ['{}', 'blocks', changing(methods.blocks, () => ({})), 'behind'],
  ['HTTP 503', 'blocks', status(503), 'down'],
  ['HTTP 500', 'heads', status(500), 'down'],
]

/**
 * Makes a node answer one question with this fault where `when` says so: by how often it was asked,
 * and by the time in seconds.
 */
function refuse(
  service: RunningService,
  index: number,
  fault: Fault,
  question: Asked,
  when: (asked: number, seconds: number) => boolean = () => true,
): void {
  const node = service.nodes[index]
  if (node === undefined) throw new Error('a node')
  let asked = 0
  node.script = (incoming) => {
    if (!asks(incoming, question)) return null
    asked += 1
    return when(asked, service.clock.seconds) ? fault : null
  }
}

const payOne = (service: RunningService, own: Parameters<typeof usdtTo>[0]) => () =>
  payFinal(service, usdtTo(own, 1_000_000n))

describe.each([
  ['that the scan asks first', 0],
  ['that the scan can do without', 2],
])('one of three nodes, %s, which answers all but one question', (_, index) => {
  it.each(refusals)('has an alarm within five minutes, which ends with its recovery: %s for %s', async (...row) => {
    const [, question, fault, state] = row
    const { service, own } = await withAddress({ TRON_NODES: threeNodes })
    await tickFor(service, 120, payOne(service, own))
    expect(await statesOfNodes(service)).toEqual(['answers', 'answers', 'answers'])
    refuse(service, index, fault, question)
    await tickFor(service, 300, payOne(service, own))
    const about = { node: index + 1, question }
    expect(await raisedOf(service, 'node-failing')).toEqual([about])
    expect(alarmsOf(service, 'node-failing')).toEqual([expect.objectContaining({ ...about, state })])
    expect((await statesOfNodes(service))[index]).toBe(state)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 21 })
    repairNodes(service)
    await tickFor(service, 300, payOne(service, own))
    expect(await raisedOf(service, 'node-failing')).toEqual([])
    expect(await statesOfNodes(service)).toEqual(['answers', 'answers', 'answers'])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 36 })
  })
})

it('a node that gives no receipts has an alarm, although the scan needs them only for few blocks', async () => {
  const { service, own } = await withAddress({ TRON_NODES: threeNodes })
  await tickFor(service, 60, payOne(service, own))
  refuse(service, 2, status(500), 'receipts')
  await tickFor(service, 300, payOne(service, own))
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: 3, question: 'receipts' }])
})

it.each([
  ['that the scan uses', 0],
  ['that only checks ask', 2],
])('a node %s is asked again for the receipt that it did not give, where no new block needs any', async (_, index) => {
  const { service, own } = await withAddress({ TRON_NODES: threeNodes })
  await tickFor(service, 60, payOne(service, own))
  refuse(service, index, status(500), 'receipts')
  await tickFor(service, 300, () => payFinal(service, { kind: 'call', from: payer, contract: usdtAddress, logs: [] }))
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: index + 1, question: 'receipts' }])
  await tickFor(service, 180, () => service.chain.addEmpty(7))
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: index + 1, question: 'receipts' }])
  repairNodes(service)
  await tickFor(service, 300, () => service.chain.addEmpty(7))
  expect(await raisedOf(service, 'node-failing')).toEqual([])
})

it('a node whose receipts the scan does not ask for any more is checked until they are there again', async () => {
  const { service, own } = await withAddress({ TRON_NODES: threeNodes })
  await tickFor(service, 60, payOne(service, own))
  refuse(service, 0, status(500), 'receipts')
  await tickFor(service, 300, () => payFinal(service, { kind: 'call', from: payer, contract: usdtAddress, logs: [] }))
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: 1, question: 'receipts' }])
  repairNodes(service)
  await tickFor(service, 300, () => payFinal(service, usdtTo(payer, 1n))) // blocks with logs need no receipt
  expect(await raisedOf(service, 'node-failing')).toEqual([])
})

it('a node that only checks ask, and that has lost its results, has an alarm', async () => {
  const { service } = await withAddress({ TRON_NODES: threeNodes })
  const call = () => payFinal(service, { kind: 'call', from: payer, contract: usdtAddress, logs: [] })
  await tickFor(service, 120, call)
  const [, , third] = service.nodes
  if (third === undefined) throw new Error('a third node')
  third.script = () => changing(methods.receipts, () => null)
  await tickFor(service, 400, call)
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: 3, question: 'receipts' }])
})

it.each([
  ['node-behind', { node: 1 }],
  ['node-failing', { node: 2, question: 'logs' }],
  ['node-failing', { node: 4, question: 'heads' }], // there are three nodes: this one was configured before
] as const)(
  'an alarm %s %j that only an older copy of the database has ends with a tick, because all nodes are well',
  async (kind, subject) => {
    const { service, own } = await withAddress({ TRON_NODES: threeNodes })
    await tickFor(service, 60, payOne(service, own))
    await service.db
      .prepare('INSERT INTO alarm (kind, subject, raised_at, seen_at) VALUES (?1, ?2, 1, 1)')
      .bind(kind, JSON.stringify(subject))
      .run()
    expect(await raisedOf(service, kind)).toEqual([subject])
    await tickFor(service, 20, payOne(service, own))
    expect(await raisedOf(service, kind)).toEqual([])
  },
)

const everySecondRequest = (asked: number) => asked % 2 === 0
const everySecondTick = (_: number, seconds: number) => Math.floor(seconds / 20) % 2 === 0

it.each<[string, Fault, Asked, (asked: number, seconds: number) => boolean]>([
  ['HTTP 500', status(500), 'logs', everySecondRequest],
  ['HTTP 403', status(403), 'logs', everySecondRequest],
  ['{}', changing(methods.blocks, () => ({})), 'blocks', everySecondTick],
])('a node that refuses every second time is in trouble: %s', async (_, fault, question, when) => {
  const { service, own } = await withAddress({ TRON_NODES: threeNodes })
  refuse(service, 0, fault, question, when)
  await tickFor(service, 320, payOne(service, own))
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: 1, question }])
  repairNodes(service)
  await tickFor(service, 300, payOne(service, own))
  expect(await raisedOf(service, 'node-failing')).toEqual([])
})

it('a node that fails has an alarm, also while a tick is due every few seconds', async () => {
  const { service, own } = await withAddress({ TRON_NODES: threeNodes })
  await tickFor(service, 60, payOne(service, own))
  refuse(service, 2, status(504), 'blocks')
  await tickFor(service, 300, payOne(service, own), 3)
  expect(await raisedOf(service, 'node-failing')).toEqual([{ node: 3, question: 'blocks' }])
})

it('blocks of junk logs between others are no trouble of the nodes that refuse their logs', async () => {
  const { service, own } = await withAddress({ TRON_NODES: threeNodes })
  limitLogs(service, 50)
  let isJunk = false
  await tickFor(service, 400, () => {
    isJunk = !isJunk
    service.chain.add(isJunk ? [noise(60), usdtTo(own, 1_000_000n)] : [noise(2), usdtTo(own, 1_000_000n)])
    service.chain.addEmpty(1)
  })
  expect(alarmsOf(service, 'node-failing')).toEqual([])
  expect(await statesOfNodes(service)).toEqual(['answers', 'answers', 'answers'])
})
