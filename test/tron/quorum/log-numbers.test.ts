import { describe, expect, it } from 'vitest'
import type { Wire } from '../../support/block-json.ts'
import { createChain } from '../../support/chain-builder.ts'
import { changing, type Fault } from '../../support/scripted-node.ts'
import { transferLog, usdtAddress } from '../../support/transaction-spec.ts'
import { at, createProbed, type Harness, them, token, us } from '../harness.ts'

const logs = (change: (list: readonly Wire[]) => readonly Wire[]): Fault =>
  changing('eth_getLogs', (value) => change(value as readonly Wire[]))
/** Numbers the logs of each transaction from 0. */
const byTransaction = logs((list) =>
  list.map((log, i) => {
    const first = list.findIndex(({ transactionHash }) => transactionHash === log.transactionHash)
    return { ...log, logIndex: `0x${(i - first).toString(16)}` }
  }),
)
/** Counts the logs of the failed transaction and leaves them out. */
const withoutFailed = (h: Harness) => {
  const failed = `0x${h.chain.at(h.chain.firstHeight)?.transactions[1]?.txid}`
  return logs((list) => list.filter(({ transactionHash }) => transactionHash !== failed))
}

/** A block of a payment, a failed call that kept its log, and two payments by one call. */
async function create(nodes: number): Promise<Harness> {
  const chain = createChain()
  const two = [transferLog(usdtAddress, them, us, 1n), transferLog(usdtAddress, them, us, 2n)]
  chain.add([
    token(9n),
    { kind: 'token', contract: usdtAddress, from: them, to: them, amount: 5n, failed: true, keepsLogs: true },
    { kind: 'call', contract: usdtAddress, from: them, logs: two },
  ])
  chain.addEmpty(18)
  return createProbed(nodes, chain)
}

async function positions(h: Harness, quorum: number) {
  const { firstHeight } = h.chain
  const answer = await h.settle(h.pool({ quorum }).finalizedBlocks(at(firstHeight), at(firstHeight)))
  return answer.ok ? answer.value[0]?.logs?.map(({ position }) => position) : answer.error.kind
}

const numberings: readonly (readonly [string, (h: Harness) => Fault | null, number[]])[] = [
  ['through the block', () => null, [0, 0, 0, 1]],
  ['through each transaction', () => byTransaction, [0, 0, 0, 1]],
  ['with the numbers of a failed transaction left out', withoutFailed, [0, 0, 1]],
]

describe.each(numberings)('a node that numbers logs %s', (_, numbering, expected) => {
  it('is accepted, with positions within the transactions', async () => {
    const h = await create(1)
    h.fail(0, numbering(h))
    expect(await positions(h, 1)).toEqual(expected)
  })

  it.each(numberings)('agrees with one that numbers them %s', async (_name, other) => {
    const h = await create(2)
    h.fail(0, numbering(h))
    h.fail(1, other(h))
    expect(await positions(h, 2)).toEqual(expected)
    expect(h.alarms()).toEqual([])
  })
})

describe('a log that the only node hides is found', () => {
  it.each<[string, (list: readonly Wire[]) => readonly Wire[]]>([
    ['at the beginning', (list) => list.slice(1)],
    ['within a transaction', (list) => list.toSpliced(2, 1)],
    [
      'where it numbers through each transaction',
      (list) => list.slice(1).map((log, i) => ({ ...log, logIndex: `0x${[0, 0, 1][i]}` })),
    ],
    ['where all are hidden', () => []],
  ])('%s', async (_, change) => {
    const h = await create(1)
    h.fail(0, logs(change))
    expect(await positions(h, 1)).toBe('no-answer')
    expect(h.alarms()).toMatchObject([{ name: 'node-lies' }])
  })
})
