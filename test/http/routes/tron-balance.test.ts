import { beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../../src/worker/chain/address.ts'
import { balanceQuery } from '../../../src/worker/http/routes/tron-balance.ts'
import { parseUrl } from '../../support/parse-url.ts'
import { usdtAddress } from '../../support/transaction-spec.ts'
import { usdtBase58 } from '../../support/variables.ts'
import {
  addressIn,
  failed,
  firstAddress,
  type RunningService,
  read,
  secondAddress,
  startService,
  wholeOf,
} from '../service.ts'

let service: RunningService
let first: Address
let second: Address
beforeEach(async () => {
  service = await startService()
  first = await addressIn(await service.get('/tron/generate'))
  second = await addressIn(await service.get('/tron/generate?fresh=1'))
})
const setBalance = (key: string, units: bigint) => {
  for (const node of service.nodes) node.balances.set(key, units)
}
const amounts = (amt: string) => ({ status: 200, text: `{"code":200,"msg":"success","data":{"amt":${amt}}}` })

describe('GET /tron/balance', () => {
  test('sums TRX over all of the caller’s addresses, with every digit', async () => {
    setBalance(first, 9_007_199_254_740_993n)
    setBalance(second, 1n)
    expect(await wholeOf(await service.get('/tron/balance'))).toEqual(amounts('9007199254.740994'))
    expect(await wholeOf(await service.get('/tron/balance?cuy=1'))).toEqual(amounts('9007199254.740994'))
  })

  test('is that of a token, and of one address', async () => {
    setBalance(`${usdtAddress} ${first}`, 25_000_000n)
    setBalance(`${usdtAddress} ${second}`, 500_000n)
    expect(await wholeOf(await service.get('/tron/balance?cuy=2'))).toEqual(amounts('25.5'))
    expect(await wholeOf(await service.get(`/tron/balance?cuy=2&address=${firstAddress}`))).toEqual(amounts('25'))
    expect(await wholeOf(await service.get(`/tron/balance?cuy=2&address=${secondAddress}`))).toEqual(amounts('0.5'))
  })

  test('has all decimals of the chain, also those that the ledger does not keep', async () => {
    const precise = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 18, scale: 6 }
    const other = await startService({ CURRENCIES: [precise] })
    const address = await addressIn(await other.get('/tron/generate'))
    for (const node of other.nodes) node.balances.set(`${usdtAddress} ${address}`, 1_000_000_000_000_000_001n)
    expect(await wholeOf(await other.get('/tron/balance?cuy=2'))).toEqual(amounts('1.000000000000000001'))
  })

  test('is 0 for a caller without an address', async () => {
    expect(await wholeOf(await service.get('/tron/balance', 8))).toEqual(amounts('0'))
  })

  test('is 404 for an address of another caller, and for any other', async () => {
    const others = await read(await service.get(`/tron/balance?address=${firstAddress}`, 8))
    expect(others).toMatchObject({ status: 404, body: { code: 404 } })
    expect(await read(await service.get(`/tron/balance?address=${usdtBase58}`))).toEqual(others)
  })

  test('is 400 that asks for one address where the caller has more than one request can read', async () => {
    const insert = service.db.prepare(
      'INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (?, 7, unhex(?), 1e12, 1)',
    )
    const rest = Array.from({ length: 399 }, (_, i) => i + 2)
    await service.db.batch(rest.map((i) => insert.bind(i + 1, i.toString(16).padStart(40, '0'))))
    const msg = 'address: required where you have more than 400 addresses'
    expect(await read(await service.get('/tron/balance'))).toEqual(failed(400, msg))
    expect((await service.get(`/tron/balance?address=${firstAddress}`)).status).toBe(200)
  })
})

test('needs a currency where currency 1 is not configured', async () => {
  const one = { cuy: 2, symbol: 'FINE', contract: usdtBase58, decimals: 6 }
  const other = await startService({ CURRENCIES: [one] })
  expect(await read(await other.get('/tron/balance'))).toEqual(failed(400, 'cuy: one of 2 (FINE), given at most once'))
})

describe('the query', () => {
  const parse = (query: string) => parseUrl(balanceQuery, `?${query}`)
  const bad = (field: string, why: string) => ({ ok: false, error: { kind: 'bad-input', field, why } })

  test('takes an address in Base58Check only', () => {
    const why = 'a Tron address (34 characters, starts with T)'
    expect(parse('address=41e2e1a54926527fbb4e4420de4c6bab82beaee24d')).toEqual(bad('address', why))
  })
})
