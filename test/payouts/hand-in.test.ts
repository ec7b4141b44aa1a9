import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import { encodeSigned } from '../../src/worker/chain/transaction.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { offeredMax } from '../../src/worker/payouts/offer.ts'
import { brokenDatabase, finalityLag, type RunningService } from '../http/service.ts'
import { correct, headOf, tickLater } from '../scan/harness.ts'
import { payoutBase58, signatureOf, signTransfer } from '../support/payouts.ts'
import {
  ask,
  contentOf,
  handIn,
  mined,
  mineFinal,
  offered,
  passBlocks,
  payoutEvents,
  payoutRequest,
  recipientBase58,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
  trxContent,
} from './harness.ts'

/**
 * A signed transaction with a timestamp of its own, so that its bytes differ from those that the
 * tests sign otherwise.
 */
const laterSigned = async (service: RunningService) => {
  const head = await headOf(service)
  return signTransfer(contentOf(head, { timestamp: BigInt(head.timestamp + 1) }))
}
const broadcastsOf = ({ nodes }: RunningService) => nodes.flatMap(({ broadcasts }) => broadcasts)

describe('what is offered to the signer', () => {
  it('is what is approved, oldest first, with the newest final block and each proof', async () => {
    const service = await startPaying()
    const { id: first } = await ask(service)
    const { id: cancelled } = await ask(service)
    await ask(service, { amt: '500' }) // above the limits: a person must approve it
    const { id: second } = await ask(service, { cuy: 1 })
    await signedPayout(service)
    await send(service, '/cancel', { ids: [cancelled], why: 'a test' })
    const head = await headOf(service)
    const response = await service.ledger('/ledger/payouts/unsigned', {}, { sub: 'signer', scope: 'ledger:sign' })
    const { data } = await response.json<{ data: Record<string, unknown> }>()
    expect(data).toMatchObject({
      count: 2,
      address: payoutBase58,
      list: [
        { id: first, uid: 7, cuy: 2, amt: 5, to: recipientBase58, state: 'approved', attempts: 0 },
        { id: second, cuy: 1 },
      ],
      head: { height: head.height, hash: head.hash },
    })
  })

  it('is at most 100 at once: those after an id are the next ones', async () => {
    const service = await startPaying()
    for (let i = 0; i < 6; i += 1) {
      const payouts = Array.from({ length: 17 }, () => payoutRequest({ amt: '1' }))
      await send(service, '', { payouts })
    }
    const ids = await offered(service)
    expect(ids).toEqual(Array.from({ length: offeredMax }, (_, i) => i + 1))
    const next = await service.ledger(`/ledger/payouts/unsigned?after=${offeredMax}`)
    const { data } = await next.json<{ data: { list: { id: number }[] } }>()
    expect(data.list.map(({ id }) => id)).toEqual([101, 102])
  })

  it('is nothing before a final block is known, and after a correction until one is again', async () => {
    const service = await startPaying()
    await passBlocks(service, 2)
    await ask(service)
    await correct(service, (await headOf(service)).height - 1)
    expect(await offered(service)).toBe('no-final-block')
    await passBlocks(service, 1)
    expect(await offered(service)).toEqual([1])
  })

  it.each(['ledger:read ledger:post ledger:pay ledger:approve', undefined])(
    'is for ledger:sign alone, not %s',
    async (scope) => {
      const service = await startPaying()
      expect((await service.ledger('/ledger/payouts/unsigned', {}, { scope })).status).toBe(403)
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"signed":[]}' }
      expect((await service.ledger('/ledger/payouts/signed', init, { scope })).status).toBe(403)
    },
  )
})

describe('a signed transaction that is handed in', () => {
  it('is stored and sent, and its payout is signed', async () => {
    const service = await startPaying()
    const { id, txid, transaction } = await signedPayout(service)
    expect(await shown(service, id)).toMatchObject({ state: 'signed', txid, attempts: 0 })
    const { timestamp } = await headOf(service)
    const { expires_at } = (await shown(service, id)) as unknown as { expires_at: string }
    expect(Date.parse(expires_at)).toBe(timestamp + 600_000)
    expect(new Set(broadcastsOf(service))).toEqual(new Set([transaction]))
    expect(await payoutEvents(service)).toEqual(['approved', 'signed'])
    expect(await offered(service)).toEqual([])
  })

  it('is taken of TRX as well', async () => {
    const service = await startPaying()
    const { id } = await ask(service, { cuy: 1 })
    const { transaction, txid } = signTransfer(trxContent(await headOf(service)))
    expect(await handIn(service, id, transaction)).toEqual({ id, state: 'signed', txid })
  })

  it('is sent as it came, however its library writes the last byte of a signature', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { transaction, txid } = await sign(service)
    // tronpy, trident, WDK and wallet-core write 0 or 1 for 27 or 28
    const last = Number.parseInt(transaction.slice(-2), 16) - 27
    const written = `${transaction.slice(0, -2)}${last.toString(16).padStart(2, '0')}`
    expect(await handIn(service, id, written)).toEqual({ id, state: 'signed', txid })
    expect(new Set(broadcastsOf(service))).toEqual(new Set([written]))
    // the same transaction in the usual form
    expect(await handIn(service, id, transaction)).toEqual({ id, state: 'signed', txid })
  })

  it('is taken again and again, in other digits or with another signature too, and stays one', async () => {
    const service = await startPaying()
    const { id, rawData, txid, transaction } = await signedPayout(service)
    const signature = signatureOf(rawData)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = order - BigInt(`0x${bytesToHex(signature.subarray(32, 64))}`)
    signature.set(hexToBytes(s.toString(16).padStart(64, '0')), 32)
    signature[64] = signature[64] === 27 ? 28 : 27
    for (const again of [transaction, `0x${transaction.toUpperCase()}`, encodeSigned(rawData, signature)]) {
      expect(await handIn(service, id, again)).toEqual({ id, state: 'signed', txid })
    }
    const { results } = await service.db.prepare('SELECT bytes FROM payout_transaction').all()
    expect(results).toEqual([{ bytes: transaction }])
    expect(await payoutEvents(service)).toEqual(['approved', 'signed'])
  })

  it('is one of its payout: other bytes are refused while the first ones can be mined', async () => {
    const service = await startPaying()
    const { id } = await signedPayout(service)
    const other = await laterSigned(service)
    expect(await handIn(service, id, other.transaction)).toMatchObject({
      refused: { code: 409, reason: 'another-transaction' },
    })
    expect(broadcastsOf(service)).not.toContain(other.transaction)
  })

  it('is that of one payout: for another one, which it would pay as well, it is refused', async () => {
    const service = await startPaying()
    const { transaction } = await signedPayout(service)
    const { id } = await ask(service)
    expect(await handIn(service, id, transaction)).toMatchObject({
      refused: { code: 409, reason: 'transaction-of-another', why: 'this transaction is that of payout 1' },
    })
    expect(await stateOfPayout(service, id)).toBe('approved/0')
  })

  it('of two requests at once for one payout one is taken', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const [one, two] = [await sign(service), await laterSigned(service)]
    const both = await Promise.all([handIn(service, id, one.transaction), handIn(service, id, two.transaction)])
    expect(both.map(({ state, refused }) => state ?? refused?.reason).toSorted()).toEqual([
      'another-transaction',
      'signed',
    ])
  })

  it('of two payouts with one transaction in one request the first one has it', async () => {
    const service = await startPaying()
    const [one, two] = [await ask(service), await ask(service)]
    const { transaction } = await sign(service)
    const signed = [two, one].map(({ id }) => ({ id, transaction }))
    const { data } = await send(service, '/signed', { signed }, 'signer')
    expect(data?.list).toMatchObject([
      { id: two.id, state: 'signed' },
      { refused: { reason: 'transaction-of-another' } },
    ])
  })

  it('is taken or refused alone, in the order sent', async () => {
    const service = await startPaying()
    const { id: one } = await ask(service)
    const { id: two } = await ask(service, { amt: '6' })
    const { id: three } = await ask(service, { amt: '500' })
    const { transaction, txid } = await sign(service)
    const large = await sign(service, { amount: 500_000_000n })
    const signed = [
      { id: 99, transaction },
      { id: two, transaction },
      { id: one, transaction },
      { id: one, transaction: 'zz' },
      { id: three, transaction: large.transaction },
    ]
    const { status, data } = await send(service, '/signed', { signed }, 'signer')
    expect(status).toBe(200)
    expect(data?.list).toEqual([
      { id: 99, refused: { code: 404, reason: 'unknown-payout', why: 'there is no payout 99' } },
      { id: two, refused: { code: 422, reason: 'wrong-amount', why: expect.any(String) } },
      { id: one, state: 'signed', txid },
      { id: one, refused: { code: 422, reason: 'not-a-transaction', why: expect.any(String) } },
      { id: three, refused: { code: 409, reason: 'not-in-this-state', why: `payout ${three} is waiting` } },
    ])
    expect(new Set(broadcastsOf(service))).toEqual(new Set([transaction]))
  })

  it('is refused once it was concluded, whatever became of the payout', async () => {
    const service = await startPaying()
    const { id, transaction, ...signed } = await signedPayout(service)
    await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    await send(service, '/approve', { ids: [id] }, 'office')
    expect(await handIn(service, id, transaction)).toMatchObject({
      refused: { code: 409, reason: 'transaction-ended', why: 'this transaction has ended: failed' },
    })
    const next = await sign(service)
    expect(await handIn(service, id, next.transaction)).toMatchObject({ state: 'signed' })
  })

  it('is refused for an approved one whose earlier, other bytes can be mined, although no step leads there', async () => {
    const service = await startPaying()
    const { id } = await signedPayout(service)
    await service.db.prepare('DROP TRIGGER payout_takes_its_steps').run()
    await service.db.prepare(`UPDATE payout SET state = 'approved' WHERE id = ?`).bind(id).run()
    const { transaction, txid } = await laterSigned(service)
    expect(await handIn(service, id, transaction)).toMatchObject({
      refused: {
        code: 409,
        reason: 'another-transaction',
        why: `payout ${id} has another transaction that can be mined`,
      },
    })
    expect(await service.db.prepare('SELECT count(*) AS n FROM payout_transaction').first('n')).toBe(1)
    expect(broadcastsOf(service)).not.toContain(transaction)
    expect(txid).not.toBe((await shown(service, id)).txid)
  })

  it('is refused for one that is paid or cancelled', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const other = await ask(service)
    await mineFinal(service, mined(signed))
    await send(service, '/cancel', { ids: [other.id], why: 'a test' })
    const { transaction } = await sign(service)
    expect(await handIn(service, id, transaction)).toMatchObject({ refused: { why: `payout ${id} is paid` } })
    expect(await handIn(service, other.id, transaction)).toMatchObject({
      refused: { code: 409, reason: 'not-in-this-state', why: `payout ${other.id} is cancelled` },
    })
  })

  it('that expires later than an hour after the newest final block is refused', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { timestamp } = await headOf(service)
    const late = await sign(service, { expiration: BigInt(timestamp + 3_600_001) })
    expect(await handIn(service, id, late.transaction)).toMatchObject({ refused: { code: 422, reason: 'expiration' } })
    const just = await sign(service, { expiration: BigInt(timestamp + 3_600_000) })
    expect(await handIn(service, id, just.transaction)).toMatchObject({ state: 'signed' })
  })

  it('that has expired is taken and not sent any more', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { timestamp } = await headOf(service)
    const past = await sign(service, { expiration: BigInt(timestamp + 3_000) })
    await passBlocks(service, 2)
    expect(await handIn(service, id, past.transaction)).toMatchObject({ state: 'signed' })
    expect(broadcastsOf(service)).toEqual([])
  })

  it('is not judged while no final block is known', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { transaction } = await sign(service)
    await correct(service, (await headOf(service)).height - 1)
    expect(await send(service, '/signed', { signed: [{ id, transaction }] }, 'signer')).toMatchObject({
      status: 409,
      reason: 'no-final-block',
    })
  })

  it.each([
    ['long', undefined],
    ['short', 100], // its heights are below 65,536, so two bytes can hold a whole height
  ])(
    'waits for a newer final block if its reference block can be above the known one, on a %s chain',
    async (_, firstHeight) => {
      const service = await startPaying({}, { firstHeight })
      const { id } = await ask(service)
      const { height } = await headOf(service)
      service.chain.addEmpty(finalityLag)
      service.clock.seconds += 3 * finalityLag
      const { hash, timeMs } = service.chain.at(height + finalityLag - 1) ?? service.chain.tip()
      const above = { height: (height + finalityLag - 1) as BlockHeight, hash, timestamp: timeMs as UnixMs }
      const { transaction, txid } = signTransfer(contentOf(above))
      expect(await handIn(service, id, transaction)).toEqual({
        id,
        refused: { code: 409, reason: 'no-final-block', why: expect.stringContaining('try again in about 20 s') },
      })
      await tickLater(service)
      expect(await handIn(service, id, transaction)).toEqual({ id, state: 'signed', txid })
      const rescans = await service.db.prepare('SELECT from_height FROM rescan').all()
      expect(rescans.results.every((one) => Number(one.from_height) >= height - 1)).toBe(true)
    },
  )

  it('that refers to no block, and to none that can come soon, is refused on a short chain', async () => {
    const service = await startPaying({}, { firstHeight: 100 })
    const { id } = await ask(service)
    const { height } = await headOf(service)
    const bytes = (height + 40).toString(16).padStart(4, '0') // a block that comes in two minutes
    const far = await sign(service, { reference: { bytes, hash: '9ab280cc3a38bbaa' } })
    expect(await handIn(service, id, far.transaction)).toMatchObject({ refused: { code: 422, reason: 'reference' } })
  })

  it('that must wait for a final block says when to try again, to programs too', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const head = await headOf(service)
    const above = { ...head, height: (head.height + 1) as BlockHeight }
    const [newer, right] = [signTransfer(contentOf(above)), await sign(service)]
    const retryAfter = async (transaction: string) => {
      const body = { signed: [{ id, transaction }] }
      return (await service.send('/ledger/payouts/signed', body, 'signer')).headers.get('retry-after')
    }
    expect(await retryAfter(newer.transaction)).toBe('20')
    expect(await retryAfter(right.transaction)).toBeNull()
    await correct(service, head.height - 1)
    expect(await retryAfter(right.transaction)).toBe('20')
  })

  it('is stored whole or not at all: a database that fails leaves it approved', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { transaction } = await sign(service)
    const broken = service.with({ DB: brokenDatabase() })
    const body = { signed: [{ id, transaction }] }
    expect((await broken.send('/ledger/payouts/signed', body, 'signer')).status).toBe(500)
    expect(await stateOfPayout(service, id)).toBe('approved/0')
    expect(broadcastsOf(service)).toEqual([])
  })
})

it.each([
  ['no list', { signed: { id: 1, transaction: 'ab' } }],
  ['an empty list', { signed: [] }],
  ['21 of them', { signed: Array.from({ length: 21 }, () => ({ id: 1, transaction: 'ab' })) }],
  ['an id as text', { signed: [{ id: '1', transaction: 'ab' }] }],
  ['id 0', { signed: [{ id: 0, transaction: 'ab' }] }],
  ['no transaction', { signed: [{ id: 1 }] }],
  ['another member of one', { signed: [{ id: 1, transaction: 'ab', txid: 'cd' }] }],
  ['another member', { signed: [{ id: 1, transaction: 'ab' }], by: 'me' }],
  ['a list alone', []],
])('a body with %s is refused whole', async (_, body) => {
  const service = await startPaying()
  const { id } = await ask(service)
  expect(await send(service, '/signed', body, 'signer')).toMatchObject({ status: 400 })
  expect(await stateOfPayout(service, id)).toBe('approved/0')
})
