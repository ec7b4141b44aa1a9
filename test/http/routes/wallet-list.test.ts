import { beforeEach, describe, expect, test } from 'vitest'
import { read } from '../app-harness.ts'
import { addressIn, payFinal, type RunningService, startService, trxTo, usdtTo, wholeOf } from '../service.ts'

let service: RunningService
beforeEach(async () => {
  service = await startService()
})
const wallets = (trx: string, usdt: string) => ({
  status: 200,
  text: `{"code":200,"msg":"success","data":{"list":[{"amt":${trx},"cuy":1},{"amt":${usdt},"cuy":2}],"count":2}}`,
})

describe('GET /wallet/list', () => {
  test('has every configured currency, 0 for a caller without entries', async () => {
    expect(await wholeOf(await service.get('/wallet/list'))).toEqual(wallets('0', '0'))
  })

  test('has what was credited, with every digit, and nobody else’s', async () => {
    const address = await addressIn(await service.get('/tron/generate'))
    payFinal(service, trxTo(address, 9_007_199_254_740_991n), usdtTo(address, 25_000_000n))
    await service.tick()
    expect(await wholeOf(await service.get('/wallet/list'))).toEqual(wallets('9007199254.740991', '25'))
    expect(await wholeOf(await service.get('/wallet/list', 8))).toEqual(wallets('0', '0'))
  })

  test('takes no parameters, so it ignores all of them', async () => {
    expect(await wholeOf(await service.get('/wallet/list?uid=8&cuy=x&cuy=&page=0'))).toEqual(wallets('0', '0'))
  })

  test('asks no node', async () => {
    await service.get('/wallet/list')
    expect(service.nodes.flatMap((node) => node.requests)).toEqual([])
  })

  test('is refused without a token', async () => {
    const refused = { status: 401, body: { code: 401, msg: 'a valid bearer token is required' } }
    expect(await read(await service.get('/wallet/list', null))).toEqual(refused)
    expect(await read(await service.get('/wallet/list?uid=7', null))).toEqual(refused)
  })
})
