import { describe, expect, it } from 'vitest'
import type { Txid } from '../../src/chain/block.ts'
import {
  parseBlock,
  parseHeader,
  parseLogs,
  parseReceipt,
  parseTransaction,
  parseTxids,
} from '../../src/tron/parse/block.ts'
import { parseBatchReply, parseSingleReply } from '../../src/tron/transport/json-rpc.ts'
import block from '../recordings/tron/block-in-full-nile.json' with { type: 'json' }
import brief from '../recordings/tron/block-with-txids-nile.json' with { type: 'json' }
import invalidHash from '../recordings/tron/error-invalid-hash.json' with { type: 'json' }
import idNull from '../recordings/tron/error-with-id-null-as-text.json' with { type: 'json' }
import noFinalized from '../recordings/tron/finalized-before-4.8.0.json' with { type: 'json' }
import logs from '../recordings/tron/logs-of-a-block-before-4.8.2.json' with { type: 'json' }
import nodeLimit from '../recordings/tron/rate-limit-of-a-node.json' with { type: 'json' }
import ipLimit from '../recordings/tron/rate-limit-of-trongrid-ip.json' with { type: 'json' }
import keyLimit from '../recordings/tron/rate-limit-of-trongrid-key.json' with { type: 'json' }
import receipt from '../recordings/tron/receipt-with-block-timestamp-4.8.2.json' with { type: 'json' }
import shortNonce from '../recordings/tron/transaction-with-short-nonce-4.8.2.json' with { type: 'json' }
import unmined from '../recordings/tron/unmined-transaction.json' with { type: 'json' }
import type { Fault } from '../support/scripted-node.ts'
import { createHarness } from './harness.ts'

const height = 0x3fe1ca0
const hash = '0000000003fe1ca05cf728c92ee79f5f2758c3e4e4ea88501826726880e8b81c'
const firstTxid = `01b4cde4${'0'.repeat(52)}e4ca` as Txid // 64 hex digits

describe('a node’s real replies', () => {
  it('show a block in full', () => {
    const read = parseBlock(block.result, height)
    expect(read).toMatchObject({
      ok: true,
      value: {
        height,
        hash,
        parentHash: '0000000003fe1c9f1030bf08074186a7c119391405507ce6cceb95855f5ef164',
        timestamp: 0x69f18c42 * 1000,
      },
    })
    expect(read.ok && read.value.transactions).toEqual([
      {
        txid: firstTxid,
        from: 'dd791d6b49e190062d650e6a23c575510d35f2f9',
        to: '9ff8fc48fb114ccd5bbdc24a86f0c73082f08825',
        value: '0x0',
        input: '0xa9059cbb',
        gas: '0xae29',
      },
      {
        txid: `74034bfb${'0'.repeat(52)}910e`,
        from: 'f7c3feccb6461aab0fd25f61d9560645b08228cb',
        to: 'b06b4139895c9f51c967c9f3d9089ca721e8e34c',
        value: '0xf4240',
        input: '0x',
        gas: '0x0',
      },
    ])
  })

  it('show a block with txids, in the same order', () => {
    const head = parseHeader(brief.result)
    const places = head.ok ? parseTxids(head.value) : head
    const full = parseBlock(block.result, height)
    expect(places.ok && full.ok && [...places.value]).toEqual(full.ok && [...full.value.indexes])
  })

  it('show logs without a time before 4.8.2, and with one in receipts from then on: the same logs', () => {
    const body = parseBlock(block.result, height)
    const ofBlock = body.ok ? parseLogs(logs.result, body.value, body.value.indexes) : body
    const ofReceipt = parseReceipt(receipt.result, firstTxid)
    expect(ofReceipt).toMatchObject({ ok: true, value: { txid: firstTxid, block: { height, hash }, succeeded: true } })
    expect(ofBlock.ok && ofBlock.value).toEqual(ofReceipt.ok && ofReceipt.value.logs)
    expect(ofBlock.ok && ofBlock.value).toEqual([
      {
        txid: firstTxid,
        position: 0,
        contract: '9ff8fc48fb114ccd5bbdc24a86f0c73082f08825',
        topics: [`0xc66625d0${'0'.repeat(52)}3083`, `0x${'0'.repeat(24)}dd791d6b49e190062d650e6a23c575510d35f2f9`],
        data: `0x${'0'.repeat(63)}1`,
      },
    ])
  })

  it('show one transaction the same, mined or not, with either nonce', () => {
    const wanted = parseTransaction(block.result.transactions[1] ?? {})
    expect(wanted).not.toBeNull()
    expect(parseTransaction(unmined.result)).toEqual(wanted)
    expect(parseTransaction(shortNonce.result)).toEqual(wanted)
  })

  it('show errors, also with the id "null" as text', () => {
    expect(parseSingleReply(invalidHash, 1)).toEqual({
      ok: true,
      value: { kind: 'error', code: -32602, message: 'invalid hash value' },
    })
    expect(parseSingleReply(idNull, 1)).toEqual({
      ok: true,
      value: { kind: 'error', code: -32700, message: 'JSON parse error' },
    })
    expect(parseSingleReply(invalidHash, 2)).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
    expect(parseBatchReply(idNull, 1, 3)).toMatchObject({ ok: false, error: { kind: 'batch-refused' } })
    expect(parseBatchReply([block, { ...idNull, id: null }], 1, 2)).toMatchObject({
      ok: true,
      value: [{ kind: 'result' }, { kind: 'error' }],
    })
  })

  it('show a node without finalized as an error to that call alone', () => {
    expect(parseSingleReply(noFinalized, 1)).toMatchObject({ ok: true, value: { code: -32602 } })
  })

  it.each([
    ['of a node', nodeLimit],
    ['of an address', ipLimit],
    ['of a key', keyLimit],
  ])('show the rate limit %s with HTTP 200, and the node rests', async (_, body) => {
    const h = createHarness({ nodes: 1 })
    const fault: Fault = { kind: 'body', body: JSON.stringify(body) }
    for (const node of h.nodes) node.script = () => fault
    await h.settle(h.pool().finalizedHead())
    expect(h.lines).toMatchObject([{ name: 'node-trouble', fields: { kind: 'rate-limited' } }])
    expect(h.memory.nodes.values().next().value?.rpc.restUntil).toBeGreaterThanOrEqual(h.now() + 30_000)
  })
})
