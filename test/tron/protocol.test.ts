import { describe, expect, it } from 'vitest'
import { changing, type Fault } from '../support/scripted-node.ts'
import { at, createProbed, refOf, txidAt, wordsOf } from './harness.ts'
import {
  blockFaults,
  blocks,
  errorFaults,
  everyLog,
  type FaultRow,
  logFaults,
  logs,
  type RequestFault,
  receiptFaults,
  receipts,
  responseFaults,
  transactions,
} from './protocol-faults.ts'

// Each title begins with the section of PROTOCOL.md that the test is about.

const noAnswer = { ok: false, error: { kind: 'no-answer' } }
const three = (firstHeight: number) => [at(firstHeight), at(firstHeight + 2)] as const

/**
 * Checks the nodes while they are healthy, and then gives every request to the first one the fault.
 */
async function createFaulty(fault: RequestFault, options: { nodes: number; quorum: number }) {
  const h = await createProbed(options)
  h.node(0).script = (incoming) => (typeof fault === 'function' ? fault(h, incoming) : fault)
  return h
}

describe('a faulty reply is no answer, and never "no deposits"', () => {
  const forBlocks: readonly FaultRow[] = [...logFaults, ...responseFaults, ...errorFaults, ...blockFaults]

  it.each(forBlocks)('%s, for blocks: %s', async (_section, _title, fault) => {
    const h = await createFaulty(fault, { nodes: 1, quorum: 1 })
    const first = at(h.chain.firstHeight)
    expect(await h.settle(h.open().finalBlocks(first, first))).toMatchObject(noAnswer)
  })

  // receipts that are too large count as unreadable, which is an answer
  const isOfSize = (title: string) => title === 'HTTP 413 for every size'
  it.each([...receiptFaults, ...responseFaults.filter(([, title]) => !isOfSize(title))])(
    '%s, for receipts: %s',
    async (_section, _title, fault) => {
      const h = await createFaulty(fault, { nodes: 1, quorum: 1 })
      const { chain } = h
      const asked = [refOf(chain, chain.firstHeight), [txidAt(chain, chain.firstHeight, 1)]] as const
      expect(await h.settle(h.open().receiptTransfers(...asked))).toMatchObject(noAnswer)
    },
  )

  it.each<[string, Fault]>([
    ['no response in time', { kind: 'hang' }],
    ['a broken connection', { kind: 'broken-connection' }],
    ['HTML', { kind: 'body', body: '<html>' }],
    ['a rate limit', { kind: 'status', status: 429 }],
    ['another chain', changing('eth_chainId', () => '0xcd8690dc')],
    ['malformed blocks', blocks(() => null)],
    ['malformed logs', logs(() => null)],
    ['an endless body', { kind: 'oversize' }],
    ['truncated JSON', { kind: 'truncated-json' }],
    ['a redirect', { kind: 'redirect' }],
  ])('JSON-RPC transport, another node is used: %s', async (_, fault) => {
    const h = await createFaulty(fault, { nodes: 2, quorum: 1 })
    const read = await h.settle(h.open().finalBlocks(...three(h.chain.firstHeight)))
    expect(read.ok && read.value.length).toBe(3)
  })
})

describe('what differs between versions and nodes is accepted', () => {
  it.each<FaultRow>([
    ['Logs', 'blockTimestamp, from 4.8.2 on', everyLog({ blockTimestamp: '0x69f18c42' })],
    ['Logs', 'no member removed', logs((list) => list.map(({ removed: _, ...log }) => log))],
    ['Logs', 'numbers that begin anew in each transaction', everyLog({ logIndex: '0x0' })],
    ['Numbers and fields', 'unknown fields', blocks((b) => ({ ...b, blobGasUsed: '0x0', nested: { a: [1] } }))],
    [
      'Numbers and fields',
      'another order of members',
      transactions((list) => list.map((t) => Object.fromEntries(Object.entries(t).reverse()))),
    ],
    [
      'Numbers and fields',
      'leading zeros',
      logs((list) => list.map((l) => ({ ...l, blockNumber: `0x000${String(l.blockNumber).slice(2)}` }))),
    ],
    [
      'Numbers and fields',
      'upper-case hex',
      transactions((list) => list.map((t) => ({ ...t, raw_data_hex: String(t.raw_data_hex).toUpperCase() }))),
    ],
    [
      'Addresses and derivation',
      'an address of 21 bytes',
      logs((list) => list.map((l) => ({ ...l, address: `0x41${String(l.address).slice(2)}` }))),
    ],
  ])('%s: %s', async (_section, _title, fault) => {
    const h = await createFaulty(fault, { nodes: 2, quorum: 2 })
    const read = await h.settle(h.open().finalBlocks(...three(h.chain.firstHeight)))
    expect(h.reports()).toEqual([])
    expect(wordsOf(read)).toEqual([2, 2, 2])
  })
})

describe('receipts', () => {
  it('Failed transactions with logs: a receipt that did not succeed has no transfers', async () => {
    const h = await createFaulty(
      receipts((r) => ({ ...r, status: '0x0' })),
      { nodes: 1, quorum: 1 },
    )
    const { chain } = h
    const asked = [refOf(chain, chain.firstHeight), [txidAt(chain, chain.firstHeight, 1)]] as const
    expect(await h.settle(h.open().receiptTransfers(...asked))).toEqual({
      ok: true,
      value: { count: 1, transfers: [], acts: [], unreadable: [] },
    })
  })
})
