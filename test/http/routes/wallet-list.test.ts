import { beforeEach, describe, expect, test } from 'vitest'
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
  test('has every configured currency, with 0 for a caller without entries', async () => {
    expect(await wholeOf(await service.get('/wallet/list'))).toEqual(wallets('0', '0'))
  })

  test('has the credited amounts of the caller, with every digit', async () => {
    const address = await addressIn(await service.get('/tron/generate'))
    payFinal(service, trxTo(address, 9_007_199_254_740_991n), usdtTo(address, 25_000_000n))
    await service.tick()
    expect(await wholeOf(await service.get('/wallet/list'))).toEqual(wallets('9007199254.740991', '25'))
    expect(await wholeOf(await service.get('/wallet/list', 8))).toEqual(wallets('0', '0'))
  })

  test('queries no node', async () => {
    await service.get('/wallet/list')
    expect(service.nodes.flatMap((node) => node.requests)).toEqual([])
  })
})
