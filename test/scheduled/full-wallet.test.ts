import { describe, expect, it } from 'vitest'
import { addressIn, payFinal, type RunningService, startService, usdtTo } from '../http/service.ts'

const most = BigInt(Number.MAX_SAFE_INTEGER)
const alarmsIn = ({ lines }: RunningService) =>
  lines.map((line) => JSON.parse(line)).filter((line) => line.alarm !== undefined)

describe('a deposit that would make a balance too large', () => {
  it.each([
    ['a tick', (service: RunningService) => service.tick()],
    ['recharge', (service: RunningService) => service.get('/tron/recharge')],
  ])('is stored uncredited by %s with one alarm, and does not delay later deposits', async (_, scan) => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    const other = await addressIn(await service.get('/tron/generate', 8))
    const [, txid] = payFinal(service, usdtTo(to, most - 5n), usdtTo(to, 6n), usdtTo(other, 2_000_000n))
    await scan(service)
    await scan(service)
    expect(alarmsIn(service)).toEqual([{ level: 'error', alarm: 'deposit-too-large', txid, position: 0 }])
    expect(await (await service.get('/wallet/list')).text()).toContain('{"amt":9007199254.740986,"cuy":2}')
    expect(await (await service.get('/wallet/list', 8)).text()).toContain('{"amt":2,"cuy":2}')
  })

  it('raises the alarm when the caller asks for the transaction by its txid', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    payFinal(service, usdtTo(to, most - 5n))
    await service.tick()
    const [txid = ''] = payFinal(service, usdtTo(to, 6n))
    for (let i = 0; i < 2; i += 1) expect((await service.get(`/tron/recharge?txid=${txid}`)).status).toBe(409)
    await service.tick()
    expect(alarmsIn(service)).toEqual([{ level: 'error', alarm: 'deposit-too-large', txid, position: 0 }])
  })
})
