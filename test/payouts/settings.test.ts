import { expect, it } from 'vitest'
import { addressIn, startService } from '../http/service.ts'
import { alarmsOf, balancesOf, statesOf, tickLater } from '../scan/harness.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { mined, mineFinal, payoutsSetting, signedPayout, startPaying, stateOfPayout } from './harness.ts'

it('a payout address that was issued here is refused: nothing is served', async () => {
  const service = await startService()
  await service.get('/tron/generate')
  const columns = 'derivation_index, uid, address, issued_height, created_at'
  await service.db
    .prepare(`INSERT INTO address (${columns}) VALUES (1, 8, '${payoutAddress}', (SELECT finalized FROM scan), 5)`)
    .run()
  const changed = service.with({ PAYOUTS: payoutsSetting })
  expect((await changed.get('/wallet/list')).status).toBe(503)
  expect(alarmsOf(service, 'configuration-differs')).toMatchObject([{ setting: 'PAYOUTS' }])
})

it('while a payout is signed another payout address is refused, and taken once it is paid', async () => {
  const service = await startPaying()
  const { id, ...signed } = await signedPayout(service)
  const other = { PAYOUTS: { ...payoutsSetting, address: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK' } }
  expect((await service.with(other).get('/wallet/list')).status).toBe(503)
  expect(alarmsOf(service, 'configuration-differs')).toMatchObject([
    { setting: 'PAYOUTS', stored: `${payoutBase58} has a signed payout` },
  ])
  await mineFinal(service, mined(signed))
  expect(await stateOfPayout(service, id)).toBe('paid/0')
  expect((await service.with(other).get('/wallet/list')).status).toBe(200)
})

it('without PAYOUTS what is signed is followed to its end all the same', async () => {
  const service = await startPaying()
  const { id, ...signed } = await signedPayout(service)
  const without = service.with({ PAYOUTS: undefined })
  await mineFinal(without, mined(signed))
  await tickLater(service)
  expect(await stateOfPayout(service, id)).toBe('paid/0')
})

it('what the payout address sends to an address of a user is a movement, never a deposit', async () => {
  const service = await startPaying()
  const own = await addressIn(await service.get('/tron/generate'))
  await mineFinal(service, { kind: 'token', contract: usdtAddress, from: payoutAddress, to: own, amount: 5_000_000n })
  expect(await statesOf(service)).toEqual(['moved'])
  expect(await balancesOf(service)).toEqual({ 1: 1_000, 2: 1_000 })
})
