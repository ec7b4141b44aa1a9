import { beforeEach, describe, expect, test } from 'vitest'
import { reservedUid } from '../../../src/worker/common/ids.ts'
import {
  addressFrom,
  failed,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  reserveAddress,
  secondAddress,
  startService,
  trxTo,
} from '../service.ts'

let service: RunningService
let txid = ''

/**
 * User 7 has the first address. The second one is reserved, and a deposit of 3.5 TRX to it is
 * final.
 */
beforeEach(async () => {
  service = await startService()
  await service.get('/tron/generate')
  await reserveAddress(service, 1, secondAddress)
  txid = payFinal(service, trxTo(addressFrom(secondAddress), 3_500_000n))[0] ?? ''
})

const dataOf = async (path: string) =>
  ((await read(await service.ledger(path))).body as { readonly data: unknown }).data
const amounts = async (uid: number) =>
  ((await dataOf(`/ledger/wallets?uid=${uid}`)) as { readonly list: readonly { readonly amt: number }[] }).list.map(
    ({ amt }) => amt,
  )
const transfer = (uid: number, amt: string, changes = {}) => ({
  uid,
  cuy: 1,
  type: 3,
  osn: 'restored',
  amt,
  ...changes,
})

describe('what arrived at a reserved address', () => {
  test('can be read by a backend: whose it is, wallets, deposits and entries', async () => {
    const whose = { uid: reservedUid, id: 2, address: secondAddress, frozen: [], reserved: true }
    expect(await dataOf(`/ledger/address?address=${secondAddress}`)).toEqual(whose)
    expect(await dataOf(`/ledger/transaction?txid=${txid}`)).toMatchObject({ uid: reservedUid, answer: 'creditable' })
    await service.tick()
    expect(await dataOf(`/ledger/transaction?txid=${txid}`)).toMatchObject({ uid: reservedUid, answer: 'credited' })
    expect(await amounts(reservedUid)).toEqual([3.5, 0])
    const entry = { uid: reservedUid, osn: txid, type: 1, amt: 3.5 }
    expect(await dataOf(`/ledger/entries?uid=${reservedUid}`)).toMatchObject({ list: [entry], count: 1 })
    const deposit = { uid: reservedUid, txid, address: secondAddress, state: 'credited' }
    expect(await dataOf(`/ledger/deposits?uid=${reservedUid}`)).toMatchObject({ list: [deposit], count: 1 })
    expect(await service.rpc.wallets(reservedUid)).toMatchObject({ ok: true, list: [{ amt: '3.5', cuy: 1 }, {}] })
    expect(await service.rpc.entries({ uid: reservedUid })).toMatchObject({ ok: true, list: [{ osn: txid }] })
  })

  test('reaches its user by a transfer, once, and the sum that is owed stays', async () => {
    await service.tick()
    const owed = "SELECT sum(part_5), sum(part_6) FROM total WHERE kind GLOB 'entry *'"
    const before = await service.db.prepare(owed).raw()
    const post = [transfer(reservedUid, '-3.5'), transfer(7, '3.5')]
    for (const replayed of [false, true]) {
      expect(await read(await service.post(post))).toMatchObject({ status: 200, body: { data: { replayed } } })
    }
    expect([await amounts(reservedUid), await amounts(7)]).toEqual([
      [0, 0],
      [3.5, 0],
    ])
    expect(await service.db.prepare(owed).raw()).toEqual(before)
  })

  test('cannot be given twice, or before it is there', async () => {
    const post = [transfer(reservedUid, '-3.5'), transfer(7, '3.5')]
    expect((await service.post(post)).status).toBe(422)
    await service.tick()
    expect((await service.post(post)).status).toBe(200)
    expect((await service.post(post.map((entry) => ({ ...entry, osn: 'again' })))).status).toBe(422)
  })
})

describe('the owner of reserved addresses', () => {
  const why = `${reservedUid} is reserved: it only gives, in transfers (type 3) with a negative amt`

  test.each([
    ['an adjustment down', { type: 9, amt: '-1' }],
    ['an adjustment up', { type: 9, amt: '1' }],
    ['a withdrawal', { type: 2, amt: '-1' }],
    ['a payment', { type: 4, amt: '-1' }],
    ['a refund', { type: 5, amt: '1' }],
    ['a transfer to it', { type: 3, amt: '1' }],
  ])('refuses %s, by either door', async (_, changes) => {
    await service.tick()
    const entries = [{ ...transfer(reservedUid, '1'), ...changes }, transfer(7, '-1', { type: 3 })].slice(
      0,
      changes.type === 3 ? 2 : 1,
    )
    expect(await read(await service.post(entries))).toEqual(failed(400, `entry 1: uid: ${why}`))
    const sent = entries.map((entry) => ({ ...entry, type: entry.type as 3 }))
    expect(await service.rpc.post(sent, 'shop')).toEqual({
      ok: false,
      error: { kind: 'bad-input', entry: 1, member: 'uid', why },
    })
    expect(await service.db.prepare('SELECT count(*) AS n FROM flow').first('n')).toBe(1)
  })

  test('shows its newest address, and gets no further one, nor a first one', async () => {
    expect(await dataOf(`/ledger/address?uid=${reservedUid}`)).toEqual({ id: 2, address: secondAddress })
    expect(await service.rpc.address(reservedUid)).toEqual({ ok: true, id: 2, address: secondAddress })
    const refusal = `not allowed for ${reservedUid}, which is reserved`
    const fresh = await service.ledger(`/ledger/address?uid=${reservedUid}&fresh=1`)
    expect(await read(fresh)).toEqual(failed(400, `fresh: ${refusal}`))
    expect(await service.rpc.address(reservedUid, { fresh: true })).toMatchObject({
      ok: false,
      error: { kind: 'bad-input', member: 'fresh', why: refusal },
    })
    const other = await startService()
    expect(await read(await other.ledger(`/ledger/address?uid=${reservedUid}`))).toEqual(failed(404, 'no such address'))
    expect([requestsOf(other), await other.db.prepare('SELECT count(*) AS n FROM address').first('n')]).toEqual([0, 0])
  })

  test('is no caller', async () => {
    for (const path of ['/wallet/list', '/tron/generate']) {
      expect((await service.get(path, reservedUid)).status).toBe(401)
    }
  })
})
