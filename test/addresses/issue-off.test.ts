import { beforeEach, describe, expect, test } from 'vitest'
import {
  failed,
  firstAddress,
  payCaller,
  type RunningService,
  read,
  secondAddress,
  startService,
} from '../http/service.ts'

let service: RunningService
/** The service over the same database, configured with `ISSUE_ADDRESSES` off. */
let off: RunningService
beforeEach(async () => {
  service = await startService()
  expect((await service.get('/tron/generate', 7)).status).toBe(200)
  off = service.with({ ISSUE_ADDRESSES: 'off' })
})

const why = 'no new address is issued for now; addresses that were issued before stay valid'

describe('with ISSUE_ADDRESSES off', () => {
  test('a caller who has an address is shown it', async () => {
    const { body } = await read(await off.get('/tron/generate', 7))
    expect(body).toMatchObject({ code: 200, data: { id: 1, address: firstAddress } })
  })

  test.each([
    ['one who has none', '/tron/generate', 8],
    ['one who asks for a further one', '/tron/generate?fresh=1', 7],
  ])('%s gets 503 and the reason, and no address is stored', async (_, path, uid) => {
    expect(await read(await off.get(path, uid))).toEqual(failed(503, why))
    expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(1)
  })

  test('backends are refused alike', async () => {
    expect(await read(await off.ledger('/ledger/address?uid=8'))).toEqual(failed(503, why))
    expect(await off.rpc.address(8)).toEqual({ ok: false, error: { kind: 'issuing-off', reason: 'issuing-off', why } })
    expect(await off.rpc.address(7)).toMatchObject({ ok: true, address: firstAddress })
  })

  test('everything else goes on: deposits are credited, lists are shown', async () => {
    await payCaller(off)
    expect((await off.get('/tron/recharge')).status).toBe(200)
    const { body } = await read(await off.get('/wallet/list'))
    expect(body).toMatchObject({ data: { list: [{ amt: 0 }, { amt: 25 }] } })
  })

  test('addresses are issued again once it is "on" or not set', async () => {
    const { body } = await read(await service.with({ ISSUE_ADDRESSES: 'on' }).get('/tron/generate', 8))
    expect(body).toMatchObject({ data: { id: 2, address: secondAddress } })
    expect((await service.get('/tron/generate', 9)).status).toBe(200)
  })

  test('another value is refused as a configuration', async () => {
    expect((await service.with({ ISSUE_ADDRESSES: 'no' }).get('/tron/generate', 7)).status).toBe(503)
    expect(service.lines.join()).toContain('ISSUE_ADDRESSES: \\"on\\" or \\"off\\"')
  })
})
