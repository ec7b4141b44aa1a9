import { describe, expect, it } from 'vitest'
import type { Wire } from '../../support/block-json.ts'
import { changing, type Fault } from '../../support/scripted-node.ts'
import { usdtAddress } from '../../support/transaction-spec.ts'
import { createProbed, type Harness, transactionRef } from '../harness.ts'

const read = (h: Harness) => {
  const refs = [0, 1].map((i) => transactionRef(h.chain, h.chain.firstHeight, i))
  return h.settle(h.pool().receipts(refs))
}
const receipts = (change: (receipt: Wire) => Wire): Fault =>
  changing('eth_getTransactionReceipt', (value) => change(value as Wire))
const logs = (change: (log: Wire) => Wire): Fault =>
  receipts((receipt) => ({ ...receipt, logs: (receipt.logs as Wire[]).map(change) }))

const differences: readonly (readonly [what: string, fault: Fault])[] = [
  ['status', receipts((receipt) => ({ ...receipt, status: '0x0' }))],
  ['logs', receipts((receipt) => ({ ...receipt, logs: [] }))],
  ['amount', logs((log) => ({ ...log, data: `0x${'f'.repeat(64)}` }))],
  ['contract', logs((log) => ({ ...log, address: `0x${'9'.repeat(40)}` }))],
  ['recipient', logs((log) => ({ ...log, topics: (log.topics as string[]).with(2, `0x${'9'.repeat(64)}`) }))],
]

describe('receipts', () => {
  it('are there for every requested transaction', async () => {
    const answer = await read(await createProbed(2))
    expect(answer.ok && [...answer.value.values()].map(({ succeeded, logs: all }) => [succeeded, all.length])).toEqual([
      [true, 0],
      [true, 1],
    ])
  })

  it.each(differences)('are a disagreement where two nodes differ in the %s', async (_, fault) => {
    const h = await createProbed(2)
    h.fail(0, fault)
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([{ name: 'nodes-disagree', fields: { outcome: 'held' } }])
    const [alarm] = h.alarms()
    expect(alarm?.fields.answer).not.toBe(alarm?.fields.otherAnswer)
  })

  it.each(differences)('are those of the honest two where the first of three differs in the %s', async (_, fault) => {
    const h = await createProbed(3)
    h.fail(0, fault)
    const answer = await read(h)
    const found = answer.ok ? [...answer.value.values()] : []
    expect(found.map(({ succeeded, logs: all }) => [succeeded, all[0]?.contract])).toEqual([
      [true, undefined],
      [true, usdtAddress],
    ])
    expect(h.alarms()).toMatchObject([{ fields: { otherNode: 1, outcome: 'outvoted' } }])
    const before = h.counts()[0]
    expect((await read(h)).ok).toBe(true)
    expect(h.counts()[0]).toBe(before) // the outvoted node comes last
  })

  it('are no answer where one of two nodes does not keep them', async () => {
    const h = await createProbed(2)
    h.fail(
      1,
      changing('eth_getTransactionReceipt', () => null),
    )
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('are a disagreement where all nodes name another block than the requested one', async () => {
    const h = await createProbed(2)
    const { txid } = transactionRef(h.chain, h.chain.firstHeight, 0)
    const { block } = transactionRef(h.chain, h.chain.firstHeight + 1, 0)
    const answer = await h.settle(h.pool().receipts([{ txid, block }]))
    expect(answer).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
  })
})
