import { describe, expect, it } from 'vitest'
import { startDevnetService } from './service.ts'

describe('crediting on the local chain', () => {
  it('takes a deposit from the address to the wallet list and the ledger', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '25', 'USDT')
    await service.mine()
    // without this the last scan would answer: the chain makes its blocks at once, so the scan is
    // only a moment old
    await service.evict()
    const recharge = await service.get('/tron/recharge', 1)
    expect(recharge.body).toStrictEqual({ code: 200, msg: expect.stringContaining('25 USDT') })
    const wallets = await service.get('/wallet/list', 1)
    expect(wallets.text).toBe(
      '{"code":200,"msg":"success","data":{"list":[{"amt":0,"cuy":1},{"amt":25,"cuy":2}],"count":2}}',
    )
    const flows = await service.get('/wallet/flow/list', 1)
    expect(flows.text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, 'TIME')).toBe(
      `{"code":200,"msg":"success","data":{"list":[{"id":1,"uid":1,"wid":1,"osn":"${txid}:0","type":1,"cuy":2,` +
        '"amt":25,"balance":25,"mark":"deposit","created_at":"TIME"}],"count":1}}',
    )
    const balance = await service.get('/tron/balance?cuy=2', 1)
    expect(balance.text).toBe('{"code":200,"msg":"success","data":{"amt":25}}')
  })

  it('credits once, for any number of requests of any kind', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '1.5', 'USDT')
    await service.mine()
    expect((await service.get(`/tron/recharge?txid=${txid}`, 1)).body.msg).toContain('1.5 USDT')
    const again = await Promise.all([
      service.get('/tron/recharge', 1),
      service.get(`/tron/recharge?txid=0x${txid.toUpperCase()}`, 1),
      service.cron(),
      service.get('/tron/recharge', 1),
    ])
    expect(again.flatMap((response) => (response ? [response.status] : []))).toEqual([200, 200, 200])
    const flows = await service.get('/wallet/flow/list', 1)
    expect(flows.text).toContain('"count":1')
    expect(flows.text).toContain('"balance":1.5')
  })

  it('credits each of several transfers of one transaction, to two users', async () => {
    const service = await startDevnetService()
    const [mine, theirs] = [await service.addressOf(1), await service.addressOf(2)]
    const values = [1_000_000, 2_000_000, 4_000_000]
    // The selector of transferMany(address[],uint256[]).
    const txid = await service.callToken('b7fc6612', [64, 192, 3, mine, theirs, mine, 3, ...values])
    await service.mine()
    await service.evict() // or the scan of a moment ago would answer
    expect((await service.get('/tron/recharge', 1)).body.msg).toContain('5 USDT')
    const flows = await service.get(`/wallet/flow/list?osn=${txid}`, 1)
    expect(flows.text).toMatch(new RegExp(`"osn":"${txid}:2".*"amt":4.*"osn":"${txid}:0".*"amt":1,.*"count":2`))
    expect((await service.get('/wallet/list', 2)).text).toContain('{"amt":2,"cuy":2}')
  })
})

describe('TRX that a contract sends on the local chain', () => {
  it('is credited by a question, once, and nothing of it by the scan', async () => {
    const service = await startDevnetService()
    const [mine, theirs] = [await service.addressOf(1), await service.addressOf(2)]
    // The selector of sendTrx(address[],uint256[]).
    const words = [64, 192, 3, mine, theirs, mine, 3, 1_000_000, 2_000_000, 4_000_000]
    const txid = await service.callToken('48f792df', words, { value: '7000000' })
    await service.mine()
    await service.get('/tron/recharge', 1)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    for (const msg of ['success: credited 5 TRX', 'success: already credited 5 TRX']) {
      expect((await service.get(`/tron/recharge?txid=${txid}`, 1)).body.msg).toContain(msg)
    }
    const flows = await service.get(`/wallet/flow/list?osn=${txid}`, 1)
    expect(flows.text).toMatch(new RegExp(`"osn":"${txid}:i2".*"amt":4.*"osn":"${txid}:i0".*"amt":1,.*"count":2`))
    expect((await service.get(`/tron/recharge?txid=${txid}`, 2)).body.msg).toContain('credited 2 TRX')
  })
})
