import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CollectChain, listedAt, startCollectChain, type Through } from './harness.ts'

let chain: CollectChain
beforeAll(async () => {
  chain = await startCollectChain({ stake: '1' })
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'])
})
afterAll(() => chain.stop())

/**
 * The chain as it is while nobody has staked for energy: the replies about resources lack the
 * members `absent`.
 */
const unstaked = (...absent: readonly string[]): Through => ({
  config: chain.config,
  fetch: async (url, init) => {
    const response = await fetch(url, init)
    const isAbout = String(url).endsWith('/getaccountresource') || String(url).endsWith('/getcandelegatedmaxsize')
    if (!isAbout) return response
    const reply = (await response.json()) as Record<string, unknown>
    return Response.json(Object.fromEntries(Object.entries(reply).filter(([name]) => !absent.includes(name))))
  },
})
const plan = (gas: string, through: Through) => chain.plan({ gas }, listedAt(chain.config, 0), through)

describe('on a chain on which nobody has staked for energy', () => {
  it('gas is sent as TRX', async () => {
    const { steps } = await plan('transfer', unstaked('TotalEnergyWeight', 'max_size'))
    expect(steps.map(({ kind }) => kind)).toContain('gas')
    expect(steps.filter(({ kind }) => kind === 'transfer')).not.toEqual([])
  })

  it('what needs delegated energy stays, and the plan says why', async () => {
    const { leftOut, steps } = await plan('delegate', unstaked('TotalEnergyWeight', 'max_size'))
    expect(leftOut).toMatchObject([{ symbol: 'USDT', why: expect.stringContaining('stake more') }])
    expect(steps.map(({ kind }) => kind)).toEqual(['transfer']) // only the TRX is collected
  })
})

it('a node that does not say how much energy there is stops a plan that delegates, and no other', async () => {
  const through = unstaked('TotalEnergyLimit')
  await expect(plan('delegate', through)).rejects.toThrow('do not report what a stake gives (TotalEnergyLimit)')
  expect((await plan('transfer', through)).steps).not.toEqual([])
})
