import { expect, it } from 'vitest'
import type { PayoutReason } from '../../src/worker/common/reasons.ts'
import type { RunningService } from '../http/service.ts'
import { alarmsOf, correct, rescan, tickLater } from '../scan/harness.ts'
import { act, deprecate, fee, freeze, pause, release, unpause } from '../scan/issuer-acts.ts'
import { payoutAddress } from '../support/payouts.ts'
import { addressOf, type LogSpec } from '../support/transaction-spec.ts'
import {
  ask,
  handIn,
  mined,
  mineFinal,
  offered,
  paidLog,
  passBlocks,
  payoutEvents,
  payoutsSetting,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

/**
 * Starts a service with a payout of the token and one of TRX, which no act of the token's issuer
 * may delay.
 */
async function startWithTwo(variables: Record<string, unknown> = {}) {
  const service = await startPaying(variables)
  const ofToken = await ask(service)
  const ofTrx = await ask(service, { cuy: 1 })
  return { service, ofToken: ofToken.id, ofTrx: ofTrx.id }
}
const whyOf = async (service: RunningService, id: number) => (await shown(service, id)).why

it.each<[string, LogSpec, LogSpec, string, PayoutReason]>([
  ['is paused', pause, unpause, 'it waits: the issuer has paused the token', 'paused'],
  [
    'has frozen the payout address',
    freeze(payoutAddress),
    release(payoutAddress),
    'it waits: the issuer of the token has frozen the payout address',
    'frozen',
  ],
  [
    'takes a fee that nobody has confirmed',
    fee(10n, 1_000_000n),
    fee(0n, 0n),
    'it waits: the issuer takes a fee that no operator has confirmed, so less would arrive',
    'fee-unconfirmed',
  ],
])('a payout in a token that %s waits and says why, until that is over', async (_, begins, ends, why, reason) => {
  const { service, ofToken, ofTrx } = await startWithTwo()
  const { transaction } = await sign(service)
  await act(service, begins)
  expect(await offered(service)).toEqual([ofTrx])
  expect(await handIn(service, ofToken, transaction)).toMatchObject({ refused: { code: 409, reason } })
  expect([await whyOf(service, ofToken), await whyOf(service, ofTrx)]).toEqual([why, undefined])
  await act(service, ends)
  expect(await offered(service)).toEqual([ofToken, ofTrx])
  expect(await whyOf(service, ofToken)).toBeUndefined()
})

it('a payout in a token whose contract was replaced waits', async () => {
  const { service, ofToken, ofTrx } = await startWithTwo()
  await act(service, deprecate(addressOf(0x77)))
  expect(await offered(service)).toEqual([ofTrx])
  expect(await whyOf(service, ofToken)).toBe('it waits: the issuer has replaced the contract of the token')
  const { transaction } = await sign(service)
  expect(await handIn(service, ofToken, transaction)).toMatchObject({ refused: { code: 409, reason: 'deprecated' } })
})

it('a payout waits for no address but the one that pays it', async () => {
  const { service, ofToken, ofTrx } = await startWithTwo()
  await act(service, freeze(addressOf(0x99)))
  expect(await offered(service)).toEqual([ofToken, ofTrx])
})

it('what waits for an issuer is not reported as a signer that is missing', async () => {
  const service = await startPaying({ PAYOUTS: payoutsSetting })
  await ask(service)
  await act(service, pause)
  await tickLater(service, 900)
  expect(alarmsOf(service, 'token-paused')).toHaveLength(1)
  expect(alarmsOf(service, 'payouts-unsigned')).toEqual([])
  await act(service, unpause)
  await tickLater(service, 900)
  expect(alarmsOf(service, 'payouts-unsigned')).toHaveLength(1)
})

/** The transfers of a payout of 5 USDT where the token takes a fee of 1 %. */
const lessFee = [paidLog(4_950_000n), paidLog(50_000n, addressOf(0x78))]
const onePercent = fee(100n, 1_000_000n)
const confirm = ({ db }: RunningService) =>
  db.prepare(`UPDATE issuer_act SET confirmed_at = 1, confirmation = 'we bear it' WHERE confirmed_at IS NULL`).run()

it('a payout that was mined under a fee which is confirmed later is paid, once its block is read again', async () => {
  const service = await startPaying()
  const { id, ...signed } = await signedPayout(service)
  await act(service, onePercent)
  const height = await mineFinal(service, mined(signed, { logs: lessFee }))
  expect(await stateOfPayout(service, id)).toBe('stuck:other/1')
  await rescan(service, height, height)
  await tickLater(service, 60)
  expect(await stateOfPayout(service, id)).toBe('stuck:other/1')
  await confirm(service)
  // A person has approved it meanwhile, so it would be paid once more.
  expect(await send(service, '/approve', { ids: [id], moved: true }, 'office')).toMatchObject({ status: 200 })
  await rescan(service, height, height)
  await tickLater(service, 60)
  expect(await stateOfPayout(service, id)).toBe('paid/0')
  expect(await shown(service, id)).toMatchObject({ received: 4.95 })
  expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'stuck', 'approved', 'paid'])
  expect(await offered(service)).toEqual([])
})

it('a correction takes back the confirmation of a fee; confirmed anew, what was paid is paid', async () => {
  const service = await startPaying()
  const before = service.chain.tip().height
  await act(service, onePercent)
  await confirm(service)
  const { id, ...signed } = await signedPayout(service)
  const height = await mineFinal(service, mined(signed, { logs: lessFee }))
  expect(await stateOfPayout(service, id)).toBe('paid/0')
  await correct(service, before)
  await passBlocks(service, 1)
  expect(await stateOfPayout(service, id)).toBe('stuck:other/1')
  await confirm(service)
  await rescan(service, height, height)
  await tickLater(service, 60)
  expect(await stateOfPayout(service, id)).toBe('paid/0')
})
