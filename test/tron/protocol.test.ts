import { describe, expect, it } from 'vitest'
import { createChain } from '../support/chain-builder.ts'
import type { Fault } from '../support/scripted-node.ts'
import { transferLog, usdtAddress } from '../support/transaction-spec.ts'
import { at, busyChain, createHarness, them, token, transactionRef, us } from './harness.ts'
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

// The first part of a title is the section of PROTOCOL.md that the test is about.

const noAnswer = { ok: false, error: { kind: 'no-answer' } }

/** One node, probed while it was healthy; every later request gets the fault. */
async function createFaulty(fault: RequestFault) {
  const h = createHarness({ nodes: 1, chain: busyChain() })
  await h.settle(h.pool().finalizedHead())
  for (const node of h.nodes) node.script = (incoming) => (typeof fault === 'function' ? fault(h, incoming) : fault)
  return { h, pool: h.pool(), firstHeight: h.chain.firstHeight }
}

async function readBlocks(fault: RequestFault) {
  const { h, pool, firstHeight } = await createFaulty(fault)
  return { h, answer: await h.settle(pool.finalizedBlocks(at(firstHeight), at(firstHeight + 2))) }
}

async function readReceipts(fault: RequestFault) {
  const { h, pool, firstHeight } = await createFaulty(fault)
  return { h, answer: await h.settle(pool.receipts([transactionRef(h.chain, firstHeight, 1)])) }
}

describe('a faulty reply is no answer, and never "no deposits"', () => {
  const forBlocks: readonly FaultRow[] = [...logFaults, ...responseFaults, ...errorFaults, ...blockFaults]

  it.each(forBlocks)('%s, for blocks: %s', async (_section, _title, fault) => {
    const { answer } = await readBlocks(fault)
    expect(answer).toMatchObject(noAnswer)
  })

  it.each([...receiptFaults, ...responseFaults])('%s, for receipts: %s', async (_section, _title, fault) => {
    const { answer } = await readReceipts(fault)
    expect(answer).toMatchObject(noAnswer)
  })

  it.each(forBlocks)('%s, another node is used: %s', async (_section, _title, fault) => {
    const h = createHarness({ nodes: 2, chain: busyChain() })
    const [faulty] = h.nodes
    const { firstHeight } = h.chain
    await h.settle(h.pool({ quorum: 1 }).finalizedHead())
    if (faulty !== undefined) faulty.script = (incoming) => (typeof fault === 'function' ? fault(h, incoming) : fault)
    const answer = await h.settle(h.pool({ quorum: 1 }).finalizedBlocks(at(firstHeight), at(firstHeight + 2)))
    expect(answer.ok && answer.value.map(({ hash, logs: own }) => [hash, own?.length])).toEqual(
      [0, 1, 2].map((i) => [h.chain.at(firstHeight + i)?.hash, 2]),
    )
  })

  it.each<[string, Fault]>([
    ['no response in time', { kind: 'hang' }],
    ['an endless body', { kind: 'oversize' }],
  ])('JSON-RPC transport, another node is used: %s', async (_, fault) => {
    const h = createHarness({ nodes: 2 })
    await h.settle(h.pool({ quorum: 1 }).finalizedHead())
    const [faulty] = h.nodes
    if (faulty !== undefined) faulty.script = () => fault
    const { firstHeight } = h.chain
    const answer = await h.settle(h.pool({ quorum: 1 }).finalizedBlocks(at(firstHeight), at(firstHeight)))
    expect(answer.ok && answer.value.length).toBe(1)
  })
})

describe('what differs between versions and nodes is accepted', () => {
  it.each<FaultRow>([
    ['Logs', 'blockTimestamp, from 4.8.2 on', everyLog({ blockTimestamp: '0x69f18c42' })],
    ['Logs', 'no member removed', logs((list) => list.map(({ removed: _, ...log }) => log))],
    ['Numbers and fields', 'unknown fields', blocks((b) => ({ ...b, blobGasUsed: '0x0', nested: { a: [1] } }))],
    [
      'Numbers and fields',
      'a nonce of 0x0, from 4.8.2 on',
      transactions((list) => list.map((t) => ({ ...t, nonce: '0x0' }))),
    ],
    [
      'Numbers and fields',
      'leading zeros',
      transactions((list) => list.map((t) => ({ ...t, blockNumber: `0x000${String(t.blockNumber).slice(2)}` }))),
    ],
    [
      'Numbers and fields',
      'upper-case hex',
      transactions((list) => list.map((t) => ({ ...t, hash: `0x${String(t.hash).slice(2).toUpperCase()}` }))),
    ],
    [
      'Addresses and derivation',
      'an address of 21 bytes',
      transactions((list) => list.map((t) => ({ ...t, to: `0x41${String(t.to).slice(2)}` }))),
    ],
  ])('%s: %s', async (_section, _title, fault) => {
    const { answer, h } = await readBlocks(fault)
    if (!answer.ok) throw new Error(JSON.stringify(h.lines))
    const [block] = answer.value
    const built = h.chain.at(h.chain.firstHeight)
    expect(block?.transactions.map(({ txid, to }) => [txid, to])).toEqual(
      built?.transactions.map(({ txid, wire }) => [txid, String(wire.to).slice(2)]),
    )
    expect(block?.logs?.map(({ txid }) => txid)).toEqual(built?.transactions.slice(1, 3).map(({ txid }) => txid))
  })

  it.each([null, '0x'])('Contract types: no owner and no target, written as %s', async (to) => {
    const { answer } = await readBlocks(transactions((list) => list.map((t) => ({ ...t, to, from: to }))))
    expect(answer.ok && answer.value[0]?.transactions[0]).toMatchObject({ to: null, from: '0'.repeat(40) })
  })
})

describe('the receipts and logs of a node', () => {
  it('Failed transactions with logs: the receipt did not succeed, and keeps its logs', async () => {
    const { answer } = await readReceipts(receipts((r) => ({ ...r, status: '0x0' })))
    const [found] = answer.ok ? [...answer.value.values()] : []
    expect(found).toMatchObject({ succeeded: false, logs: [{ position: 0 }] })
  })

  it('Logs: the position is counted within the transaction, not within the block', async () => {
    const chain = createChain()
    const three = [1n, 2n, 3n].map((amount) => transferLog(usdtAddress, them, us, amount))
    chain.add([token(9n), { kind: 'call', contract: usdtAddress, from: them, logs: three }, token(8n)])
    chain.addEmpty(18)
    const h = createHarness({ chain })
    const { firstHeight } = chain
    const read = await h.settle(h.pool().finalizedBlocks(at(firstHeight), at(firstHeight)))
    expect(read.ok && read.value[0]?.logs?.map(({ position }) => position)).toEqual([0, 0, 1, 2, 0])
    const { txid, block } = transactionRef(chain, firstHeight, 1)
    const answer = await h.settle(h.pool().receipts([{ txid, block }]))
    expect(answer.ok && answer.value.get(txid)?.logs).toEqual(read.ok && read.value[0]?.logs?.slice(1, 4))
  })
})
