import { describe, expect, it } from 'vitest'
import type { Wire } from '../../support/block-json.ts'
import { changing } from '../../support/scripted-node.ts'
import { createHarness, type Harness, trx, us } from '../harness.ts'

const transactionOf = (h: Harness, height = h.chain.firstHeight) => {
  const [transaction] = h.chain.at(height)?.transactions ?? []
  if (transaction === undefined) throw new Error('no transaction')
  return transaction
}
const addTransaction = (h: Harness) => transactionOf(h, h.chain.add([trx(99n)]).height)
const locate = (h: Harness, { txid } = transactionOf(h)) => h.settle(h.pool().locateTransaction(txid))

describe('the location of a transaction', () => {
  it('is its block', async () => {
    const h = createHarness()
    const block = h.chain.at(h.chain.firstHeight)
    expect(await locate(h)).toMatchObject({
      ok: true,
      value: {
        kind: 'mined',
        block: { height: block?.height, hash: block?.hash },
        transaction: { txid: transactionOf(h).txid, to: us, value: '0x1' },
      },
    })
  })

  it('is unmined where the fields of the block are "0x"', async () => {
    const h = createHarness()
    const transaction = addTransaction(h)
    const { txid, wire } = transaction
    for (const node of h.nodes) {
      node.behind = 1
      node.unmined.set(txid, { ...wire, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x', gasPrice: '0x' })
    }
    expect(await locate(h, transaction)).toEqual({ ok: true, value: { kind: 'unmined' } })
  })

  it('is its block where another node is behind', async () => {
    const h = createHarness()
    const transaction = addTransaction(h)
    h.node(0).behind = 1
    expect(await locate(h, transaction)).toMatchObject({ ok: true, value: { kind: 'mined' } })
  })

  it('is unknown only where no node failed', async () => {
    const h = createHarness()
    const transaction = addTransaction(h)
    for (const node of h.nodes) node.behind = 1
    expect(await locate(h, transaction)).toEqual({ ok: true, value: { kind: 'unknown' } })
    h.fail(1, { kind: 'status', status: 500 })
    expect(await locate(h, transaction)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it.each<[string, (value: Wire) => unknown]>([
    ['another transaction', (value) => ({ ...value, hash: `0x${'9'.repeat(64)}` })],
    ['a block without a height', (value) => ({ ...value, blockNumber: '0x' })],
    ['a block hash of another height', (value) => ({ ...value, blockNumber: '0x7' })],
    ['text', () => 'x'],
  ])('is no answer where the only node replies with %s', async (_, change) => {
    const h = createHarness({ nodes: 1 })
    h.fail(
      0,
      changing('eth_getTransactionByHash', (value) => change(value as Wire)),
    )
    expect(await locate(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})
