import { describe, expect, it } from 'vitest'
import { walletEveryMs } from '../../src/worker/payouts/wallet.ts'
import type { RunningService } from '../http/service.ts'
import { alarmsOf, tickLater } from '../scan/harness.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { changing } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { ask, handIn, hold, offered, shown, sign, startPaying } from './harness.ts'

const summaryOf = async (service: RunningService) => {
  const { data } = await (await service.ledger('/ledger/summary')).json<{
    data: { payouts: Record<string, unknown> }
  }>()
  return data.payouts
}
const later = (service: RunningService) => tickLater(service, walletEveryMs / 1000)

it('too little TRX for what a token’s transfer may burn raises payout-wallet-low within ten minutes', async () => {
  const service = await startPaying()
  hold(service, 99_999_999n, 5_000_000n)
  await ask(service)
  expect(walletEveryMs).toBeLessThan(600_000)
  await tickLater(service)
  expect(alarmsOf(service, 'payout-wallet-low')).toMatchObject([{ cuy: 1, holds: '99.999999', needs: '100' }])
  hold(service, 100_000_000n, 5_000_000n)
  await later(service)
  await later(service)
  expect(alarmsOf(service, 'payout-wallet-low')).toHaveLength(1)
  hold(service, 0n, 5_000_000n)
  await later(service)
  await later(service)
  expect(alarmsOf(service, 'payout-wallet-low')).toHaveLength(2) // the first alarm had ended, so a second one is raised
})

it('one node alone that shows an empty payout address raises no alarm', async () => {
  const service = await startPaying()
  hold(service, 1_000_000_000n, 5_000_000n)
  service.nodes[0]?.balances.set(payoutAddress, 0n)
  service.nodes[0]?.balances.set(`${usdtAddress} ${payoutAddress}`, 0n)
  await ask(service)
  await tickLater(service)
  await later(service)
  expect(alarmsOf(service, 'payout-wallet-low')).toEqual([])
  service.nodes[1]?.balances.set(payoutAddress, 0n)
  await later(service)
  expect(alarmsOf(service, 'payout-wallet-low')).toMatchObject([{ cuy: 1, holds: '0' }])
})

it('what is open is needed together: payouts of TRX and the fees of a token', async () => {
  const service = await startPaying()
  hold(service, 129_999_999n, 5_000_000n)
  await ask(service)
  for (let i = 0; i < 3; i += 1) await ask(service, { cuy: 1, amt: '10' })
  await tickLater(service)
  expect(alarmsOf(service, 'payout-wallet-low')).toMatchObject([{ cuy: 1, needs: '130' }])
})

it('the summary has what is open by state and currency since when, and what the address holds', async () => {
  const service = await startPaying()
  const since = new Date(service.clock.seconds * 1000).toISOString()
  hold(service, 200_000_000n, 90_000_000n)
  await ask(service)
  await ask(service, { amt: '2.5', fee: '1' })
  await ask(service, { cuy: 1, amt: '101' })
  await tickLater(service)
  expect(await summaryOf(service)).toMatchObject({
    address: payoutBase58,
    open: [
      { state: 'approved', cuy: 2, count: 2, sum: 7.5, oldest_at: since },
      { state: 'waiting', cuy: 1, count: 1, sum: 101, oldest_at: expect.any(String) },
    ],
    stopped: null,
    holds: [
      { symbol: 'TRX', amt: 200 },
      { symbol: 'USDT', amt: 90 },
    ],
  })
})

it('what the address holds is asked for while something is open, and not otherwise', async () => {
  const service = await startPaying()
  const balances = () =>
    service.nodes
      .flatMap(({ requests }) => requests.flatMap(({ calls }) => calls))
      .filter(({ method }) => method === 'eth_getBalance').length
  await tickLater(service)
  const before = balances()
  await later(service)
  expect(balances()).toBe(before)
  await ask(service)
  await later(service)
  expect(balances()).toBeGreaterThan(before)
})

describe('what the payout address plainly cannot pay for is not offered', () => {
  const enough = 1_000_000_000n
  const whyOf = async (service: RunningService, id: number) => (await shown(service, id)).why

  it('and a page is full while there are more that it can pay for', async () => {
    const service = await startPaying()
    hold(service, enough, 6_000_000n)
    const beyond = await ask(service, { amt: '7' })
    const asked: number[] = []
    while (asked.length < 101) asked.push((await ask(service, { amt: '1' })).id)
    await tickLater(service)
    const page = await offered(service)
    expect(page).toEqual(asked.slice(0, 100))
    expect(page).not.toContain(beyond.id)
  })

  it('from the tick on that has read the balance, and again one tick after more has come', async () => {
    const service = await startPaying()
    hold(service, enough, 4_999_999n)
    const { id } = await ask(service)
    const { id: small } = await ask(service, { amt: '4.999999' })
    expect(await offered(service)).toEqual([id, small]) // nothing is known yet
    await tickLater(service)
    expect(await offered(service)).toEqual([small])
    expect(await whyOf(service, id)).toContain('it waits: the payout address holds less than this')
    expect(await whyOf(service, small)).toBeUndefined()
    hold(service, enough, 5_000_000n)
    await tickLater(service)
    expect(await offered(service)).toEqual([id, small])
    expect(await whyOf(service, id)).toBeUndefined()
  })

  it('of TRX as well; what was signed before is taken all the same', async () => {
    const service = await startPaying()
    hold(service, 4_000_000n, enough)
    const { id } = await ask(service, { cuy: 1 })
    const token = await ask(service)
    await tickLater(service)
    expect(await offered(service)).toEqual([token.id]) // 4 TRX pay for its fees
    hold(service, enough, 0n)
    await tickLater(service)
    expect(await offered(service)).toEqual([id])
    const { transaction } = await sign(service)
    expect(await handIn(service, token.id, transaction)).toMatchObject({ state: 'signed' })
  })

  it.each([
    ['without TRX and energy', 0n, {}, []],
    ['with a little TRX, which pays for no transfer at any price', 117_550n, {}, []],
    ['with energy of its own or of others', 0n, { EnergyLimit: 65_000, EnergyUsed: 10 }, [1]],
    ['with energy that is used up', 0n, { EnergyLimit: 65_000, EnergyUsed: 65_000 }, []],
    ['where nodes do not tell the energy', 0n, { EnergyLimit: 'x' }, [1]],
    ['where nodes tell no whole number', 0n, { EnergyLimit: 1.5 }, [1]],
    ['with TRX for a transfer at a low price', 117_560n, {}, [1]],
  ])('a token %s', async (_, trx, resources, ids) => {
    const service = await startPaying()
    for (const node of service.nodes) {
      node.script = ({ calls }) =>
        calls.some(({ method }) => method === '/wallet/getaccountresource')
          ? changing('/wallet/getaccountresource', () => resources)
          : null
    }
    hold(service, trx, enough)
    await ask(service)
    await tickLater(service)
    expect(await offered(service)).toEqual(ids)
  })

  it('but is offered while the balance cannot be read again: an old figure says nothing', async () => {
    const service = await startPaying()
    hold(service, enough, 0n)
    const { id } = await ask(service)
    await tickLater(service)
    expect(await offered(service)).toEqual([])
    service.clock.seconds += walletEveryMs / 1000 - 1
    expect(await offered(service)).toEqual([])
    service.clock.seconds += 2
    expect(await offered(service)).toEqual([id])
  })

  it('and keeps none from being offered that comes after a hundred of them', async () => {
    const service = await startPaying({
      PAYOUTS: { address: payoutBase58, limits: [{ cuy: 2, each: '9', perDay: '999' }] },
    })
    hold(service, enough, 4_000_000n)
    for (let i = 0; i < 101; i += 1) await ask(service)
    const { id } = await ask(service, { amt: '4' })
    await tickLater(service)
    expect(await offered(service)).toEqual([id])
  })
})
