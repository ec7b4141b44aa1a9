import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stopsOfRows } from '../../../src/commands/collect/issuer-stops.ts'
import { tokenOwner } from '../../devnet/control.ts'
import { tokenSelector } from '../../devnet/token/compile.ts'
import { type CollectChain, destination, listedAt, startCollectChain } from './harness.ts'
import { minedCounts, resultsOf, twoUsers } from './send-harness.ts'
import { startService } from './whole-service.ts'

let chain: CollectChain

beforeEach(async () => {
  chain = await startCollectChain()
})
afterEach(() => chain.stop())

/** Calls a function of the token's contract as its issuer. */
async function act(signature: string, ...words: readonly (string | bigint)[]): Promise<void> {
  const data = words.map((word) => (typeof word === 'string' ? word : word.toString(16)).padStart(64, '0')).join('')
  const { devnet } = chain
  await devnet.send({ from: tokenOwner, to: devnet.tokenAddress, data: `0x${tokenSelector(signature)}${data}` })
  await devnet.mine(4)
}

/** The address at an index as hex digits, as the contract takes it. */
const hexAt = (index: number) => listedAt(chain.config, index)[0]?.address ?? ''

/**
 * The service on this chain, with the addresses of users 7 and 8. `stops` is what the commands
 * conclude from its database about the issuer.
 */
async function readByService() {
  const service = startService(chain)
  for (const uid of [7, 8]) await service.get('/tron/generate', uid)
  await service.tick()
  const stops = () => stopsOfRows(chain.config.currencies, service.standing())
  return { ...service, stops }
}

const planOf = (stopOf?: ReturnType<typeof stopsOfRows>) => {
  const through = { config: chain.config, fetch }
  return chain.plan({}, listedAt(chain.config, 0, 1), through, stopOf)
}
const stays = ({ leftOut }: Awaited<ReturnType<typeof planOf>>) =>
  leftOut.map(({ index, symbol, units, why }) => `${index}: ${units} ${symbol}: ${why}`)

describe('a frozen address', () => {
  const frozen = 'its issuer has frozen this address: it stays until it is released'

  it.each([
    ['topics', 0n],
    ['data', 1n],
  ])(
    'is left out with its token, by what the service has read in %s of logs; its TRX and all others are collected',
    async (_, inData) => {
      const service = await readByService()
      await act('setAddressInData(bool)', inData)
      await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
      await act('addBlackList(address)', hexAt(0))
      await service.tick()
      const plan = await planOf(service.stops())
      expect(stays(plan)).toEqual([`0: 25000000 USDT: ${frozen}`])
      const moved = plan.steps.flatMap((step) => (step.kind === 'transfer' ? [`${step.index} ${step.symbol}`] : []))
      expect(moved).toEqual(['0 TRX', '1 USDT'])
      await act('destroyBlackFunds(address)', hexAt(0))
      await act('removeBlackList(address)', hexAt(0))
      await service.tick()
      expect(service.destroyed()).toEqual([{ raw: '25000000' }])
      expect(stays(await planOf(service.stops()))).toEqual([])
    },
  )

  it('is left out by the word of the token’s contract where no database is asked', async () => {
    await chain.deposit([0, '25', 'USDT'], [1, '10', 'USDT'])
    await act('addBlackList(address)', hexAt(0))
    const plan = await planOf()
    expect(stays(plan)).toEqual(["0: 25000000 USDT: the token's contract refuses it: frozen"])
    expect(plan.steps.filter(({ index }) => index === 0)).toEqual([])
  })

  it('stops a plan that was made before: nothing is spent for it, and the other address is collected', async () => {
    const signed = await twoUsers(chain)
    await act('addBlackList(address)', hexAt(0))
    const { states } = await chain.send(signed)
    expect(resultsOf(signed.plan, states).slice(0, 4)).toEqual([
      '1 delegate: unknown, nothing can be collected there by now: frozen',
      '2 transfer: skipped, step 1 did not succeed',
      '3 undelegate: skipped, nothing was delegated',
      '4 transfer: skipped, step 2 did not succeed',
    ])
    expect(await chain.balanceOf(destination, 'USDT')).toBe('10')
    expect(await minedCounts(chain, signed)).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
  })

  it('stops it by what the service has stored, too', async () => {
    const service = await readByService()
    const signed = await twoUsers(chain)
    await act('addBlackList(address)', hexAt(0))
    await service.tick()
    const { states } = await chain.send(signed, { stopOf: service.stops() })
    expect(resultsOf(signed.plan, states)[0]).toBe(
      `1 delegate: unknown, nothing can be collected there by now: ${frozen}`,
    )
    expect(await minedCounts(chain, signed)).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
  })
})

describe('a token', () => {
  it('that is paused stays until it goes on', async () => {
    const service = await readByService()
    await chain.deposit([0, '25', 'USDT'], [1, '10', 'USDT'])
    await act('pause()')
    await service.tick()
    const why = 'its issuer has paused the token: collect it when it goes on'
    expect(stays(await planOf(service.stops()))).toEqual([`0: 25000000 USDT: ${why}`, `1: 10000000 USDT: ${why}`])
    await act('unpause()')
    await service.tick()
    expect(stays(await planOf(service.stops()))).toEqual([])
  })

  it('with a fee stays until somebody has confirmed the fee, also in a plan that was made before', async () => {
    const service = await readByService()
    const signed = await twoUsers(chain)
    await act('setParams(uint256,uint256)', 10n, 40n)
    await service.tick()
    const why = 'its issuer takes a fee that nobody has confirmed (npm run operate -- fee list)'
    expect(stays(await planOf(service.stops()))).toEqual([`0: 25000000 USDT: ${why}`, `1: 10000000 USDT: ${why}`])
    const { states } = await chain.send(signed, { stopOf: service.stops() })
    expect(resultsOf(signed.plan, states)[0]).toBe(`1 delegate: unknown, nothing can be collected there by now: ${why}`)
    service.run(`UPDATE issuer_act SET confirmed_at = 1, confirmation = 'known'`)
    expect(stays(await planOf(service.stops()))).toEqual([])
  })

  it('that is deprecated is collected: what is left of it should not stay', async () => {
    const service = await readByService()
    await chain.deposit([0, '25', 'USDT'])
    await act('deprecate(address)', hexAt(9))
    await service.tick()
    expect(service.standing()).toMatchObject([{ kind: 'deprecated' }])
    expect(service.stops()('USDT', chain.depositAt(0))).toBeNull()
  })
})
