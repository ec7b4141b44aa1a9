import { beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import {
  addressIn,
  failed,
  oneEndpoint,
  payFinal,
  postInit,
  type RunningService,
  read,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import {
  alarmsOf,
  balancesOf,
  breakNodes,
  correct,
  eventsOf,
  headOf,
  rescan,
  statesOf,
  tickLater,
  usdtWith,
  withAddress,
} from './harness.ts'

const most = BigInt(Number.MAX_SAFE_INTEGER)
const looked = { why: 'looked at' }
const waiting = 'it is being looked at before it is credited'
const refusal = '25 USDT was looked at by the operator of this service and is not credited'

let service: RunningService
let own: Address

beforeEach(async () => {
  const started = await withAddress({ CURRENCIES: usdtWith({ reviewFrom: '20' }), ...oneEndpoint })
  service = started.service
  own = started.own
  await service.tick()
})

const decide = async (deposits: unknown, claims = {}) =>
  read(await service.ledger('/ledger/deposits/decide', postInit({ deposits }), claims))
const credit = (txid: string, more = {}) => ({ txid, position: 0, decision: 'credit', ...looked, ...more })
const refuse = (txid: string, more = {}) => credit(txid, { decision: 'refuse', ...more })
const ask = async (txid: string, uid = 7) => read(await service.get(`/tron/recharge?txid=${txid}`, uid))
/** Makes a final USDT deposit that is held for review. Returns its txid. */
const hold = async (amount = 25_000_000n) => {
  const [txid = ''] = payFinal(service, usdtTo(own, amount))
  await tickLater(service)
  return txid
}

describe('a deposit from reviewFrom on', () => {
  it('is held, and a smaller one is credited', async () => {
    payFinal(service, usdtTo(own, 20_000_000n), usdtTo(own, 19_999_999n), trxTo(own, 1_000_000_000n))
    await tickLater(service)
    expect(await statesOf(service)).toEqual(expect.arrayContaining(['held:review', 'credited', 'credited']))
    expect(await balancesOf(service)).toEqual({ 1: 1000, 2: 19.999999 })
  })

  it('says so to its caller: in the answers, in the list, and by an event', async () => {
    const txid = await hold()
    expect(await ask(txid)).toEqual(failed(409, waiting))
    expect(await textOf(service, '/tron/recharge')).toContain(`1 transfer not credited yet: ${waiting}`)
    expect(await textOf(service, '/tron/deposits')).toContain(`"state":"held"`)
    expect(await textOf(service, '/tron/deposits')).toContain(`"reason":"review","why":"${waiting}"`)
    await service.deliver()
    const [body = ''] = service.hooks.map((hook) => hook.body)
    expect(JSON.parse(body)).toMatchObject({ type: 'deposit.held', data: { txid, position: 0, reason: 'review' } })
  })

  it('has any other reason first', async () => {
    const strict = usdtWith({ reviewFrom: '0' }).map((one) => ({ ...one, minDeposit: '1' }))
    const retired = strict.map((one) => (one.cuy === 2 ? { ...one, retired: true } : one))
    payFinal(service, usdtTo(own, 1n))
    await tickLater(service.with({ CURRENCIES: strict }))
    payFinal(service, usdtTo(own, 2_000_000n))
    await tickLater(service.with({ CURRENCIES: retired }))
    payFinal(service, usdtTo(own, most + 1n))
    await tickLater(service.with({ CURRENCIES: strict }), 100)
    expect(await statesOf(service)).toEqual(['refused:below-minimum', 'held:review', 'held:too-large'])
  })

  it('stays held whatever the setting is later, also if its block is read again', async () => {
    await hold()
    const without = service.with({ CURRENCIES: usdtWith({ reviewFrom: '1000' }) })
    await rescan(service, 0, 20)
    await tickLater(without, 60)
    await tickLater(without, 60)
    expect(await statesOf(service)).toEqual(['held:review'])
    expect(await balancesOf(without)).toEqual({ 1: 0, 2: 0 })
  })

  it('is stored by a question that finds it first, with its event, and credited by the decision', async () => {
    const chainBefore = service.chain.tip().height
    const [txid = ''] = payFinal(service, usdtTo(own, 25_000_000n))
    expect(await ask(txid)).toEqual(failed(409, waiting))
    expect(await statesOf(service)).toEqual(['held:review'])
    expect(await eventsOf(service)).toEqual(['deposit.held'])
    await service.deliver()
    expect(service.hooks).toHaveLength(1)
    expect(await decide([credit(txid)])).toMatchObject({ status: 200 })
    await tickLater(service)
    expect(service.chain.tip().height).toBeGreaterThan(chainBefore)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await eventsOf(service)).toEqual(['deposit.held', 'deposit.credited'])
  })

  it('raises an alarm where it waits for more than an hour', async () => {
    const txid = await hold()
    await tickLater(service, 3_500)
    expect(alarmsOf(service, 'review-overdue')).toEqual([])
    await tickLater(service, 120)
    await tickLater(service, 120)
    expect(alarmsOf(service, 'review-overdue')).toMatchObject([{ cuy: 2, txid, position: 0 }])
  })
})

describe('a decision', () => {
  it('credits the deposit exactly once, and is kept with its reason and its backend', async () => {
    const txid = await hold()
    const { status, body } = await decide([credit(txid)])
    const decided = { decision: 'credit', why: 'looked at', by: 'shop' }
    const item = { id: 1, txid, position: 0, cuy: 2, amt: 25, state: 'credited', entry: 2, uid: 7, decided }
    expect(status).toBe(200)
    expect(body).toMatchObject({ data: { list: [item], count: 1, replayed: false } })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await ask(txid)).toMatchObject({ status: 200 })
    await service.deliver()
    expect(service.hooks.map((hook) => JSON.parse(hook.body).type)).toEqual(['deposit.held', 'deposit.credited'])
    const listed = await service.ledger('/ledger/deposits?uid=7')
    expect(await listed.json()).toMatchObject({ data: { list: [{ decided }] } })
    expect(await textOf(service, '/tron/deposits')).not.toContain('decided')
  })

  it('is answered again as the first time, whatever its reason and its backend', async () => {
    const txid = await hold()
    const first = await decide([credit(txid)])
    const again = await decide([credit(txid, { why: 'another' })], { sub: 'office' })
    expect(again).toEqual({
      ...first,
      body: { ...(first.body as object), data: { ...(first.body as { data: object }).data, replayed: true } },
    })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await decide([refuse(txid)])).toEqual(failed(409, 'deposit 1: it was decided to credit it'))
  })

  it('refuses the deposit, and can still credit it', async () => {
    const txid = await hold()
    expect(await decide([refuse(txid)])).toMatchObject({
      body: { data: { list: [{ state: 'refused', reason: 'review', why: refusal }], replayed: false } },
    })
    expect(await ask(txid)).toEqual(failed(422, refusal))
    expect(await eventsOf(service)).toEqual(['deposit.held', 'deposit.refused'])
    await rescan(service, 0, 20)
    await tickLater(service, 60)
    await tickLater(service, 60)
    expect(await statesOf(service)).toEqual(['refused:review'])
    expect(await decide([credit(txid)], { sub: 'office' })).toMatchObject({
      body: { data: { list: [{ state: 'credited', decided: { decision: 'credit', by: 'office' } }], replayed: false } },
    })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('is made about all of a list or none', async () => {
    const [held, other] = [await hold(), await hold(1_000_000n)]
    const unknown = 'ab'.repeat(32)
    expect(await decide([credit(held), credit(unknown)])).toEqual(failed(404, 'deposit 2: no such transfer'))
    expect(await decide([credit(held), credit(other)])).toEqual(
      failed(409, 'deposit 2: it is credited, not held for review'),
    )
    expect(await statesOf(service)).toEqual(['held:review', 'credited'])
    const second = await hold()
    expect(await decide([refuse(second), credit(`0x${held.toUpperCase()}`)])).toMatchObject({
      status: 200,
      body: { data: { list: [{ txid: second }, { txid: held }], count: 2 } },
    })
    expect(await statesOf(service)).toEqual(['credited', 'credited', 'refused:review'])
  })

  it('to credit what its wallet has no room for holds it for that, until there is room', async () => {
    await decide([credit(await hold(most - 5n))])
    const txid = await hold()
    expect(await decide([credit(txid)])).toMatchObject({
      body: { data: { list: [{ state: 'held', reason: 'wallet-full', decided: { decision: 'credit' } }] } },
    })
    expect(await decide([credit(txid)])).toMatchObject({ body: { data: { replayed: true } } })
    await service.post([{ uid: 7, cuy: 2, type: 2, osn: 'w1', amt: '-1000' }])
    await tickLater(service)
    expect(await statesOf(service)).toEqual(['credited', 'credited'])
  })

  it('holds two deposits apart that fit into the wallet one by one, not together', async () => {
    const all = [await hold(most - 25_000_000n), await hold(), await hold()]
    expect(await decide(all.map((txid) => credit(txid)))).toMatchObject({ status: 200 })
    expect(await statesOf(service)).toEqual(['credited', 'credited', 'held:wallet-full'])
  })

  it('to credit a currency that was retired meanwhile is kept until the currency comes back', async () => {
    const txid = await hold()
    const retired = service.with({ CURRENCIES: usdtWith({ retired: true }) })
    const response = await retired.ledger('/ledger/deposits/decide', postInit({ deposits: [credit(txid)] }))
    expect(response.status).toBe(200)
    expect(await statesOf(service)).toEqual(['held:retired'])
    await tickLater(service, 60)
    expect(await statesOf(service)).toEqual(['credited'])
  })

  it('to credit is not undone by a minimum that was raised meanwhile', async () => {
    const txid = await hold()
    const strict = service.with({ CURRENCIES: usdtWith({ minDeposit: '100' }) })
    await strict.ledger('/ledger/deposits/decide', postInit({ deposits: [credit(txid)] }))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('to credit a retired currency is not undone by a minimum that was raised before it comes back', async () => {
    const txid = await hold()
    const retired = service.with({ CURRENCIES: usdtWith({ retired: true }) })
    await retired.ledger('/ledger/deposits/decide', postInit({ deposits: [credit(txid)] }))
    expect(await statesOf(service)).toEqual(['held:retired'])
    await tickLater(service.with({ CURRENCIES: usdtWith({ minDeposit: '100' }) }), 60)
    expect(await statesOf(service)).toEqual(['credited'])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('to credit is not undone by a minimum that was raised before a correction has its block read again', async () => {
    const { height } = await headOf(service)
    const txid = await hold()
    const retired = service.with({ CURRENCIES: usdtWith({ retired: true }) })
    await retired.ledger('/ledger/deposits/decide', postInit({ deposits: [credit(txid)] }))
    await correct(service, height)
    expect(await statesOf(service)).toEqual(['seen'])
    await tickLater(service.with({ CURRENCIES: usdtWith({ minDeposit: '100' }) }), 60)
    expect(await statesOf(service)).toEqual(['credited'])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('credits nothing while the chain is known to be forked', async () => {
    const txid = await hold()
    await service.db.prepare(`UPDATE scan SET halted = 'a test'`).run()
    expect(await decide([credit(txid)])).toMatchObject({ status: 409 })
    expect(await statesOf(service)).toEqual(['held:review'])
    expect(await decide([refuse(txid)])).toMatchObject({ status: 200 })
  })

  it('asks no node', async () => {
    const txid = await hold()
    breakNodes(service)
    expect(await decide([credit(txid)])).toMatchObject({ status: 200 })
  })

  it('is made once by many requests at once', async () => {
    const txid = await hold()
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => decide([credit(txid)], { sub: `b${i}` })))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(answers.filter(({ body }) => !(body as { data: { replayed: boolean } }).data.replayed)).toHaveLength(1)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('of two backends that differ at once is one or the other', async () => {
    const txid = await hold()
    await Promise.all([decide([refuse(txid)], { sub: 'one' }), decide([credit(txid)], { sub: 'two' })])
    expect(await statesOf(service)).toEqual(['credited']) // a credit may follow a refusal, but nothing follows a credit
  })

  it('cannot be made by a token that may only read or post', async () => {
    const txid = await hold()
    const answer = await decide([credit(txid)], { scope: 'ledger:read ledger:post' })
    expect(answer).toEqual(failed(403, 'the scope of the token must include ledger:approve'))
  })

  it.each([
    [undefined, 'deposits: an array of 1 to 20 decisions'],
    [[], 'deposits: an array of 1 to 20 decisions'],
    [{}, 'deposits: an array of 1 to 20 decisions'],
    [
      Array.from({ length: 21 }, (_, i) => credit(String(i).padStart(64, '0'))),
      'deposits: an array of 1 to 20 decisions',
    ],
    [[7], 'deposit 1: deposit: an object with txid, position, decision and why, and nothing else'],
    [
      [{ ...credit('1'.repeat(64)), by: 'me' }],
      'deposit 1: deposit: an object with txid, position, decision and why, and nothing else',
    ],
    [[credit('1'.repeat(63))], 'deposit 1: txid: 64 hex digits, optionally prefixed with 0x'],
    [[credit('1'.repeat(64), { position: -1 })], 'deposit 1: position: the position of the transfer, as it is listed'],
    [[credit('1'.repeat(64), { position: '0' })], 'deposit 1: position: the position of the transfer, as it is listed'],
    [[credit('1'.repeat(64), { decision: 'wait' })], 'deposit 1: decision: one of credit, refuse'],
    [[credit('1'.repeat(64)), refuse('1'.repeat(64))], 'deposit 2: position: another transfer than deposit 1'],
    ...['', ' ', '\u2800', '\u00a0\u3000', '\u0301', 'x'.repeat(201), 'a\nb', 'a\u202eb', 7, undefined].map((why) => [
      [credit('1'.repeat(64), { why })],
      'deposit 1: why: 1 to 200 characters that can be read, without control characters or those that turn the direction of text',
    ]),
  ] as [unknown, string][])('is refused with %j', async (deposits, msg) => {
    expect(await decide(deposits)).toEqual(failed(400, msg))
  })

  it('takes a reason of 200 characters of any language', async () => {
    const txid = await hold()
    expect(await decide([credit(txid, { why: `${'查'.repeat(199)}😀` })])).toMatchObject({ status: 200 })
  })
})

describe('what belongs to another caller', () => {
  it('is held for that caller alone', async () => {
    const other = await addressIn(await service.get('/tron/generate', 8))
    const [txid = ''] = payFinal(service, usdtTo(other, 25_000_000n))
    await tickLater(service)
    expect(await ask(txid)).toMatchObject({ status: 422 })
    expect(await ask(txid, 8)).toEqual(failed(409, waiting))
    expect(await textOf(service, '/tron/deposits')).toContain('"count":0')
  })
})
