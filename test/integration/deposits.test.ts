import { describe, expect, it } from 'vitest'
import { finalBlocks, startDevnetService } from './service.ts'

describe('crediting on the local chain', () => {
  it('takes a deposit from the address to the wallet list and the ledger', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '25', 'USDT')
    await service.mine()
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

  it('credits TRX exact to the last sun', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '9007199.254741', 'TRX')
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).body.msg).toContain('9007199.254741 TRX')
    const flows = await service.get(`/wallet/flow/list?osn=${txid}`, 1)
    expect(flows.text).toContain(`"osn":"${txid}","type":1,"cuy":1,"amt":9007199.254741,"balance":9007199.254741,`)
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
})

describe('the service on the local chain', () => {
  it('does not credit before the block is final, and returns the remaining seconds', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '2', 'USDT')
    await service.mine(finalBlocks - 1)
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(check.status).toBe(409)
    expect(Number(check.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    await service.mine(1)
    // By its txid: a scan that just ended is not repeated within a block time.
    expect((await service.get(`/tron/recharge?txid=${txid}`, 1)).status).toBe(200)
    expect((await service.get('/wallet/list', 1)).text).toContain('{"amt":2,"cuy":2}')
  })

  it('catches up over hundreds of blocks without missing a deposit', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    for (let i = 0; i < 3; i++) {
      await service.pay(to, '1', 'USDT')
      await service.mine(100)
    }
    expect((await service.get('/tron/recharge', 1)).body.msg).toContain('3 USDT')
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":3')
  })

  it('credits each transfer of a block to the owner of its address', async () => {
    const service = await startDevnetService()
    const [mine, theirs] = [await service.addressOf(1), await service.addressOf(2)]
    const txids = [await service.pay(mine, '4', 'USDT'), await service.pay(theirs, '5', 'USDT')]
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    expect((await service.get('/wallet/list', 1)).text).toContain('{"amt":4,"cuy":2}')
    expect((await service.get('/wallet/list', 2)).text).toContain('{"amt":5,"cuy":2}')
    const foreign = await service.get(`/tron/recharge?txid=${txids[1]}`, 1)
    expect(foreign.status).toBe(422)
    expect(foreign.text).not.toContain('5')
    expect((await service.get(`/wallet/flow/list?osn=${txids[1]}`, 1)).text).toContain('"list":[],"count":0')
  })

  it('credits each of several transfers of one transaction, to two users', async () => {
    const service = await startDevnetService()
    const [mine, theirs] = [await service.addressOf(1), await service.addressOf(2)]
    const values = [1_000_000, 2_000_000, 4_000_000]
    // transferMany(address[],uint256[])
    const txid = await service.callToken('b7fc6612', [64, 192, 3, mine, theirs, mine, 3, ...values])
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).body.msg).toContain('5 USDT')
    const flows = await service.get(`/wallet/flow/list?osn=${txid}`, 1)
    expect(flows.text).toMatch(new RegExp(`"osn":"${txid}:2".*"amt":4.*"osn":"${txid}:0".*"amt":1,.*"count":2`))
    expect((await service.get('/wallet/list', 2)).text).toContain('{"amt":2,"cuy":2}')
  })

  it('returns the balance of all addresses of the user, or of one address', async () => {
    const service = await startDevnetService()
    const first = await service.addressOf(1)
    const second = await service.addressOf(1, '?fresh=1')
    expect(second).not.toBe(first)
    await service.pay(first, '1.25', 'TRX')
    await service.pay(second, '2', 'TRX')
    await service.mine()
    expect((await service.get('/tron/balance', 1)).text).toContain('"amt":3.25')
    expect((await service.get(`/tron/balance?address=${second}`, 1)).text).toContain('"amt":2')
    const foreign = await service.addressOf(2)
    expect((await service.get(`/tron/balance?address=${foreign}`, 1)).status).toBe(404)
  })
})
