import { describe, expect, it } from 'vitest'
import type { Address } from '../../../src/chain/address.ts'
import type { Log } from '../../../src/chain/block.ts'
import { createChain } from '../../support/chain-builder.ts'
import type { CallResponse, IncomingCall } from '../../support/node-methods.ts'
import type { Fault } from '../../support/scripted-node.ts'
import { addressOf, transferLog, usdtAddress } from '../../support/transaction-spec.ts'
import { at, createProbed, type Harness, type InvocationOptions, them, token, us } from '../harness.ts'

const spam = addressOf(77)
const emptyLog = { contract: spam, topics: [], data: '0x' }
const spamCall = (logs: number) =>
  ({ kind: 'call', contract: spam, from: them, logs: Array(logs).fill(emptyLog) }) as const
const forwarded = (logs: number) =>
  ({
    kind: 'call',
    contract: spam,
    from: them,
    logs: [...Array(logs).fill(emptyLog), transferLog(usdtAddress, them, us, 5n)],
  }) as const

/** Blocks of which the third has more logs than a node gives. `dense` are its transactions beside the spam. */
function chainWith(dense: Parameters<ReturnType<typeof createChain>['add']>[0]) {
  const chain = createChain()
  for (let i = 1n; i <= 5n; i += 1n) {
    chain.add(i === 3n ? [spamCall(5_000), ...(dense ?? []), spamCall(5_001)] : [token(i), token(i, them)])
  }
  for (let i = 0; i < 18; i += 1) chain.add([token(1n, them)])
  return chain
}

const isFiltered = ({ method, params }: IncomingCall) =>
  method === 'eth_getLogs' && (params[0] as { address?: unknown }).address !== undefined
const isAbout = (h: Harness, { params }: IncomingCall, height: number) =>
  (params[0] as { blockHash?: string }).blockHash === `0x${h.chain.at(height)?.hash}`

/** A node whose log index does not have a block. */
const gapAt = (h: Harness, height: number): Fault => ({
  kind: 'changed-calls',
  change: (call, response) => {
    if (!isFiltered(call)) return undefined
    if (!('result' in response)) return isAbout(h, call, height) ? { result: [] } : undefined
    const number = `0x${height.toString(16)}`
    return {
      result: (response.result as { blockNumber: string }[]).filter(({ blockNumber }) => blockNumber !== number),
    }
  },
})
/** A node that hides the logs of one transaction. */
const hidingOf = (txid: string): Fault => ({
  kind: 'changed-calls',
  change: ({ method, params }, response) => {
    if (!('result' in response) || response.result === null) return undefined
    if (method === 'eth_getLogs') {
      const logs = response.result as { transactionHash: string }[]
      return { result: logs.filter(({ transactionHash }) => transactionHash !== `0x${txid}`) }
    }
    const isIts = method === 'eth_getTransactionReceipt' && params[0] === `0x${txid}`
    return isIts ? { result: { ...(response.result as object), logs: [] } } : undefined
  },
})
/** A node that hides all logs of a block. */
const hidingAt = (height: number): Fault => ({
  kind: 'changed-calls',
  change: ({ method }, response) => {
    if (!('result' in response) || response.result === null) return undefined
    if (method === 'eth_getLogs') {
      return {
        result: (response.result as { blockNumber: string }[]).filter((log) => Number(log.blockNumber) !== height),
      }
    }
    const receipt = response.result as { blockNumber: string }
    if (method !== 'eth_getTransactionReceipt' || Number(receipt.blockNumber) !== height) return undefined
    return { result: { ...receipt, logs: [] } }
  },
})
const tooLarge: CallResponse = { error: { code: -32005, message: 'query returned more than 10000 results' } }
const refusing = (h: Harness, height: number): Fault => ({
  kind: 'changed-calls',
  change: (call) => (call.method === 'eth_getLogs' && isAbout(h, call, height) ? tooLarge : undefined),
})

interface ReadOptions extends InvocationOptions {
  readonly quorum: number
  /** The blocks from one to another one, counted from the chain's first. */
  readonly from?: number
  readonly to?: number
}

const read = async (h: Harness, options: ReadOptions) => {
  const { firstHeight } = h.chain
  const { from = 0, to = 4, ...limits } = options
  const answer = await h.settle(h.pool(limits).finalizedBlocks(at(firstHeight + from), at(firstHeight + to)))
  return answer.ok ? answer.value.map(({ logs }) => logs) : answer.error
}
const positions = (logs: unknown) =>
  Array.isArray(logs) ? logs.map((lists) => lists?.map(({ position }: { position: number }) => position) ?? null) : logs

describe.each([1, 2])('a block with more logs than a node gives, with a quorum of %i', (quorum) => {
  it('has the logs of accepted tokens, at their positions within their transactions', async () => {
    const h = await createProbed(quorum, chainWith([token(7n), forwarded(3), token(8n, them)]))
    expect(positions(await read(h, { quorum }))).toEqual([
      [0, 0],
      [0, 0],
      [0, 3, 0],
      [0, 0],
      [0, 0],
    ])
    expect(h.alarms()).toEqual([])
  })

  it('can be read alone', async () => {
    const h = await createProbed(quorum, chainWith([token(7n)]))
    expect(positions(await read(h, { quorum, from: 2, to: 2 }))).toEqual([[0]])
  })

  it('has none where no transaction concerns an accepted token, as the index has the other logs', async () => {
    const h = await createProbed(quorum, chainWith([]))
    expect(positions(await read(h, { quorum }))).toEqual([[0, 0], [0, 0], [], [0, 0], [0, 0]])
  })

  it.each([
    ['a direct payment', token(7n)],
    ['a payment by another contract', forwarded(0)],
  ])('is put aside where no log index has it: %s', async (_, payment) => {
    const h = await createProbed(quorum, chainWith([payment]))
    for (const node of h.nodes) node.script = () => gapAt(h, h.chain.firstHeight + 2)
    expect(positions(await read(h, { quorum }))).toEqual([[0, 0], [0, 0], null, [0, 0], [0, 0]])
    expect(positions(await read(h, { quorum, from: 2, to: 2 }))).toEqual([null])
  })

  it('is read one contract at a time where the logs of both accepted tokens are too many together', async () => {
    const other = addressOf(78)
    const many = (contract: Address) =>
      ({ kind: 'call', contract, from: them, logs: Array(6_000).fill({ ...emptyLog, contract }) }) as const
    const paid = { kind: 'call', contract: other, from: them, logs: [transferLog(other, them, us, 9n)] } as const
    const h = await createProbed(quorum, chainWith([token(7n), many(usdtAddress), many(other), paid]))
    const [, , logs] = (await read(h, { quorum, tokens: [usdtAddress, other] })) as readonly (readonly Log[])[]
    const amounts = logs?.filter(({ topics }) => topics.length > 0).map(({ data }) => BigInt(data))
    expect(amounts).toEqual([7n, 9n])
    const filters = h.nodes.flatMap(({ requests }) => requests.flatMap(({ calls }) => calls.filter(isFiltered)))
    const contracts = filters.map(({ params: [filter] }) => (filter as { address: readonly string[] }).address.length)
    expect(new Set(contracts)).toEqual(new Set([1, 2]))
  })

  it('is put aside where it cannot be read by contract either', async () => {
    const h = await createProbed(quorum, chainWith([token(7n)]))
    for (const node of h.nodes) node.script = () => refusing(h, h.chain.firstHeight + 2)
    expect(positions(await read(h, { quorum }))).toEqual([[0, 0], [0, 0], null, [0, 0], [0, 0]])
  })

  it('is put aside together with another one that cannot be read either, and the others are read', async () => {
    const h = await createProbed(quorum, chainWith([token(7n)]))
    const two = [2, 4].map((i) => h.chain.firstHeight + i)
    for (const node of h.nodes) {
      node.script = () => ({
        kind: 'changed-calls',
        change: (call) => {
          const isRefused = call.method === 'eth_getLogs' && two.some((height) => isAbout(h, call, height))
          return isRefused ? tooLarge : undefined
        },
      })
    }
    expect(positions(await read(h, { quorum }))).toEqual([[0, 0], [0, 0], null, [0, 0], null])
  })

  it('is read by contract where its reply exceeds the limit of bytes', async () => {
    const h = await createProbed(quorum, chainWith([token(7n)]))
    const hash = `0x${h.chain.at(h.chain.firstHeight + 2)?.hash}`
    for (const node of h.nodes) {
      node.script = ({ calls }) => {
        const unfiltered = calls.some(
          (call) => call.method === 'eth_getLogs' && !isFiltered(call) && JSON.stringify(call).includes(hash),
        )
        return unfiltered ? { kind: 'oversize' } : null
      }
    }
    expect(positions(await read(h, { quorum, from: 1, to: 3 }))).toEqual([[0, 0], [0], [0, 0]])
  })
})

describe('a block with too many logs', () => {
  it('comes from another node where the log index of the first one does not have it', async () => {
    const h = await createProbed(3, chainWith([token(7n)]))
    h.fail(0, gapAt(h, h.chain.firstHeight + 2))
    expect(positions(await read(h, { quorum: 2 }))).toEqual([[0, 0], [0, 0], [0], [0, 0], [0, 0]])
    expect(h.alarms()).toEqual([])
  })

  it('is read from a third node only where it is read alone, so that a busy range leaves requests for the next one', async () => {
    const h = await createProbed(3, chainWith([token(7n)]))
    for (const i of [0, 1]) h.fail(i, refusing(h, h.chain.firstHeight + 2))
    h.node(2).requests.length = 0
    expect(positions(await read(h, { quorum: 2 }))).toEqual([[0, 0], [0, 0], null, [0, 0], [0, 0]])
    expect(h.node(2).requests).toEqual([])
    expect(positions(await read(h, { quorum: 1, from: 2, to: 2 }))).toEqual([[0]])
  })

  it('is read from a quorum of three only while half of the requests are left, so that it can also be confirmed', async () => {
    for (const [requestsMax, third] of [
      [100, [[0]]],
      [12, [null]],
    ] as const) {
      const h = await createProbed(3, chainWith([token(7n)]))
      for (const i of [0, 1]) h.fail(i, refusing(h, h.chain.firstHeight + 2))
      const list = await read(h, { quorum: 3, requestsMax })
      expect(positions(list)).toEqual([[0, 0], [0, 0], ...third, [0, 0], [0, 0]])
    }
  })

  it('is confirmed by receipts where the log index of the second node does not have it', async () => {
    const h = await createProbed(2, chainWith([token(7n)]))
    h.fail(1, gapAt(h, h.chain.firstHeight + 2))
    expect(positions(await read(h, { quorum: 2 }))).toEqual([[0, 0], [0, 0], [0], [0, 0], [0, 0]])
    expect(h.alarms()).toEqual([])
  })

  it.each([
    ['a direct payment', token(8n)],
    ['a payment by another contract', forwarded(0)],
  ])(
    'is put aside where the first node hides a log beside one that it shows, and the second one has a gap: %s',
    async (_, payment) => {
      const h = await createProbed(2, chainWith([token(7n), payment]))
      const height = h.chain.firstHeight + 2
      const hidden = h.chain.at(height)?.transactions[2]?.txid ?? ''
      h.fail(0, hidingOf(hidden))
      h.fail(1, gapAt(h, height))
      expect(positions(await read(h, { quorum: 2 }))).toEqual([[0, 0], [0, 0], null, [0, 0], [0, 0]])
    },
  )

  it('is a disagreement where the second node has another amount', async () => {
    const h = await createProbed(2, chainWith([token(7n)]))
    h.fail(1, {
      kind: 'changed-calls',
      change: ({ method }, response) => {
        if (!('result' in response)) return undefined
        const change = (logs: unknown) =>
          (logs as { data: string }[]).map((log) => ({ ...log, data: `0x${'0'.repeat(61)}abc` }))
        if (method === 'eth_getLogs') return { result: change(response.result) }
        if (method !== 'eth_getTransactionReceipt') return undefined
        return { result: { ...(response.result as object), logs: change((response.result as { logs: unknown }).logs) } }
      },
    })
    expect(await read(h, { quorum: 2, from: 2, to: 2 })).toMatchObject({ kind: 'disagreement' })
  })
})

describe('the second node', () => {
  it('is asked for the logs of accepted tokens only', async () => {
    const h = await createProbed(2)
    h.node(1).requests.length = 0
    await read(h, { quorum: 2 })
    const calls = h.node(1).requests.flatMap((request) => request.calls)
    expect(calls.filter(({ method }) => method === 'eth_getLogs').map(({ params }) => params)).toEqual([
      [expect.objectContaining({ address: [`0x${usdtAddress}`] })],
    ])
  })

  it('is asked without a filter where its log index has a gap, which is no disagreement', async () => {
    const h = await createProbed(2)
    h.fail(1, gapAt(h, h.chain.firstHeight + 1))
    expect(positions(await read(h, { quorum: 2 }))).toEqual(Array(5).fill([0, 0]))
    expect(h.alarms()).toEqual([])
  })

  it.each([2, 3])('does not agree by a gap of its index with a node that hides logs, of %i nodes', async (count) => {
    const h = await createProbed(count)
    const height = h.chain.firstHeight + 1
    h.fail(0, hidingAt(height))
    h.fail(1, gapAt(h, height))
    const list = await read(h, { quorum: 2 })
    expect(positions(list)).toEqual(
      count === 3 ? Array(5).fill([0, 0]) : expect.objectContaining({ kind: 'disagreement' }),
    )
    expect(h.alarms()).toMatchObject([{ fields: { about: `logs of block ${height}` } }])
  })

  it('shows by receipts that a block with too many logs has none of a token', async () => {
    const h = await createProbed(2, chainWith([]))
    h.node(1).requests.length = 0
    expect(positions(await read(h, { quorum: 2 }))).toEqual([[0, 0], [0, 0], [], [0, 0], [0, 0]])
    const methods = h.node(1).requests.flatMap(({ calls }) => calls.map(({ method }) => method))
    expect(methods).toContain('eth_getTransactionReceipt')
  })

  it('that gives no logs at all is a failed node, and nothing is put aside', async () => {
    const h = await createProbed(2)
    h.fail(1, { kind: 'changed-calls', change: ({ method }) => (method === 'eth_getLogs' ? tooLarge : undefined) })
    expect(await read(h, { quorum: 2 })).toMatchObject({ kind: 'no-answer' })
  })
})
