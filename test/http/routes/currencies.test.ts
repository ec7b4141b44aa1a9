import { describe, expect, test } from 'vitest'
import { notConfigured } from '../../../src/worker/http/errors.ts'
import { sharedReadMs } from '../../../src/worker/platform/shared-runs.ts'
import { usdtBase58 } from '../../support/variables.ts'
import { failed, type RunningService, read, renewFinal, startService } from '../service.ts'

const free = { decimals: 6, scale: 6, minDeposit: null, contract: null, retired: false, open: true }
const trx = { cuy: 1, symbol: 'TRX', name: 'TRX', ...free }

describe('GET /currencies', () => {
  test('has all currencies in the order of CURRENCIES, without a token', async () => {
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
    const closed = { ...trx, open: false } // a currency opens once its decimals are compared
    const list = [
      {
        ...closed,
        cuy: 9,
        symbol: 'OLD',
        name: 'OLD',
        decimals: 0,
        scale: 0,
        contract: 'TJhSSbZ8dVqtEiLYgva1WWcV4R4NkRCARH',
        retired: true,
      },
      {
        ...closed,
        cuy: 2,
        symbol: 'USDT',
        name: 'Tether USD',
        decimals: 18,
        scale: 2,
        minDeposit: '0.5',
        contract: usdtBase58,
      },
      trx,
    ]
    const data = { network: 'Tron', explorer: 'https://tronscan.org/#', late: null, list, count: 3 }
    expect(await read(await service.get('/currencies', null))).toEqual({
      status: 200,
      body: { code: 200, msg: 'success', data },
    })
    expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ route: '/currencies' })
  })

  test.each([
    ['0x2b6653dc', 'Tron', 'https://tronscan.org/#'],
    ['0x2B6653DC', 'Tron', 'https://tronscan.org/#'],
    ['0xcd8690dc', 'Nile', 'https://nile.tronscan.org/#'],
    ['0x6465766e', 'local', null],
  ])('names the network of chain %s and its explorer: %s', async (TRON_CHAIN_ID, network, explorer) => {
    const service = await startService({ TRON_CHAIN_ID })
    expect(await read(await service.get('/currencies', null))).toMatchObject({ body: { data: { network, explorer } } })
  })

  /** The symbols of the currencies that are open, and by how many seconds credits are late. */
  const intakeOf = async (service: RunningService) => {
    const { body } = await read(await service.get('/currencies', null))
    const { list, late } = (body as { data: { list: { symbol: string; open: boolean }[]; late: number | null } }).data
    return { open: list.filter(({ open }) => open).map(({ symbol }) => symbol), late }
  }
  /**
   * What `intakeOf` returns at a later time, when the last answer is no longer shared with other
   * requests.
   */
  const later = (service: RunningService, seconds: number) => {
    service.clock.seconds += Math.max(seconds, sharedReadMs / 1000)
    return intakeOf(service)
  }

  test('opens a token when nodes agree on the configured decimals, and closes all while the scan is halted', async () => {
    const service = await startService()
    expect(await intakeOf(service)).toEqual({ open: ['TRX'], late: null })
    await service.tick()
    expect((await later(service, 1)).open).toEqual(['TRX', 'USDT'])
    const other = service.with({
      CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6, retired: true }],
    })
    expect((await later(other, 1)).open).toEqual([])
    await service.db.prepare("UPDATE scan SET halted = 'forked'").run()
    expect((await later(service, 1)).open).toEqual([])
  })

  test('offers no token whose contract has other decimals than the configured ones', async () => {
    const wrong = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 8 }
    const service = await startService({ CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 6 }, wrong] })
    await service.tick()
    expect((await later(service, 1)).open).toEqual(['TRX'])
  })

  test('says how late credits are, where no scan succeeds or the newest final block is old', async () => {
    const service = await startService()
    await service.tick()
    await renewFinal(service)
    await service.tick()
    expect((await later(service, 1)).late).toBeNull()
    await service.db
      .prepare('UPDATE scan SET caught_up_at = ?, finalized_time = ?')
      .bind(...Array(2).fill(service.clock.seconds * 1000))
      .run()
    expect((await later(service, 44)).late).toBeNull()
    expect((await later(service, 2)).late).toBe(46)
    await service.db
      .prepare('UPDATE scan SET caught_up_at = ?')
      .bind((service.clock.seconds + 80) * 1000)
      .run()
    expect((await later(service, 73)).late).toBeNull()
    expect((await later(service, 2)).late).toBe(121 - 57)
  })

  test('costs a handful of queries a second, however often it is asked, and none to nodes', async () => {
    const service = await startService()
    const before = service.lines.length
    for (let request = 0; request < 20; request += 1) await service.get('/currencies?cuy=2', null)
    const costs = service.lines
      .slice(before)
      .map((line) => (JSON.parse(line) as { databaseQueries: number }).databaseQueries)
    expect(costs.filter((queries) => queries > 0)).toHaveLength(1)
    expect(service.nodes.map(({ requests }) => requests.length)).toEqual([0, 0])
  })

  test('is 503 where the configuration differs from what is stored', async () => {
    const service = await startService()
    await service.get('/currencies', null)
    const other = service.with({ TRON_CHAIN_ID: '0xcd8690dc' })
    expect(await read(await other.get('/currencies', null))).toEqual(failed(503, notConfigured.msg))
  })
})
