import { describe, expect, it } from 'vitest'
import { writable } from '../../src/worker/d1/database.ts'
import { unknownPath } from '../../src/worker/http/errors.ts'
import { withoutTriggers } from '../d1/fixtures.ts'
import { firstAddress, startService } from '../http/service.ts'
import { payoutBase58 } from '../support/payouts.ts'
import {
  ask,
  balance,
  payoutEvents,
  payoutRequest,
  payoutsSetting,
  recipientBase58,
  send,
  shown,
  startPaying,
} from './harness.ts'

/**
 * A compact JWS with these claims and no valid signature: asking for a payout does not check
 * signatures.
 */
const jws = (claims: object, alg = 'EdDSA') => {
  const part = (value: object) =>
    btoa(JSON.stringify(value)).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_')
  return `${part({ alg })}.${part(claims)}.${'A'.repeat(86)}`
}
const proven = { uid: 7, cuy: 2, amt: '5', to: recipientBase58, osn: 'x' }

describe('asking for a payout', () => {
  it('takes the money at once, with a fee as a payment, under one osn', async () => {
    const service = await startPaying()
    const payout = await ask(service, { amt: 2.5, fee: '0.25', osn: 'o1', mark: 'to my wallet' })
    expect(payout).toMatchObject({ state: 'approved', amt: 2.5, fee: 0.25, approved_by: 'limits', attempts: 0 })
    const { data } = await (await service.ledger('/ledger/entries?uid=7&osn=o1')).json<{ data: { list: object[] } }>()
    expect(data.list).toMatchObject([
      { type: 4, amt: -0.25, mark: 'to my wallet', by: 'shop' },
      { type: 2, amt: -2.5, mark: 'to my wallet', by: 'shop' },
    ])
    expect(await balance(service)).toBe(997_250_000)
    expect(await payoutEvents(service)).toEqual(['approved'])
  })

  it('asked for again with the same content it is shown as it is now, in any order', async () => {
    const service = await startPaying()
    const [one, two] = [payoutRequest(), payoutRequest({ amt: '7.50' })]
    const first = await send(service, '', { payouts: [one, two] })
    await send(service, '/cancel', { ids: [first.data?.list[0]?.id], why: 'a test' })
    const again = await send(service, '', { payouts: [{ ...two, amt: '7.5' }, one] })
    expect(again).toMatchObject({ status: 200, data: { replayed: true } })
    expect(again.data?.list.map(({ id, state }) => [id, state])).toEqual([
      [2, 'approved'],
      [1, 'cancelled'],
    ])
    expect(await balance(service)).toBe(992_500_000)
  })

  it.each([
    ['another amount', { amt: '6' }],
    ['a fee', { fee: '1' }],
    ['another recipient', { to: firstAddress }],
    ['another mark', { mark: 'else' }],
    ['a proof', { proof: jws(proven) }],
  ])('with %s it is a conflict, whatever the wallet holds', async (_, changes) => {
    const service = await startPaying()
    const one = payoutRequest(proven)
    await send(service, '', { payouts: [one] })
    expect(await send(service, '', { payouts: [{ ...one, ...changes }] })).toMatchObject({
      status: 409,
      reason: 'content-differs',
    })
  })

  it('by another backend, or with new ones beside it, it is a conflict', async () => {
    const service = await startPaying()
    const one = payoutRequest()
    await send(service, '', { payouts: [one] })
    expect(await send(service, '', { payouts: [one] }, 'till')).toMatchObject({
      status: 409,
      reason: 'backend-differs',
    })
    expect(await send(service, '', { payouts: [one, payoutRequest()] })).toMatchObject({
      status: 409,
      reason: 'partly-known',
    })
    expect(await balance(service)).toBe(995_000_000)
  })

  it('takes all or none', async () => {
    const service = await startPaying()
    const result = await send(service, '', {
      payouts: [payoutRequest({ amt: '600' }), payoutRequest({ amt: '400' }), payoutRequest({ amt: '0.000001' })],
    })
    expect(result).toMatchObject({ status: 422, reason: 'insufficient' })
    expect(result.msg).toBe('payout 3: wallet of user 7 in USDT holds 0, 0.000001 are needed')
    expect(await balance(service)).toBe(1_000_000_000)
    expect(await payoutEvents(service)).toEqual([])
  })

  it('counts the fee for what the wallet must hold', async () => {
    const service = await startPaying()
    expect(await send(service, '', { payouts: [payoutRequest({ amt: '1000', fee: '0.000001' })] })).toMatchObject({
      status: 422,
    })
    expect(await send(service, '', { payouts: [payoutRequest({ amt: '999.999999', fee: '0.000001' })] })).toMatchObject(
      {
        status: 200,
      },
    )
    expect(await balance(service)).toBe(0)
  })

  it.each<[string, object, string]>([
    ['no amount', { amt: undefined }, 'amt'],
    ['zero', { amt: '0' }, 'amt'],
    ['a negative amount', { amt: '-5' }, 'amt'],
    ['an exponent', { amt: '1e3' }, 'amt'],
    ['too many decimals', { amt: '0.0000001' }, 'amt'],
    ['more than fits', { amt: '9007199254.740992' }, 'amt'],
    ['a negative fee', { fee: '-1' }, 'fee'],
    ['a fee that is no decimal', { fee: 'x' }, 'fee'],
    ['an unknown currency', { cuy: 9 }, 'cuy'],
    ['user 0', { uid: 0 }, 'uid'],
    ['the reserved user', { uid: Number.MAX_SAFE_INTEGER }, 'uid'],
    ['no osn', { osn: '' }, 'osn'],
    ['an osn of 201 characters', { osn: 'x'.repeat(201) }, 'osn'],
    ['an osn with a letter beyond ASCII', { osn: 'é' }, 'osn'],
    ['a mark that turns the direction of text', { mark: '\u202e' }, 'mark'],
    ['an address with one character changed', { to: recipientBase58.replace(/.$/, '1') }, 'to'],
    ['an address in hex', { to: `41${'ab'.repeat(20)}` }, 'to'],
    ['an address without a T', { to: recipientBase58.slice(1) }, 'to'],
    ['a member that no payout has', { state: 'approved' }, 'payout'],
    ['a proof of another payout', { proof: jws(proven) }, 'proof'], // test/payouts/proof.test.ts has more such proofs
  ])('refuses %s as bad form', async (_, changes, member) => {
    const service = await startService({ PAYOUTS: payoutsSetting })
    const { status, msg } = await send(service, '', { payouts: [payoutRequest(), payoutRequest(changes)] })
    expect([status, msg]).toEqual([400, expect.stringMatching(`^payout 2: ${member}: `)])
  })

  it.each<[string, unknown, string]>([
    ['none', { payouts: [] }, 'payouts: an array of 1 to 20 payouts'],
    ['21', { payouts: Array.from({ length: 21 }, () => payoutRequest()) }, 'payouts: an array of 1 to 20 payouts'],
    [
      'another member',
      { payouts: [payoutRequest()], by: 'x' },
      'the body must be an object with payouts, and nothing else',
    ],
    [
      'a key twice',
      { payouts: [payoutRequest({ osn: 'a' }), payoutRequest({ osn: 'a' })] },
      'payout 2: osn: another one for each payout of a user and currency',
    ],
  ])('refuses %s', async (_, body, why) => {
    const service = await startService({ PAYOUTS: payoutsSetting })
    expect(await send(service, '', body)).toMatchObject({ status: 400, msg: why })
  })

  it('takes a proof, which the signer alone is shown', async () => {
    const service = await startPaying()
    const proof = jws(proven, 'ES256')
    const { id } = await ask(service, { ...proven, proof })
    expect(await shown(service, id)).not.toHaveProperty('proof')
    const { data } = await (await service.ledger('/ledger/payouts/unsigned')).json<{ data: { list: object[] } }>()
    expect(data.list).toMatchObject([{ id, proof }])
  })

  it.each([
    ['to an address of a user', firstAddress, 'to-user'],
    ['to the payout address', payoutBase58, 'to-payout-address'],
    ['to the contract of a currency', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'to-contract'],
    ['to the address of 20 zero bytes', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', 'to-nobody'],
  ])('refuses a payout %s', async (_, to, reason) => {
    const service = await startPaying()
    expect(await send(service, '', { payouts: [payoutRequest({ to })] })).toMatchObject({ status: 422, reason })
    expect(await balance(service)).toBe(1_000_000_000)
  })
})

describe('the key of a payout and those of entries exclude each other', () => {
  const entry = (type: number, amt: string) => [{ uid: 7, cuy: 2, type, osn: 'k', amt }]

  it.each([
    ['a withdrawal', 2, '-1'],
    ['a refund', 5, '1'],
  ])('%s is known', async (_, type, amt) => {
    const service = await startPaying()
    expect((await service.post(entry(type, amt))).status).toBe(200)
    expect(await send(service, '', { payouts: [payoutRequest({ osn: 'k' })] })).toMatchObject({
      status: 409,
      reason: 'key-in-use',
    })
  })

  it('a payment is known: only a payout with a fee needs its key', async () => {
    const service = await startPaying()
    expect((await service.post(entry(4, '-1'))).status).toBe(200)
    const withFee = await send(service, '', { payouts: [payoutRequest({ osn: 'k', fee: '1' })] })
    expect(withFee).toMatchObject({ status: 409, reason: 'key-in-use' })
    expect(await send(service, '', { payouts: [payoutRequest({ osn: 'k' })] })).toMatchObject({ status: 200 })
  })

  it.each([
    ['its own withdrawal', 2, '-5', 409],
    ['its fee', 4, '-1', 409],
    ['its refund', 5, '6', 409],
    ['a transfer', 9, '-1', 200],
  ])('a payout is known: %s', async (_, type, amt, status) => {
    const service = await startPaying()
    await ask(service, { osn: 'k', fee: '1' })
    const response = await service.post(entry(type, amt))
    expect([response.status, response.headers.get('x-reason')]).toEqual([status, status === 409 ? 'key-in-use' : null])
    await response.text()
  })

  it('its refund stays its own after it was cancelled', async () => {
    const service = await startPaying()
    const { id } = await ask(service, { osn: 'k' })
    await send(service, '/cancel', { ids: [id], why: 'a test' })
    expect((await service.post(entry(5, '5'))).status).toBe(409)
    expect(await balance(service)).toBe(1_000_000_000)
  })
})

describe('at the same time', () => {
  it('200 askings of one balance take what is there and no more', async () => {
    const service = await startPaying({ PAYOUTS: { address: payoutBase58 } })
    const results = await Promise.all(
      Array.from({ length: 200 }, () => send(service, '', { payouts: [payoutRequest({ amt: '30', fee: '1' })] })),
    )
    const count = (status: number) => results.filter((one) => one.status === status).length
    expect([count(200), count(422)]).toEqual([32, 168])
    expect(await balance(service)).toBe(8_000_000)
  })

  it('200 equal askings take the money once', async () => {
    const service = await startPaying()
    const one = payoutRequest()
    const results = await Promise.all(Array.from({ length: 200 }, () => send(service, '', { payouts: [one] })))
    expect(results.every(({ status }) => status === 200)).toBe(true)
    expect(results.filter(({ data }) => data?.replayed === false)).toHaveLength(1)
    expect(await balance(service)).toBe(995_000_000)
  })

  it.each([
    ['of a day', { each: '10', perDay: '55' }, 5],
    ['of a user in a day', { each: '10', perDay: '1000', perUserPerDay: '35' }, 3],
  ])('200 askings cannot pass the limit %s', async (_, limit, approved) => {
    const service = await startPaying({ PAYOUTS: { address: payoutBase58, limits: [{ cuy: 2, ...limit }] } })
    await Promise.all(
      Array.from({ length: 20 }, () =>
        send(service, '', { payouts: Array.from({ length: 5 }, () => payoutRequest({ amt: '10' })) }),
      ),
    )
    const { results } = await service.db.prepare('SELECT state, count(*) AS n FROM payout GROUP BY state').all()
    expect(results).toEqual([
      { state: 'approved', n: approved },
      { state: 'waiting', n: 100 - approved },
    ])
  })
})

describe('limits', () => {
  const withLimits = (limit: object) =>
    startPaying({ PAYOUTS: { address: payoutBase58, limits: [{ cuy: 2, each: '10', perDay: '25', ...limit }] } })

  it('are those of the currency: one without limits waits for a person', async () => {
    const service = await withLimits({})
    expect((await ask(service, { amt: '10' })).state).toBe('approved')
    expect((await ask(service, { amt: '10.000001' })).state).toBe('waiting')
    expect((await ask(service, { cuy: 1, amt: '1' })).state).toBe('waiting')
    expect(await payoutEvents(service)).toEqual(['approved', 'waiting', 'waiting'])
  })

  it('count the last 24 hours, without fees', async () => {
    const service = await withLimits({})
    expect((await ask(service, { amt: '10', fee: '9' })).state).toBe('approved')
    expect((await ask(service, { amt: '10' })).state).toBe('approved')
    expect((await ask(service, { amt: '5.000001' })).state).toBe('waiting')
    expect((await ask(service, { amt: '5' })).state).toBe('approved')
    service.clock.seconds += 86_400 - 5
    expect((await ask(service, { amt: '0.000001' })).state).toBe('waiting')
    service.clock.seconds += 6
    expect((await ask(service, { amt: '10' })).state).toBe('approved')
  })

  it('count what a person has approved, and not what was cancelled', async () => {
    const service = await withLimits({})
    const { id: large } = await ask(service, { amt: '20' })
    expect((await ask(service, { amt: '10' })).state).toBe('approved')
    expect(await send(service, '/approve', { ids: [large] }, 'office')).toMatchObject({ status: 200 })
    expect((await ask(service, { amt: '1' })).state).toBe('waiting')
    await send(service, '/cancel', { ids: [large], why: 'a test' })
    expect((await ask(service, { amt: '10' })).state).toBe('approved')
  })

  it('of a user count that user alone', async () => {
    const service = await withLimits({ perUserPerDay: '10' })
    await service.post([{ uid: 8, cuy: 2, type: 9, osn: 'fund', amt: '100' }])
    expect((await ask(service, { amt: '10' })).state).toBe('approved')
    expect((await ask(service, { amt: '1' })).state).toBe('waiting')
    expect((await ask(service, { uid: 8, amt: '10' })).state).toBe('approved')
  })

  it('of one request count each other', async () => {
    const service = await withLimits({})
    const { data } = await send(service, '', {
      payouts: [payoutRequest({ amt: '10' }), payoutRequest({ amt: '10' }), payoutRequest({ amt: '10' })],
    })
    expect(data?.list.map(({ state }) => state)).toEqual(['approved', 'approved', 'waiting'])
  })
})

it('without PAYOUTS the paths do not exist, and what is stored stays', async () => {
  const service = await startPaying()
  await ask(service)
  const without = service.with({ PAYOUTS: undefined })
  const posts = { '': { payouts: [payoutRequest()] }, '/approve': { ids: [1] }, '/cancel': { ids: [1], why: 'a test' } }
  for (const [path, body] of Object.entries({ ...posts, '/signed': { signed: [{ id: 1, transaction: 'ab' }] } })) {
    expect([path, await send(without, path, body, 'office')]).toMatchObject([
      path,
      { status: 404, msg: unknownPath.msg },
    ])
  }
  for (const path of ['', '/unsigned']) expect((await without.ledger(`/ledger/payouts${path}`)).status).toBe(404)
  expect(await without.rpc.payouts({})).toMatchObject({ ok: false, error: { kind: 'not-found' } })
  expect((await without.post([{ uid: 7, cuy: 2, type: 5, osn: 'other', amt: '1' }])).status).toBe(200)
})

it('what was approved within a day is added up beyond 2^63 smallest units', async () => {
  const service = await startPaying()
  const hour = Math.floor(service.clock.seconds / 3600)
  const rows = [1, 2].map((n) => `INSERT INTO payout_hour VALUES (2, 0, ${hour - n}, 5000000000000000000, 1)`)
  await withoutTriggers(writable(service.db), rows)
  expect((await ask(service)).state).toBe('waiting')
})
