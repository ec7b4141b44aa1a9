import { expect, it } from 'vitest'
import { walletEveryMs } from '../../src/worker/payouts/wallet.ts'
import { type RunningService, requestsOf } from '../http/service.ts'
import { alarmsOf, tickLater } from '../scan/harness.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { ask, startPaying } from './harness.ts'

/** Makes all nodes show these balances of the payout address, in smallest units. */
const hold = ({ nodes }: RunningService, trx: bigint, usdt: bigint) => {
  for (const node of nodes) {
    node.balances.set(payoutAddress, trx)
    node.balances.set(`${usdtAddress} ${payoutAddress}`, usdt)
  }
}
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

it('what the address holds is asked for while something is open, every few minutes, and not otherwise', async () => {
  const service = await startPaying()
  const balances = () => service.nodes.flatMap(({ requests }) => requests.flatMap(({ calls }) => calls)).length
  await tickLater(service)
  const [before, requests] = [balances(), requestsOf(service)]
  await tickLater(service)
  const quiet = [balances() - before, requestsOf(service) - requests]
  await later(service)
  expect([balances() - before, requestsOf(service) - requests]).toEqual(quiet.map((count) => 2 * count))
})
