import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import { payFinal, postInit, type RunningService, read, usdtTo } from '../http/service.ts'
import { recipientBase58 } from '../payouts/harness.ts'
import { eventsOf, statesOf } from '../scan/harness.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { addressesOf, balanceOf, startThreeCells, threeCells, tickAll, users } from './three-cells.ts'

// An address that a cell knows as an operator's pays the payouts of another cell.

const [first, second, third] = threeCells
const pays = (address: string) => ({ payouts: { address } })
const paysFromSecond = { OPERATOR_ADDRESSES: undefined, CELLS: [first, { ...second, ...pays(payoutBase58) }, third] }

const fromPayout = (to: Address, amount: bigint) => ({ ...usdtTo(to, amount), from: payoutAddress })
const scanAll = async (service: RunningService) => {
  service.clock.seconds += 60
  await tickAll(service)
}
/** Three cells with a user in each; `before` is the configuration in which they have scanned. */
async function startAfter(before: Record<string, unknown>) {
  const service = (await startThreeCells()).with(before)
  const [address] = await addressesOf(service)
  if (address === undefined) throw new Error('an address')
  await scanAll(service)
  return { service, address }
}
const stopOf = async (service: RunningService) => {
  const response = await service.ledger('/ledger/payouts/unsigned?cell=1')
  return [response.status, response.headers.get('x-reason')]
}

describe('a payout of another cell', () => {
  it.each([
    ["was an operator's wallet", { OPERATOR_ADDRESSES: [payoutBase58] }],
    ['was the payout address of this cell', { CELLS: [{ ...first, ...pays(payoutBase58) }, second, third] }],
  ])('is held for a review where its address %s, and credited once', async (_, before) => {
    const { service, address } = await startAfter(before)
    const now = service.with(paysFromSecond)
    const [txid = ''] = payFinal(now, fromPayout(address, 5_000_000n))
    await scanAll(now)
    expect(await statesOf(now)).toEqual(['held:review'])
    expect(await eventsOf(now)).toContain('deposit.held')
    const asked = await now.get(`/tron/recharge?txid=${txid}`)
    expect([asked.status, asked.headers.get('x-reason')]).toEqual([409, 'review'])
    for (let again = 0; again < 2; again += 1) {
      const deposits = [{ txid, position: 0, decision: 'credit', why: 'a payout of cell 2' }]
      const decided = await now.ledger('/ledger/deposits/decide?cell=1', postInit({ deposits }))
      expect((await read(decided)).body).toMatchObject({
        data: { list: [{ state: 'credited' }], replayed: again === 1 },
      })
    }
    await scanAll(now)
    expect(await balanceOf(now, users[0])).toBe(5)
  })

  it('is held also where its block is read once the other cell pays from another address', async () => {
    const { service, address } = await startAfter({ OPERATOR_ADDRESSES: [payoutBase58] })
    await scanAll(service.with(paysFromSecond))
    const later = service.with({
      OPERATOR_ADDRESSES: undefined,
      CELLS: [first, { ...second, ...pays(recipientBase58) }, third],
    })
    payFinal(later, fromPayout(address, 5_000_000n))
    await scanAll(later)
    expect(await statesOf(later)).toEqual(['held:review'])
  })

  it("is credited at once where its address was never an operator's here", async () => {
    const { service, address } = await startAfter({})
    const now = service.with(paysFromSecond)
    payFinal(now, fromPayout(address, 5_000_000n))
    await scanAll(now)
    expect(await balanceOf(now, users[0])).toBe(5)
  })

  it('stops no payouts of the cell that paid from its address before', async () => {
    const { service, address } = await startAfter({ CELLS: [{ ...first, ...pays(payoutBase58) }, second, third] })
    const now = service.with({
      CELLS: [{ ...first, ...pays(recipientBase58) }, { ...second, ...pays(payoutBase58) }, third],
    })
    payFinal(now, fromPayout(address, 5_000_000n))
    await scanAll(now)
    expect(await stopOf(now)).toEqual([200, null])
  })
})

it("a transfer from an operator's wallet is a movement, also once it has left the list", async () => {
  const { service, address } = await startAfter({ OPERATOR_ADDRESSES: [payoutBase58] })
  payFinal(service, fromPayout(address, 5_000_000n))
  const now = service.with({ OPERATOR_ADDRESSES: undefined })
  await scanAll(now)
  payFinal(now, fromPayout(address, 5_000_000n))
  await scanAll(now)
  expect(await statesOf(now)).toEqual(['moved', 'moved'])
})

it("nor is one a deposit that is listed again, or this cell's own", async () => {
  const { service, address } = await startAfter({ OPERATOR_ADDRESSES: [payoutBase58] })
  await scanAll(service.with(paysFromSecond))
  for (const again of [
    { OPERATOR_ADDRESSES: [payoutBase58] },
    { OPERATOR_ADDRESSES: undefined, CELLS: [{ ...first, ...pays(payoutBase58) }, second, third] },
  ]) {
    const now = service.with(again)
    payFinal(now, fromPayout(address, 5_000_000n))
    await scanAll(now)
  }
  expect(await statesOf(service)).toEqual(['moved', 'moved'])
})
