import { beforeAll, describe, expect, test } from 'vitest'
import { blockSeconds } from '../../../src/worker/chain/block.ts'
import { pageRowsMax } from '../../../src/worker/http/routes/wallet-flow-list.ts'
import { depositStates } from '../../../src/worker/schemas/deposit.ts'
import { usdtBase58 } from '../../support/variables.ts'
import {
  addressIn,
  dropTransfer,
  failed,
  finalityLag,
  firstAddress,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  startService,
  textOf,
  trxTo,
  usdtTo,
} from '../service.ts'

interface Item {
  readonly id: number
  readonly txid: string
  readonly state: string
}

const listed = async (service: RunningService, query = '', uid = 7) => {
  const { status, body } = await read(await service.get(`/tron/deposits${query}`, uid))
  const { data } = body as { data: { list: Item[]; count: number } }
  return { status, ids: data.list.map(({ id }) => id), list: data.list, count: data.count }
}

/** TRX with more decimals than the ledger keeps, and USDT with a minimum. */
const currencies = [
  { cuy: 1, symbol: 'TRX', decimals: 6, scale: 2 },
  { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6, minDeposit: '1.5' },
]
const withoutTimes = (text: string) =>
  text.replaceAll(/"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, 'created')

describe('GET /tron/deposits', () => {
  test('has a transfer in each state, with all members in the documented order and every digit', async () => {
    const service = await startService({ CURRENCIES: currencies })
    const to = await addressIn(await service.get('/tron/generate'))
    const small = usdtTo(to, 1_499_999n)
    const txids = payFinal(service, trxTo(to, 9_007_199_254_740_993_456n), trxTo(to, 1n), small)
    await service.tick()
    const large = payFinal(service, usdtTo(to, 10n ** 60n + 1n))
    await service.tick()
    const [coming] = service.chain.add([usdtTo(to, 2_500_000n)]).transactions
    service.clock.seconds += 20
    await service.tick()
    const text = withoutTimes(await textOf(service, '/tron/deposits'))
    const item = (id: number, txid: string | undefined, cuy: number, amt: string, state: string, more: string) =>
      `{"id":${id},"txid":"${txid}","position":0,"cuy":${cuy},"amt":${amt},"address":"${firstAddress}","state":"${state}",created,${more}}`
    const seconds = /"seconds":(\d+)/.exec(text)?.[1] ?? ''
    const below = '"1.499999 USDT is below the smallest deposit that is credited, 1.5 USDT"'
    const list = [
      item(5, coming?.txid, 2, '2.5', 'seen', `"seconds":${seconds}`),
      item(
        ...([4, large[0], 2, `1${'0'.repeat(54)}.000001`, 'held'] as const),
        '"reason":"too-large","why":"it is too large for one entry; an operator must decide about it"',
      ),
      item(3, txids[2], 2, '1.499999', 'refused', `"reason":"below-minimum","why":${below}`),
      item(
        ...([2, txids[1], 1, '0.000001', 'refused'] as const),
        '"reason":"dust","why":"0.000001 TRX is less than the smallest amount in a wallet, 0.01 TRX"',
      ),
      item(1, txids[0], 1, '9007199254740.99', 'credited', '"entry":1'),
    ]
    expect(text).toBe(`{"code":200,"msg":"success","data":{"list":[${list.join()}],"count":5}}`)
    expect(Number(seconds)).toBeLessThanOrEqual((finalityLag + 1) * blockSeconds)
    expect((await listed(service, `?state=held&cuy=2`)).ids).toEqual([4])
  })

  test('has a transfer from seen to credited under one id, without asking a node', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    await service.tick()
    expect(await listed(service)).toMatchObject({ list: [], count: 0 })
    service.chain.add([usdtTo(to, 1n)])
    service.clock.seconds += 20
    await service.tick()
    const requests = requestsOf(service)
    const first = await listed(service)
    expect(first.list).toMatchObject([{ id: 1, state: 'seen', seconds: expect.any(Number) }])
    expect(requestsOf(service)).toBe(requests)
    service.chain.addEmpty(finalityLag)
    service.clock.seconds += 60
    await service.tick()
    const [last] = (await listed(service)).list
    expect(last).toEqual({ ...first.list[0], state: 'credited', entry: 2, seconds: undefined })
    expect(await listed(service, '', 7)).toMatchObject({ count: 1 })
  })

  test('has no seconds if nobody knows them: the block should be final by now, and finality has not moved', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    await service.tick()
    const [{ txid } = { txid: '' }] = service.chain.add([usdtTo(to, 1n)]).transactions
    service.clock.seconds += 20
    await service.tick()
    expect((await listed(service)).list).toMatchObject([{ seconds: 57 }])
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('try again in about 57 s')
    service.clock.seconds += 60
    expect((await listed(service)).list).toMatchObject([{ seconds: 1 }])
    service.clock.seconds += 10
    const [late] = (await listed(service)).list
    expect(Object.keys(late ?? {})).not.toContain('seconds')
    const nobodyKnows = 'found, not final yet: the answers of the network are late, so nobody can say when it is'
    const answer = await service.get(`/tron/recharge?txid=${txid}`)
    expect(answer.headers.get('retry-after')).toBe('15')
    expect(await read(answer)).toEqual(failed(409, nobodyKnows))
    expect(await textOf(service, '/tron/recharge')).toContain(`1 transfer ${nobodyKnows}`)
    service.chain.addEmpty(1)
    service.clock.seconds += 3
    await service.tick()
    expect((await listed(service)).list).toMatchObject([{ seconds: 54 }])
  })

  test('has a transfer that is not in the chain after all, without a reason', async () => {
    const service = await startService()
    const txid = await dropTransfer(service)
    const { list } = await listed(service, '?state=dropped')
    expect(list).toEqual([expect.objectContaining({ txid, state: 'dropped' })])
    expect(Object.keys(list[0] ?? {})).toEqual([
      'id',
      'txid',
      'position',
      'cuy',
      'amt',
      'address',
      'state',
      'created_at',
    ])
  })

  test('has no movement out of an address, and none from an operator', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    const other = await addressIn(await service.get('/tron/generate', 8))
    payFinal(service, { kind: 'trx', from: to, to: other, amount: 5n })
    await service.tick()
    expect((await listed(service)).count + (await listed(service, '', 8)).count).toBe(0)
  })
})

describe('the transfers of two callers', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService()
    const own = await addressIn(await service.get('/tron/generate'))
    const other = await addressIn(await service.get('/tron/generate', 8))
    payFinal(service, trxTo(own, 1n), usdtTo(own, 2n), usdtTo(other, 3n), usdtTo(own, 4n))
    await service.tick()
  })

  test.each([
    ['', [4, 2, 1], 3],
    ['?limit=2', [4, 2], 3],
    ['?limit=2&before=2', [1], 3],
    ['?before=4', [2, 1], 3],
    ['?before=3', [2, 1], 3], // the id of another user's transfer is accepted as a position all the same
    ['?before=1', [], 3],
    ['?before=9007199254740991', [4, 2, 1], 3],
    ['?cuy=1', [1], 1],
    ['?cuy=2&limit=1', [4], 2],
    ['?state=credited&before=4', [2, 1], 3],
    ['?state=seen', [], 0],
    ['?uid=8&txid=x&page=2', [4, 2, 1], 3],
  ])('at %s are %j of %d', async (query, ids, count) => {
    expect(await listed(service, query)).toMatchObject({ status: 200, ids, count })
  })

  test.each([
    [`limit=${pageRowsMax + 1}`, 'limit', `a whole number from 1 to ${pageRowsMax}`],
    ['before=0', 'before', 'a whole number from 1 to 9007199254740991'],
    ['state=moved', 'state', `one of ${depositStates.join(', ')}`],
    ['cuy=3', 'cuy', 'one of 1 (TRX), 2 (USDT), given at most once'],
  ])('are not listed by ?%s', async (query, field, why) => {
    expect(await read(await service.get(`/tron/deposits?${query}`))).toEqual(failed(400, `${field}: ${why}`))
  })
})
