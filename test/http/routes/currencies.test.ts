import { describe, expect, test } from 'vitest'
import { notConfigured } from '../../../src/http/errors.ts'
import { usdtBase58 } from '../../support/variables.ts'
import { failed, read, startService } from '../service.ts'

const trx = { cuy: 1, symbol: 'TRX', name: 'TRX', decimals: 6, minDeposit: null, contract: null, retired: false }

describe('GET /currencies', () => {
  test('has all currencies by their numbers, without a token', async () => {
    const service = await startService({
      CURRENCIES: [
        { cuy: 9, symbol: 'OLD', contract: 'TJhSSbZ8dVqtEiLYgva1WWcV4R4NkRCARH', decimals: 0, retired: true },
        {
          cuy: 2,
          symbol: 'USDT',
          name: 'Tether USD',
          contract: usdtBase58,
          decimals: 18,
          scale: 2,
          minDeposit: '0.50',
        },
        { cuy: 1, symbol: 'TRX', decimals: 6 },
      ],
    })
    const list = [
      trx,
      { ...trx, cuy: 2, symbol: 'USDT', name: 'Tether USD', decimals: 18, minDeposit: '0.5', contract: usdtBase58 },
      {
        ...trx,
        cuy: 9,
        symbol: 'OLD',
        name: 'OLD',
        decimals: 0,
        contract: 'TJhSSbZ8dVqtEiLYgva1WWcV4R4NkRCARH',
        retired: true,
      },
    ]
    const data = { network: 'Tron', list, count: 3 }
    expect(await read(await service.get('/currencies', null))).toEqual({
      status: 200,
      body: { code: 200, msg: 'success', data },
    })
    expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ route: '/currencies' })
    await service.get('/currencies?cuy=2', null)
    expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ databaseQueries: 0 })
  })

  test.each([
    ['0x2b6653dc', 'Tron'],
    ['0x2B6653DC', 'Tron'],
    ['0xcd8690dc', 'Nile'],
    ['0x6465766e', 'local'],
  ])('names the network of chain %s: %s', async (TRON_CHAIN_ID, network) => {
    const service = await startService({ TRON_CHAIN_ID })
    expect(await read(await service.get('/currencies', null))).toMatchObject({ body: { data: { network } } })
  })

  test('is 503 where the configuration differs from what is stored', async () => {
    const service = await startService()
    await service.get('/currencies', null)
    const other = service.with({ TRON_CHAIN_ID: '0xcd8690dc' })
    expect(await read(await other.get('/currencies', null))).toEqual(failed(503, notConfigured.msg))
  })
})
