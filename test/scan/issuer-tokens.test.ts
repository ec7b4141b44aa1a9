import { beforeEach, describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { stopsOf } from '../../src/worker/issuer/state.ts'
import { selectIssuerState } from '../../src/worker/issuer/store.ts'
import { oneEndpoint, payFinal, type RunningService, textOf, usdtTo } from '../http/service.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { alarmLines, alarmsOf, balancesOf, retiredUsdt, tickFor, tickLater, withAddress } from './harness.ts'
import { act, deprecate, destroy, eventList, fee, freeze, pause, unpause } from './issuer-acts.ts'

let service: RunningService
let own: Address

beforeEach(async () => {
  const started = await withAddress(oneEndpoint)
  service = started.service
  own = started.own
  await service.tick()
})

const state = () => selectIssuerState(writable(service.db))

const usdtSums = async () => {
  const response = await service.ledger('/ledger/summary')
  const { data } = await response.json<{ data: { currencies: Record<string, unknown>[] } }>()
  return data.currencies.find(({ cuy }) => cuy === 2)
}

describe('what is destroyed', () => {
  const setBalance = (units: bigint) => {
    for (const node of service.nodes) node.balances.set(`${usdtAddress} ${own}`, units)
  }
  /** Four days of ticks, in which each address's balance is compared several times. */
  const compare = () => tickFor(service, 4 * 86_400, () => service.chain.addEmpty(60), 3 * 3_600)

  it('explains its shortfall to the unit: no other alarm, and the sums say what is gone', async () => {
    payFinal(service, usdtTo(own, 25_000_001n))
    setBalance(25_000_001n)
    await tickLater(service)
    await compare()
    expect(await usdtSums()).toMatchObject({ held: 25.000001, frozen: 0, frozen_addresses: 0, destroyed: 0 })
    await act(service, freeze(own))
    expect(await usdtSums()).toMatchObject({ frozen: 25.000001, frozen_addresses: 1, destroyed: 0 })
    const txid = await act(service, destroy(own, 25_000_001n))
    setBalance(0n)
    await compare()
    const kinds = alarmLines(service).map(({ alarm }) => String(alarm))
    expect(kinds.filter((kind) => !kind.startsWith('endpoint'))).toEqual(['address-frozen'])
    expect(await usdtSums()).toMatchObject({
      owed: 25.000001,
      held: 0,
      frozen: 0,
      frozen_addresses: 1,
      destroyed: 25.000001,
      unexplained: 0,
    })
    const [destroyed] = (await eventList(service)).filter(({ type }) => type === 'address.destroyed')
    expect(destroyed?.data).toEqual({ address: formatBase58(own), cuy: 2, txid, amt: 25.000001 })
  })

  it('leaves what is missing beyond it as a shortfall', async () => {
    payFinal(service, usdtTo(own, 25_000_000n))
    setBalance(25_000_000n)
    await act(service, freeze(own))
    await act(service, destroy(own, 20_000_000n))
    setBalance(4_000_000n)
    await compare()
    expect(alarmsOf(service, 'reconciliation-shortfall')).toMatchObject([{ amount: '1000000' }])
  })

  it('can be nothing, and is an event all the same', async () => {
    await act(service, freeze(own), destroy(own, 0n))
    expect((await eventList(service))[1]).toMatchObject({ type: 'address.destroyed', data: { amt: 0 } })
  })
})

describe('a token', () => {
  it('that is paused has an alarm until it goes on', async () => {
    const txid = await act(service, pause)
    expect(alarmsOf(service, 'token-paused')).toMatchObject([{ cuy: 2, symbol: 'USDT', txid }])
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['paused'])
    await act(service, unpause)
    expect(stopsOf(await state(), 2 as never, own)).toEqual([])
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    await act(service, pause)
    expect(alarmsOf(service, 'token-paused')).toHaveLength(2)
  })

  it('with a fee has an alarm until there is none, or an operator has confirmed exactly this one', async () => {
    const txid = await act(service, fee(10n, 5_000_000n))
    expect(alarmsOf(service, 'token-fee-set')).toMatchObject([{ cuy: 2, percent: '0.1', most: '5', txid }])
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['fee-unconfirmed'])
    await act(service, fee(0n, 0n))
    expect((await state()).fees).toEqual([])
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    await act(service, fee(10n, 5_000_000n))
    await service.db
      .prepare(
        `UPDATE issuer_act SET confirmed_at = 1, confirmation = 'we bear it' WHERE height = (SELECT max(height) FROM issuer_act)`,
      )
      .run()
    await tickLater(service)
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    expect((await state()).fees).toMatchObject([{ basisPoints: 10n, maximum: 5_000_000n, isConfirmed: true }])
    await act(service, fee(10n, 5_000_000n)) // the issuer sets the same fee again, which nobody has confirmed
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['fee-unconfirmed'])
  })

  it('whose fee has no amount, or no rate, has a fee all the same', async () => {
    await act(service, fee(0n, 1n))
    expect(alarmsOf(service, 'token-fee-set')).toHaveLength(1)
    await act(service, fee(1n, 0n))
    expect((await state()).fees).toHaveLength(1)
  })

  it('that is deprecated has an alarm with its successor until the currency is retired', async () => {
    const txid = await act(service, deprecate(addressOf(71)))
    expect(alarmsOf(service, 'token-deprecated')).toMatchObject([
      { cuy: 2, txid, successor: formatBase58(addressOf(71)) },
    ])
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['deprecated'])
    await tickLater(service.with({ CURRENCIES: retiredUsdt }))
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
  })

  it('with a fee credits what arrives', async () => {
    await act(service, fee(10n, 5_000_000n))
    payFinal(service, usdtTo(own, 24_975_000n))
    await tickLater(service)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 24.975 })
    expect(await textOf(service, '/wallet/list')).toContain('24.975')
  })
})
