import { describe, expect, it } from 'vitest'
import { alarm, dayMs, oneTrx, paid, sent, shortfall, startReconciliation, surplus } from './harness.ts'

describe('collecting', () => {
  it('is not reported: its fee is accepted at once, and later differences are measured from there', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.minutes(1, [paid(1, 0, 100n * oneTrx)])
    service.setBalance(1, 0, oneTrx) // 1 TRX was burnt
    await service.minutes(1, [sent(1, 0, 98n * oneTrx)])
    await service.wait(20)
    expect(service.raised).toEqual([])
    expect((await service.holdings())[0]).toMatchObject({ accepted: '-1000000', accepted_sent: 1, differing: 0 })
    service.setBalance(1, 0, oneTrx - 1n)
    service.state.now += dayMs
    await service.wait(25)
    expect(service.raised).toEqual([alarm(shortfall, 1, 0, 1n)])
  })

  it('of tokens is not reported, nor is the TRX that it burnt', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.minutes(1, [paid(2, 0, 70n), paid(1, 0, 30n * oneTrx)])
    service.setBalance(1, 0, 3n * oneTrx)
    await service.minutes(1, [sent(2, 0, 70n)])
    await service.wait(20)
    expect(service.raised).toEqual([])
  })

  it('explains no more than one highest fee for each transaction', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.minutes(1, [paid(1, 0, 900n * oneTrx)])
    service.setBalance(1, 0, 899n * oneTrx - 201n * oneTrx)
    await service.minutes(1, [sent(1, 0, oneTrx)])
    await service.wait(25)
    expect(service.raised).toEqual([alarm(shortfall, 1, 0, 201n * oneTrx)])
  })

  it('into another address of the service changes no sum', async () => {
    const service = await startReconciliation({ addresses: 2 })
    await service.minutes(1, [paid(2, 0, 70n), paid(1, 0, 30n * oneTrx)])
    service.setBalance(2, 1, 70n)
    service.setBalance(1, 0, 9n * oneTrx)
    service.setBalance(1, 1, 20n * oneTrx)
    await service.minutes(1, [sent(2, 0, 70n, 1), sent(1, 0, 20n * oneTrx, 1)])
    await service.wait(20)
    expect(service.raised).toEqual([])
  })
})

it('reports a shortfall of a token, which no fee explains', async () => {
  const service = await startReconciliation({ addresses: 1 })
  service.setBalance(2, 0, 29n)
  await service.minutes(1, [paid(2, 0, 40n)])
  await service.minutes(1, [sent(2, 0, 10n)])
  await service.wait(25)
  expect(service.raised).toEqual([alarm(shortfall, 2, 0, 1n)])
})

it('compares amounts of any size to the last digit', async () => {
  const service = await startReconciliation({ addresses: 1 })
  const large = 10n ** 30n + 1n
  service.setBalance(2, 0, 150n * large + 1n)
  await service.minutes(
    25,
    Array.from({ length: 150 }, () => paid(2, 0, large)),
  )
  expect(service.raised).toEqual([alarm(surplus, 2, 0, 1n)])
})
