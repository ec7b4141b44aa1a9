import { describe, expect, it } from 'vitest'
import type { Wire } from '../support/block-json.ts'
import { changing, type Fault } from '../support/scripted-node.ts'
import { createHarness, type Harness, secrets } from './harness.ts'

const transactionOf = (h: Harness) => {
  const [transaction] = h.chain.at(h.chain.firstHeight)?.transactions ?? []
  if (transaction === undefined) throw new Error('no transaction')
  return transaction
}
const read = (h: Harness) => h.settle(h.pool().transactionBytes(transactionOf(h).txid))

describe('the bytes of a transaction', () => {
  it('come from the HTTP API of the first node, with its key', async () => {
    const h = createHarness()
    const { txid, rawData } = transactionOf(h)
    expect(await read(h)).toEqual({ ok: true, value: rawData })
    expect(h.node(0).requests).toMatchObject([
      { service: 'api', key: secrets.key, calls: [{ params: [{ value: txid }] }] },
    ])
  })

  it('are null where no node has an HTTP API', async () => {
    expect(await read(createHarness({ api: false }))).toEqual({ ok: true, value: null })
  })

  it.each<[string, Fault]>([
    ['an empty object', { kind: 'body', body: '{}' }],
    ['bytes of another transaction', changing('api', (value) => ({ ...(value as Wire), raw_data_hex: 'ab' }))],
    ['no bytes', changing('api', (value) => ({ ...(value as Wire), raw_data_hex: undefined }))],
    ['half a byte', changing('api', (value) => ({ ...(value as Wire), raw_data_hex: 'abc' }))],
    ['an empty body', { kind: 'body', body: '' }],
    ['an array', { kind: 'body', body: '[]' }],
    ['null', { kind: 'body', body: 'null' }],
    ['HTML', { kind: 'body', body: '<html>' }],
    ['HTTP 500', { kind: 'status', status: 500 }],
    ['HTTP 429', { kind: 'status', status: 429 }],
    ['a redirect', { kind: 'redirect' }],
    ['nothing in time', { kind: 'hang' }],
  ])('come from the next node where one replies with %s', async (_, fault) => {
    const h = createHarness()
    h.fail(0, fault)
    expect(await read(h)).toEqual({ ok: true, value: transactionOf(h).rawData })
    h.fail(1, fault)
    h.advance(3_000)
    expect((await read(h)).ok).toBe(false)
  })

  it('can fail without an effect on the node’s JSON-RPC', async () => {
    const h = createHarness({ nodes: 1 })
    h.node(0).script = ({ service }) => (service === 'api' ? { kind: 'status', status: 500 } : null)
    for (let i = 0; i < 4; i += 1) await read(h)
    expect((await h.settle(h.pool().finalizedHead())).ok).toBe(true)
  })
})
