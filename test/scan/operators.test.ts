import { describe, expect, it } from 'vitest'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { selectKept } from '../../src/worker/ledger/kept-settings.ts'
import {
  addressIn,
  failed,
  payFinal,
  postInit,
  type RunningService,
  read,
  startService,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import {
  alarmLines,
  balancesOf,
  correct,
  eventsOf,
  finalizedIn,
  rescan,
  retiredUsdt,
  stateOf,
  statesOf,
  tickLater,
  usdtWith,
  withAddress,
} from './harness.ts'

const operator = addressOf(99) // the sender in `trxTo` and `usdtTo`
const listed = { OPERATOR_ADDRESSES: [formatBase58(operator)] }
const none = { OPERATOR_ADDRESSES: undefined }

/** Starts a service in which an operator has sent 30 TRX and 25 USDT to a user's address. */
async function startWithTransfers() {
  const { service, own } = await withAddress(listed)
  const txids = payFinal(service, trxTo(own, 30_000_000n), usdtTo(own, 25_000_000n))
  for (const node of service.nodes) {
    node.balances.set(own, 30_000_000n)
    node.balances.set(`${usdtAddress} ${own}`, 25_000_000n)
  }
  return { service, own, txids }
}

/**
 * A deposit of a wallet that became an operator's by mistake, in a block that a correction takes
 * back, so that it is no movement any more. `settings` hold the deposit.
 */
async function startTakenBack(
  settings: Record<string, unknown>,
  decide?: (service: RunningService, txid: string) => Promise<unknown>,
) {
  const { service, own } = await withAddress({ ...none, ...settings })
  await service.tick()
  const { height } = await stateOf(service)
  const [txid = ''] = payFinal(service, usdtTo(own, 25_000_000n))
  await tickLater(service)
  await decide?.(service, txid)
  await tickLater(service.with({ ...settings, ...listed }))
  expect(await statesOf(service)).toEqual(['moved'])
  await correct(service, height)
  await tickLater(service, 60)
  return { service, txid }
}

describe('TRX and tokens from the operator’s own wallet', () => {
  it('are deposits again after a correction, and held as before: no event of before stops the scan', async () => {
    const { service } = await startTakenBack({ CURRENCIES: retiredUsdt })
    expect(await statesOf(service)).toEqual(['held:retired'])
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await eventsOf(service)).toEqual(['deposit.held'])
  })

  it('are decided again after a correction, although they were decided before', async () => {
    const decide = async (service: RunningService, txid: string) => {
      const deposits = [{ txid, position: 0, decision: 'credit', why: 'looked at' }]
      return await read(await service.ledger('/ledger/deposits/decide', postInit({ deposits })))
    }
    const { service, txid } = await startTakenBack({ CURRENCIES: usdtWith({ reviewFrom: '20' }) }, async (held, id) => {
      await decide(held.with({ CURRENCIES: retiredUsdt }), id)
    })
    expect(await statesOf(service)).toEqual(['held:review'])
    expect(await decide(service, txid)).toMatchObject({ status: 200 })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('are no deposits for a question about their txid, before and after the scan', async () => {
    const { service, txids } = await startWithTransfers()
    const answers = () => Promise.all(txids.map(async (txid) => read(await service.get(`/tron/recharge?txid=${txid}`))))
    const expected = txids.map(() => failed(422, expect.stringContaining('operator')))
    expect(await answers()).toEqual(expected)
    await service.tick()
    expect(await answers()).toEqual(expected)
  })

  it('stay movements when the wallet has left OPERATOR_ADDRESSES: no question and no rescan credits them', async () => {
    const { service, txids } = await startWithTransfers()
    await service.tick()
    const without = service.with(none)
    for (const txid of txids) expect((await without.get(`/tron/recharge?txid=${txid}`)).status).toBe(422)
    const { height } = await stateOf(service)
    await rescan(service, height - 3, height)
    await tickLater(without)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
    expect(await statesOf(service)).toEqual(['moved', 'moved'])
  })

  it('count from the height of the scan on at which the wallet was first listed, for good', async () => {
    const { service, own } = await startWithTransfers()
    await service.tick()
    const { operators: since } = await selectKept(writable(service.db))
    expect([...since.keys()]).toEqual([operator])
    expect(since.get(operator)).toBeLessThanOrEqual((await stateOf(service)).height)
    const without = service.with(none)
    payFinal(service, trxTo(own, 5_000_000n)) // from now on the operator's wallet is not in `OPERATOR_ADDRESSES`
    await tickLater(without)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })

  it('are credited as any others where the wallet was listed only afterwards', async () => {
    const service = await startService(none)
    const own = await addressIn(await service.get('/tron/generate'))
    payFinal(service, trxTo(own, 30_000_000n))
    await service.tick()
    const later = service.with(listed)
    payFinal(service, trxTo(own, 7_000_000n))
    await tickLater(later)
    expect(await balancesOf(service)).toEqual({ 1: 30, 2: 0 })
    expect(await statesOf(service)).toEqual(['credited', 'moved'])
  })

  it('that were held before the wallet was listed wait no longer: they are movements, whatever is listed later', async () => {
    const { service, own } = await withAddress(none)
    for (const node of service.nodes) node.decimals.delete(usdtAddress)
    const [txid] = payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    expect(await statesOf(service)).toEqual(['held:decimals-unknown'])
    for (const node of service.nodes) node.decimals.set(usdtAddress, 6)
    await tickLater(service.with(listed), 60)
    expect(await statesOf(service)).toEqual(['moved'])
    const without = await service.with(none).get(`/tron/recharge?txid=${txid}`)
    expect(await read(without)).toEqual(failed(422, expect.stringContaining('service')))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })

  it.each([
    ['retired', { CURRENCIES: retiredUsdt, OPERATOR_ADDRESSES: undefined }, 25_000_000n],
    ['too-large', none, 2n ** 60n],
  ])('that wait for what may never come (%s) wait no longer, either', async (reason, variables, amount) => {
    const { service, own } = await withAddress(variables)
    payFinal(service, usdtTo(own, amount))
    await service.tick()
    expect(await statesOf(service)).toEqual([`held:${reason}`])
    await tickLater(service.with({ ...variables, ...listed }))
    expect(await statesOf(service)).toEqual(['moved'])
  })

  it('are known to reconciliation', async () => {
    const { service } = await startWithTransfers()
    for (let i = 0; i < 12; i += 1) {
      service.chain.addEmpty(20)
      await tickLater(service, 60)
    }
    expect(alarmLines(service)).toEqual([])
  })
})

describe('transfers between addresses of the service', () => {
  it('are movements, and each transaction that one of them sends is known to cost a fee', async () => {
    const { service, own } = await withAddress()
    const other = await addressIn(await service.get('/tron/generate', 8))
    payFinal(
      service,
      { kind: 'trx', from: own, to: other, amount: 5n },
      { kind: 'call', contract: addressOf(3), from: own },
    )
    await service.tick()
    expect(await statesOf(service)).toEqual(['moved'])
    const sent = await service.db.prepare('SELECT address FROM sent').all()
    expect(sent.results).toEqual([{ address: own }, { address: own }])
    expect(await balancesOf(service, 8)).toEqual({ 1: 0, 2: 0 })
  })
})
