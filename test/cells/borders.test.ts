import { beforeAll, describe, expect, it, test } from 'vitest'
import { reservedUid } from '../../src/worker/common/ids.ts'
import {
  brokenDatabase,
  failed,
  oneEndpoint,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  usdtTo,
} from '../http/service.ts'
import { payoutRequest, recipientBase58 } from '../payouts/harness.ts'
import { payoutBase58 } from '../support/payouts.ts'
import { addressesOf, balanceOf, scanners, startThreeCells, threeCells, tickAll, users } from './three-cells.ts'

const namesCells =
  'the number of a cell: 1 for users 1 to 999999, 2 for users 1000000 to 1999999, 3 for users from 2000000'

const payment = (uid: number, osn: string) => ({ uid, cuy: 2, type: 4, osn, amt: '-1' }) as const

describe('three cells', () => {
  let service: RunningService
  let txids: readonly string[] = []
  beforeAll(async () => {
    service = await startThreeCells(oneEndpoint)
    const addresses = await addressesOf(service)
    txids = payFinal(service, ...addresses.map((address, i) => usdtTo(address, BigInt(i + 1) * 10_000_000n)))
    service.clock.seconds += 60
    await tickAll(service)
    await service.deliver()
  })

  it('credit each user in the cell of the user, and nobody anywhere else', async () => {
    expect(await Promise.all(users.map((uid) => balanceOf(service, uid)))).toEqual([10, 20, 30])
    for (const cell of [1, 2, 3]) {
      const { body } = await read(await service.ledger(`/ledger/deposits?cell=${cell}`))
      expect(body).toMatchObject({ data: { count: 1, list: [{ uid: users[cell - 1] }] } })
    }
  })

  it('look a transaction up in the cell of the user who is named beside it', async () => {
    const findings = users.map((uid, i) => service.ledger(`/ledger/transaction?txid=${txids[i]}&uid=${uid}`))
    for (const [i, finding] of findings.entries()) {
      expect((await read(await finding)).body).toMatchObject({ data: { uid: users[i], answer: 'credited' } })
    }
  })

  it('name their cell in each event that is sent, whose id no other cell has', async () => {
    const credited = service.hooks.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'deposit.credited')
    expect(credited.map(({ cell, uid }) => [cell, uid]).toSorted()).toEqual(users.map((uid, i) => [i + 1, uid]))
  })

  it('read each block of a common tick once', async () => {
    await tickAll(service)
    service.chain.addEmpty(1)
    service.clock.seconds += 20
    const before = requestsOf(service)
    await service.tick(scanners[0])
    const ofOne = requestsOf(service) - before
    await service.tick(scanners[1])
    await service.tick(scanners[2])
    expect(ofOne).toBeGreaterThan(0)
    expect(requestsOf(service) - before).toBe(ofOne)
  })

  test.each([
    '/ledger/events',
    '/ledger/summary',
    '/ledger/deposits',
    '/ledger/entries',
    '/ledger/statement?day=2026-11-01',
    `/ledger/transaction?txid=${'a'.repeat(64)}`,
    `/ledger/wallets?uid=${reservedUid}`,
    '/ledger/address?address=TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6',
  ])('answer %s only for a named cell, and say which there are', async (path) => {
    expect(await read(await service.ledger(path))).toEqual(failed(400, `cell: ${namesCells}`))
    const mark = path.includes('?') ? '&' : '?'
    for (const wrong of ['0', '4', 'x', '', '01', '1e0', '2&cell=2']) {
      expect(await read(await service.ledger(`${path}${mark}cell=${wrong}`))).toEqual(
        failed(400, `cell: ${namesCells}`),
      )
    }
    expect((await service.ledger(`${path}${mark}cell=2`)).status).not.toBe(500)
    expect(await (await service.ledger(`${path}${mark}cell=2`)).text()).not.toContain('the number of a cell')
  })

  it.each(['0', 'x', '', '1.5', '7&uid=8'])('refuse uid=%s as one cell does', async (uid) => {
    const { status, body } = await read(await service.ledger(`/ledger/wallets?uid=${uid}`))
    expect(status).toBe(400)
    expect(body).toMatchObject({ msg: expect.stringMatching(/^uid: /) })
  })

  it('lead a uid to its cell, and refuse another cell for it', async () => {
    for (const [i, uid] of users.entries()) {
      const path = `/ledger/wallets?uid=${uid}`
      expect((await service.ledger(path)).status).toBe(200)
      expect((await service.ledger(`${path}&cell=${i + 1}`)).status).toBe(200)
      const refusal = await service.ledger(`${path}&cell=${((i + 1) % 3) + 1}`)
      expect(refusal.headers.get('x-reason')).toBe('other-cell')
      expect(refusal.status).toBe(422)
    }
  })

  it('store nothing of a post whose users are in two cells', async () => {
    const refusal = await service.post([payment(users[0], 'two'), payment(users[1], 'two')])
    expect(await read(refusal)).toEqual(failed(422, 'its users are in several cells: send one request for each'))
    for (const uid of users) {
      const { body } = await read(await service.ledger(`/ledger/entries?uid=${uid}&osn=two`))
      expect(body).toMatchObject({ data: { count: 0 } })
    }
  })

  test.each([
    '{',
    [],
    { entries: 7 },
    { entries: [] },
    { entries: [{ ...payment(7, 'x'), uid: '7' }] },
    { entries: [payment(0, 'x')] },
  ])('refuse the wrong body %j as a named cell does', async (body) => {
    const [without, named] = await Promise.all(
      ['', '?cell=2'].map(async (query) => read(await service.send(`/ledger/entries${query}`, body))),
    )
    expect(without).toEqual(named)
    expect(without).toMatchObject({ status: 400, body: { msg: expect.not.stringContaining('cell') } })
  })

  it('move money between two of them by two posts, which are repeated until both are known', async () => {
    const gift = (uid: number, amt: string) => ({ uid, cuy: 2, type: 9, osn: 'gift-1', amt, mark: 'from cell 3 to 2' })
    for (let again = 0; again < 2; again += 1) {
      expect((await service.post([gift(users[2], '-5')])).status).toBe(200)
      expect((await service.post([gift(users[1], '5')])).status).toBe(200)
    }
    expect(await Promise.all(users.map((uid) => balanceOf(service, uid)))).toEqual([10, 25, 25])
  })

  it('have bookmarks that say nothing in another cell', async () => {
    const first = await service.get('/wallet/list', users[0])
    const bookmark = first.headers.get('x-d1-bookmark') ?? ''
    expect(bookmark).toMatch(/^1-[0-9a-f]+-/)
    for (const uid of users) {
      const later = await service.get('/wallet/list', uid, { headers: { 'x-d1-bookmark': bookmark } })
      expect(later.status).toBe(200)
    }
    expect(service.lines.filter((line) => line.includes('bookmark-refused'))).toEqual([])
  })

  it('answer other Workers by the same borders', async () => {
    const { rpc } = service
    const post = [payment(users[0], 'rpc'), payment(users[1], 'rpc')]
    expect(await rpc.post(post, 'shop')).toMatchObject({ ok: false, error: { reason: 'other-cell' } })
    expect(await rpc.wallets(users[1])).toMatchObject({ ok: true, list: [{ cuy: 1 }, { cuy: 2, amt: '25' }] })
    expect(await rpc.wallets(reservedUid)).toMatchObject({ ok: false, error: { member: 'cell' } })
    expect(await rpc.wallets(reservedUid, { cell: 2 })).toMatchObject({ ok: true })
    expect(await rpc.entries({ uid: reservedUid, cell: 2 })).toMatchObject({ ok: true, count: 0 })
    expect(await rpc.wallets(0)).toMatchObject({ ok: false, error: { member: 'uid' } })
    expect(await rpc.events(0)).toEqual({ ok: false, error: { kind: 'bad-input', member: 'cell', why: namesCells } })
    expect(await rpc.events(0, 100, { cell: 3 })).toMatchObject({ ok: true, list: expect.any(Array) })
    expect(await rpc.approvePayouts([1], 'office')).toMatchObject({ ok: false, error: { member: 'cell' } })
    const unconfigured = { ok: false, error: { kind: 'not-found', why: 'payouts are not configured' } }
    expect(await rpc.approvePayouts([1], 'office', { cell: 2 })).toEqual(unconfigured)
    expect(await rpc.cancelPayouts([1], 'why', 'office', { cell: 2 })).toEqual(unconfigured)
    expect(await rpc.post([payment(users[1], 'rpc')], 'shop')).toMatchObject({ ok: true, replayed: false })
  })
})

describe('a payout', () => {
  it('is never to the payout address of another cell either: nobody would be credited', async () => {
    const [own, other] = [payoutBase58, recipientBase58]
    const [first, second, third] = threeCells
    const three = await startThreeCells()
    const service = three.with({
      CELLS: [{ ...first, payouts: { address: other } }, { ...second, payouts: { address: own } }, third],
    })
    for (const to of [own, other]) {
      const refused = await service.send('/ledger/payouts', { payouts: [payoutRequest({ uid: users[1], to })] })
      expect([refused.status, refused.headers.get('x-reason')]).toEqual([422, 'to-payout-address'])
    }
  })
})

describe('the owner of reserved addresses', () => {
  it('is in each cell, and is found by the other users of a post or by the named cell', async () => {
    const service = await startThreeCells()
    await addressesOf(service)
    const give = [
      { uid: reservedUid, cuy: 2, type: 3, osn: 'found', amt: '-1' },
      { uid: users[1], cuy: 2, type: 3, osn: 'found', amt: '1' },
    ]
    const refused = await read(await service.post(give))
    expect(refused).toMatchObject({ status: 422, body: { msg: expect.stringContaining('holds 0') } })
    expect((await service.ledger(`/ledger/wallets?uid=${reservedUid}&cell=3`)).status).toBe(200)
  })
})

describe('a cell that fails', () => {
  it('neither delays nor changes anything of another one', async () => {
    const service = await startThreeCells()
    const [, address] = await addressesOf(service)
    if (address === undefined) throw new Error('no address')
    const broken = service.with({ DB: brokenDatabase() })
    payFinal(service, usdtTo(address, 3_000_000n))
    service.clock.seconds += 60
    await broken.tick(scanners[0]).catch(() => undefined)
    await broken.tick(scanners[1])
    expect(await balanceOf(broken, users[1])).toBe(3)
    expect((await broken.get('/wallet/list', users[0])).status).toBe(500)
    expect((await broken.get('/currencies', users[1])).status).toBe(200)
    expect((await broken.get('/health', null)).status).toBe(500)
  })

  it('is the one that /health speaks of', async () => {
    const service = await startThreeCells()
    await addressesOf(service)
    await tickAll(service)
    expect(await read(await service.get('/health', null))).toMatchObject({ status: 200 })
    await service.db.prepare(`UPDATE scan SET halted = 'block 5 does not follow block 4'`).run()
    service.clock.seconds += 5
    const stopped = await service.get('/health', null)
    expect(stopped.headers.get('x-reason')).toBe('chain-forked')
    expect(await read(stopped)).toMatchObject({
      status: 503,
      body: { msg: 'cell 1: the scan is halted: block 5 does not follow block 4' },
    })
    const open = async (uid: number | null) => {
      const { body } = await read(await service.get('/currencies', uid))
      return (body as { data: { list: { open: boolean }[] } }).data.list.map((one) => one.open)
    }
    expect(await open(users[1])).toEqual([true, true])
    expect(await open(users[0])).toEqual([false, false])
    expect(await open(null)).toEqual([false, false]) // without a user the answer covers all cells, and one is halted
  })
})
