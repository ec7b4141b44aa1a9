import { beforeEach, describe, expect, test } from 'vitest'
import {
  bodyBytesMax,
  bodyTooDeep,
  bodyTooLarge,
  brokenBody,
  encodedBody,
  memberTwice,
  wrongBody,
  wrongMediaType,
} from '../../src/worker/http/errors.ts'
import { payoutRequest, startPaying } from '../payouts/harness.ts'
import { payoutBase58 } from '../support/payouts.ts'
import { failed, postInit, type RunningService, read, startService } from './service.ts'

let service: RunningService
beforeEach(async () => {
  service = await startService()
})

const refund = { uid: 7, cuy: 2, type: 5, osn: 'order-1', amt: '2.5' }
const postText = async (text: string) => read(await service.ledger('/ledger/entries', postInit(text)))
const count = async () => {
  const { body } = await read(await service.ledger('/ledger/entries?uid=7'))
  return (body as { data: { count: number } }).data.count
}

describe('the body of a post', () => {
  const good = JSON.stringify({ entries: [refund] })

  test.each([
    ['empty', '', brokenBody],
    ['cut off', good.slice(0, -1), brokenBody],
    ['two values', `${good}${good}`, brokenBody],
    ['a form', 'entries=x', brokenBody],
    ['a number', '7', wrongBody('entries')],
    ['null', 'null', wrongBody('entries')],
    ['a list', '[]', wrongBody('entries')],
    ['an object with another member', '{"entries":[],"by":"me"}', wrongBody('entries')],
    ['an object with __proto__', '{"entries":[],"__proto__":{"entries":[]}}', wrongBody('entries')],
    ['nested very deep', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, bodyTooDeep],
    ['nested very deep in objects', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`, bodyTooDeep],
    ['nested one deeper than an entry', good.replace('"2.5"', '["2.5"]'), bodyTooDeep],
    ['an object with a member twice', '{"entries":[],"entries":[]}', memberTwice],
    ['with an entry that has a member twice', good.replace('"uid":7', '"uid":8,"uid":7'), memberTwice],
    ['with a member twice in another spelling', good.replace('"uid":7', '"u\\u0069d" :8,"uid"\n:7'), memberTwice],
    ['with a member twice with the same value', good.replace('"uid":7', '"uid":7,"uid":7'), memberTwice],
    ['with __proto__ twice', '{"entries":[],"__proto__":1,"__proto__":1}', memberTwice],
  ])('is refused where it is %s', async (_, text, { status, msg }) => {
    expect(await postText(text)).toEqual(failed(status, msg))
  })

  test('is refused with __proto__ beside the members of an entry, and stores nothing', async () => {
    const text = JSON.stringify({ entries: [{ ...refund, osn: 'first' }, refund] })
    const second = text.replace('"osn":"order-1"', '"__proto__":null,"osn":"order-1"')
    expect(await postText(second)).toEqual(failed(400, expect.stringContaining('entry 2: entry: an object with ')))
    expect(await count()).toBe(0)
  })

  test('may have brackets and quotes in its texts', async () => {
    const mark = '[[[{{{"\\\\"]],"uid":7,"uid":7'
    expect(
      (
        await service.post([
          { ...refund, mark },
          { ...refund, osn: 'uid' },
        ])
      ).status,
    ).toBe(200)
    const { body } = await read(await service.ledger('/ledger/entries?uid=7&osn=order-1'))
    expect(body).toMatchObject({ data: { list: [{ mark }] } })
  })

  test('may have null for a mark, which is absent then, and for no other member', async () => {
    expect((await postText(JSON.stringify({ entries: [{ ...refund, mark: null }] }))).status).toBe(200)
    expect(await postText(good)).toMatchObject({ body: { data: { replayed: true, list: [{ mark: '' }] } } })
    for (const member of Object.keys(refund)) {
      const { status, body } = await postText(JSON.stringify({ entries: [{ ...refund, osn: 'b', [member]: null }] }))
      expect([status, (body as { msg: string }).msg]).toEqual([400, expect.stringMatching(`^entry 1: ${member}: `)])
    }
    expect(await postText('{"entries":[{"mark":null,"mark":null}]}')).toEqual(failed(400, memberTwice.msg))
  })

  test.each(['gzip', 'br', 'identity'])('is refused with the content-encoding %s', async (encoding) => {
    const init = postInit(good)
    const headers = { ...init.headers, 'content-encoding': encoding }
    expect(await read(await service.ledger('/ledger/entries', { ...init, headers }))).toEqual(
      failed(415, encodedBody.msg),
    )
    expect(await count()).toBe(0)
  })

  test('that its client does not send to the end leaves a line of information, and stores nothing', async () => {
    const cut = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(good)),
      pull: (controller) => controller.error(new Error('the client has left')),
    })
    service.lines.length = 0
    expect((await service.ledger('/ledger/entries', { ...postInit(''), body: cut })).status).toBe(400)
    expect(service.lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'info', status: 400 }])
    expect(await count()).toBe(0)
  })

  test('is refused where it is not UTF-8', async () => {
    const bytes = new TextEncoder().encode(good.replace('order', '~~~~~')).map((byte) => (byte === 0x7e ? 0xff : byte))
    const init = { ...postInit(''), body: bytes }
    expect(await read(await service.ledger('/ledger/entries', init))).toEqual(failed(400, brokenBody.msg))
  })

  test.each([
    ['7.0', 200],
    ['7.00', 200],
    ['7.5', 400],
    ['70.0e-1', 400],
    ['9007199254740993.0', 400],
  ])('has %s as a whole number, or not: %d', async (uid, status) => {
    expect((await postText(good.replace('"uid":7', `"uid":${uid}`))).status).toBe(status)
  })

  test('is read up to its limit', async () => {
    const padded = good + ' '.repeat(bodyBytesMax - good.length)
    expect((await postText(padded)).status).toBe(200)
    expect(await postText(`${padded} `)).toEqual(failed(413, bodyTooLarge.msg))
  })

  test('is not read past its limit, whatever its declared length', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1
        controller.enqueue(new Uint8Array(16_384))
      },
    })
    const response = await service.ledger('/ledger/entries', { ...postInit(''), body: endless })
    expect([response.status, sent < 20]).toEqual([413, true])
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON ;x=y'])(
    'can be of the type %s',
    async (type) => {
      const init = { ...postInit(good), headers: { 'content-type': type } }
      expect((await service.ledger('/ledger/entries', init)).status).toBe(200)
    },
  )

  test.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'text/json, application/json',
  ])('is refused with the type "%s"', async (type) => {
    const init = { ...postInit(good), headers: { 'content-type': type } }
    expect(await read(await service.ledger('/ledger/entries', init))).toEqual(failed(415, wrongMediaType.msg))
    expect(await count()).toBe(0)
  })
})

test('a payout may be asked for, approved and cancelled with null for each optional member', async () => {
  const paying = await startPaying({ PAYOUTS: { address: payoutBase58 } })
  const payout = payoutRequest()
  const withNulls = { ...payout, fee: null, mark: null, proof: null }
  const asked = await read(await paying.send('/ledger/payouts', { payouts: [withNulls] }))
  expect(asked).toMatchObject({ status: 200, body: { data: { replayed: false, list: [{ fee: 0, mark: '' }] } } })
  expect(await read(await paying.send('/ledger/payouts', { payouts: [payout] }))).toMatchObject({
    body: { data: { replayed: true } },
  })
  const approval = { ids: [1], moved: null, attempts: null }
  expect((await paying.send('/ledger/payouts/approve', approval, 'office')).status).toBe(200)
  const cancellation = { ids: [1], why: 'a test', moved: null }
  expect((await paying.send('/ledger/payouts/cancel', cancellation)).status).toBe(200)
  expect((await paying.send('/ledger/payouts/cancel', { ...cancellation, why: null })).status).toBe(400)
  const { rpc } = paying
  // Another Worker can send null in spite of the types.
  expect(await rpc.askPayouts([withNulls as never], 'shop')).toMatchObject({ ok: true, replayed: true })
  expect(await rpc.cancelPayouts([1], 'a test', 'shop', { moved: null as never })).toMatchObject({ ok: true })
})
