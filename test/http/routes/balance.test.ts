import { beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../../src/addresses/address.ts'
import { ok } from '../../../src/common/result.ts'
import { usdt } from '../../support/chain-builder.ts'
import { appWith, read } from '../app-harness.ts'
import { addressIn, firstAddress, type RunningService, secondAddress, startService, wholeOf } from '../service.ts'

let service: RunningService
let first: Address
let second: Address
beforeEach(async () => {
  service = await startService()
  first = await addressIn(await service.get('/tron/generate'))
  second = await addressIn(await service.get('/tron/generate?fresh=1'))
})
const holds = (key: string, units: bigint) => {
  for (const node of service.nodes) node.balances.set(key, units)
}
const amounts = (amt: string) => ({ status: 200, text: `{"code":200,"msg":"success","data":{"amt":${amt}}}` })

describe('GET /tron/balance', () => {
  test('sums TRX over all of the caller’s addresses, with every digit', async () => {
    holds(first, 9_007_199_254_740_993n)
    holds(second, 1n)
    expect(await wholeOf(await service.get('/tron/balance'))).toEqual(amounts('9007199254.740994'))
    expect(await wholeOf(await service.get('/tron/balance?cuy=1'))).toEqual(amounts('9007199254.740994'))
  })

  test('shows a token, and one address alone', async () => {
    holds(`${usdt} ${first}`, 25_000_000n)
    holds(`${usdt} ${second}`, 500_000n)
    expect(await wholeOf(await service.get('/tron/balance?cuy=2'))).toEqual(amounts('25.5'))
    expect(await wholeOf(await service.get(`/tron/balance?cuy=2&address=${firstAddress}`))).toEqual(amounts('25'))
    expect(await wholeOf(await service.get(`/tron/balance?cuy=2&address=${secondAddress}`))).toEqual(amounts('0.5'))
  })

  test('has every decimal that the chain knows, also those below the ledger’s scale', async () => {
    const { get } = appWith({ readBalance: () => Promise.resolve(ok(1_000_000_000_000_000_001n)) })
    expect(await wholeOf(await get('/tron/balance?cuy=2'))).toEqual(amounts('1.000000000000000001'))
  })

  test('is 0 for a caller without an address', async () => {
    expect(await wholeOf(await service.get('/tron/balance', 8))).toEqual(amounts('0'))
  })

  test('knows no address but the caller’s own', async () => {
    const missing = { status: 404, body: { code: 404, msg: 'no such address' } }
    const nobodys = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
    expect(await read(await service.get(`/tron/balance?address=${firstAddress}`, 8))).toEqual(missing)
    expect(await read(await service.get(`/tron/balance?address=${nobodys}`))).toEqual(missing)
  })

  test.each([
    ['cuy=3', 'cuy: one of 1 (TRX), 2 (USDT), given at most once'],
    ['cuy=', 'cuy: one of 1 (TRX), 2 (USDT), given at most once'],
    ['cuy=1&cuy=2', 'cuy: one of 1 (TRX), 2 (USDT), given at most once'],
    ['address=', 'address: an address of 34 characters, T first'],
    ['address=TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL7', 'address: an address of 34 characters, T first'],
    [`address=${firstAddress}&address=${firstAddress}`, 'address: an address of 34 characters, T first, given once'],
  ])('refuses ?%s', async (query, msg) => {
    expect(await read(await service.get(`/tron/balance?${query}`))).toEqual({ status: 400, body: { code: 400, msg } })
  })

  test('is 503 where no node answers', async () => {
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 503 })
    const response = await service.get('/tron/balance')
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await read(response)).toEqual({
      status: 503,
      body: { code: 503, msg: 'no Tron node gave a usable answer: try again later' },
    })
  })
})
