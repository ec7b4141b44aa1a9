import { describe, expect, it } from 'vitest'
import { formatBase58 } from '../../src/chain/address.ts'
import { addressIn, failed, payFinal, read, startService, trxTo, usdtTo } from '../http/service.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'

const operator = addressOf(99) // the sender of `trxTo` and `usdtTo`

/** A service in which an operator has sent 30 TRX and 25 USDT to a caller's address. */
async function startWithTransfers() {
  const service = await startService({ OPERATOR_ADDRESSES: [formatBase58(operator)] })
  const own = await addressIn(await service.get('/tron/generate'))
  const txids = payFinal(service, trxTo(own, 30_000_000n), usdtTo(own, 25_000_000n))
  for (const node of service.nodes) {
    node.balances.set(own, 30_000_000n)
    node.balances.set(`${usdtAddress} ${own}`, 25_000_000n)
  }
  return { service, txids }
}

describe('TRX and tokens from the operator’s own wallet', () => {
  it('are not credited', async () => {
    const { service } = await startWithTransfers()
    await service.tick()
    const wallets = await read(await service.get('/wallet/list'))
    expect(wallets.body).toMatchObject({ data: { list: [{ amt: 0 }, { amt: 0 }] } })
  })

  it('are no deposits for a question about their txid, before and after the scan', async () => {
    const { service, txids } = await startWithTransfers()
    const answers = () => Promise.all(txids.map(async (txid) => read(await service.get(`/tron/recharge?txid=${txid}`))))
    const expected = txids.map(() => failed(422, expect.stringContaining('operator')))
    expect(await answers()).toEqual(expected)
    await service.tick()
    expect(await answers()).toEqual(expected)
  })

  it('are known to reconciliation', async () => {
    const { service } = await startWithTransfers()
    for (let i = 0; i < 20; i += 1) {
      service.chain.addEmpty(20)
      service.clock.seconds += 60
      await service.tick()
    }
    expect(service.lines.filter((line) => line.includes('"alarm"'))).toEqual([])
  })
})
