import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isComplete, reportLines } from '../../../src/commands/collect/tables.ts'
import { result } from '../../devnet/support.ts'
import { type CollectChain, destination, startCollectChain } from './harness.ts'
import { minedCounts, resultsOf, setEnergyPrice, twoUsers } from './send-harness.ts'

let chain: CollectChain

beforeEach(async () => {
  chain = await startCollectChain()
})
afterEach(() => chain.stop())

describe('what changed since the plan', () => {
  it('a token that is gone: nothing is spent for its address, the other one is collected', async () => {
    const signed = await twoUsers(chain)
    await moveToken(chain, chain.depositAt(0), chain.depositAt(7))
    const { states } = await chain.send(signed)
    expect(resultsOf(signed.plan, states).slice(0, 4)).toEqual([
      '1 delegate: unknown, nothing can be collected there by now: not enough balance',
      '2 transfer: skipped, step 1 did not succeed',
      '3 undelegate: skipped, nothing was delegated',
      '4 transfer: skipped, step 2 did not succeed',
    ])
    expect(await chain.balanceOf(destination, 'USDT')).toBe('10')
    expect(await minedCounts(chain, signed)).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
  })

  it('a token that goes while energy is lent: it is not sent, and the energy comes back', async () => {
    const signed = await twoUsers(chain)
    let looks = 0
    const onLook = async () => {
      looks += 1
      if (looks === 1) await moveToken(chain, chain.depositAt(0), chain.depositAt(7))
    }
    const { outcome, states } = await chain.send(signed, { onLook })
    expect(resultsOf(signed.plan, states)).toEqual([
      '1 delegate: mined',
      "2 transfer: unknown, the token's contract refuses it by now: not enough balance",
      '3 undelegate: mined',
      '4 transfer: skipped, step 2 did not succeed',
      '5 activate: mined',
      '6 delegate: mined',
      '7 transfer: mined',
      '8 undelegate: mined',
    ])
    expect(await chain.balanceOf(destination, 'USDT')).toBe('10')
    // Somebody with the signed file could have sent steps 2 and 4. Nobody may be told to make a new
    // plan while these transactions are still possible.
    expect(reportLines(signed.plan, states, outcome).at(-1)).toBe(
      `Ended. Until ${signed.plan.expiresAt} the rest can still come into a block, if an earlier run has sent it. ` +
        'Run the same command again after that: it says then what a new plan is needed for.',
    )
    await chain.devnet.advance(13 * 3_600)
    await chain.devnet.mine(3)
    const again = await chain.send(signed)
    expect(resultsOf(signed.plan, again.states)[1]).toBe('2 transfer: skipped, it expired before it came into a block')
    expect(reportLines(signed.plan, again.states, again.outcome).at(-1)).toBe('Ended: make a new plan for the rest.')
  })

  it('more money: what the plan says is collected, the rest stays for the next plan', async () => {
    const signed = await twoUsers(chain)
    await chain.deposit([0, '5', 'USDT'], [1, '2', 'TRX'])
    const { states } = await chain.send(signed)
    expect(isComplete(signed.plan, states)).toBe(true)
    expect(states.get(5)).toEqual({ kind: 'unneeded', why: 'the account exists by now' })
    expect(await chain.balanceOf(chain.depositAt(0), 'USDT')).toBe('5')
    const next = await chain.plan()
    expect(next.steps.filter(({ kind }) => kind === 'transfer').map(({ index }) => index)).toEqual([1])
    expect(next.leftOut).toMatchObject([
      { index: 0, units: '5000000', why: expect.stringContaining('collect it tomorrow') },
    ])
  })

  it('less TRX: its transfer is not sent', async () => {
    await chain.deposit([0, '5', 'TRX'])
    const plan = await chain.plan()
    await chain.devnet.send({ from: unwrapHex(chain, 0), to: destination, value: '1' })
    await chain.devnet.mine()
    const { states } = await chain.send(chain.sign(plan))
    expect(resultsOf(plan, states)).toEqual(['1 transfer: unknown, it holds only 4.999999 TRX by now'])
  })

  it('a busier contract: nothing burns more than the plan says, nothing new is begun, the energy comes back', async () => {
    const signed = await twoUsers(chain)
    await setEnergyPrice(chain, 2)
    const { states } = await chain.send(signed)
    const results = resultsOf(signed.plan, states)
    expect(results[1]).toMatch(
      /^2 transfer: unknown, it would burn [\d.]+ TRX, and the plan says at most 0: it needs \d+ energy/,
    )
    expect(results[2]).toBe('3 undelegate: mined')
    expect(results.filter((line) => line.startsWith('7 transfer: mined'))).toEqual([])
    expect(results[7]).toMatch(/^8 undelegate: (mined|skipped, nothing was delegated)$/)
    expect(await chain.balanceOf(destination, 'USDT')).toBe('0')
  })

  it('a little busier contract is within the headroom', async () => {
    const signed = await twoUsers(chain, 'transfer')
    await setEnergyPrice(chain, 1.15)
    const { states } = await chain.send(signed)
    expect(isComplete(signed.plan, states)).toBe(true)
  })
})

describe('a plan that is too late', () => {
  it('before anything was sent: nothing is sent, and the report says what to do', async () => {
    const signed = await twoUsers(chain)
    await chain.devnet.advance(13 * 3_600)
    await chain.devnet.mine(3)
    const { outcome, states } = await chain.send(signed)
    expect([...states.values()]).toEqual(
      signed.plan.steps.map(() => ({ kind: 'skipped', why: 'it expired before it came into a block' })),
    )
    expect(reportLines(signed.plan, states, outcome).at(-1)).toBe('Ended: make a new plan for the rest.')
    expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 0))
  })

  it('on the way: what was sent is known, and the energy that is still lent is taken back by the next plan', async () => {
    const signed = await twoUsers(chain)
    let looks = 0
    const { outcome, states } = await chain.send(signed, {
      onLook: async () => {
        looks += 1
        if (looks === 1) await chain.devnet.advance(13 * 3_600)
      },
    })
    const results = resultsOf(signed.plan, states)
    expect(results[0]).toBe('1 delegate: mined')
    expect(results[1]).toBe('2 transfer: skipped, it expired before it came into a block')
    expect(reportLines(signed.plan, states, outcome).at(-1)).toContain(
      'Energy is still delegated: a new plan takes it back.',
    )
    const next = await chain.plan({ currency: 'TRX' })
    expect(next.steps.map(({ kind, index }) => `${kind} ${index}`)).toContain('undelegate 0')
    const again = await chain.send(chain.sign(next))
    expect(isComplete(next, again.states)).toBe(true)
  })
})

describe('a fork', () => {
  it('that removes the reference block: no transaction is valid, and the report says why', async () => {
    await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'])
    await chain.devnet.mine(3)
    const signed = chain.sign(await chain.plan())
    await chain.devnet.rollBack(4)
    // so that the new blocks differ from the removed ones
    await chain.devnet.pay({ to: destination, amount: '0.5', currency: 'TRX' })
    await chain.devnet.mine(6)
    const { states } = await chain.send(signed)
    expect(resultsOf(signed.plan, states)[0]).toMatch(/^1 delegate: refused, its reference block is not on this chain/)
    expect([...states.values()].some(({ kind }) => kind === 'mined')).toBe(false)
  })

  it('that removes what was sent: it is sent again where it is still of use, and nothing counts twice', async () => {
    const signed = await twoUsers(chain)
    let forks = 0
    const { outcome, states } = await chain.send(signed, {
      onLook: async () => {
        if (
          forks > 0 ||
          (await result(chain.devnet, 'eth_getTransactionReceipt', signed.plan.steps[0]?.txid ?? '')) === null
        )
          return
        forks += 1
        await chain.devnet.rollBack(1)
      },
    })
    expect([forks, outcome.kind, isComplete(signed.plan, states)]).toEqual([1, 'settled', true])
    // The delegation, step 1, was only in the removed block. Step 2, the token's transfer, is in a
    // block without it, which a real node would not allow.
    expect(await minedCounts(chain, signed)).toEqual([0, 1, 0, 1, 1, 1, 1, 1])
    const again = await chain.send(signed)
    expect([again.outcome.kind, isComplete(signed.plan, again.states)]).toEqual(['settled', true])
  })
})

it('a fork that removes lent energy while its transfer is measured: all of it is done again, and completes', async () => {
  const signed = await twoUsers(chain)
  let hasForked = false
  const forking: typeof fetch = async (url, init) => {
    const isMeasured = String(url).endsWith('/getaccountresource') && String(init?.body).includes(chain.depositAt(0))
    if (!hasForked && isMeasured) {
      hasForked = true
      await chain.devnet.rollBack(1)
    }
    return fetch(url, init)
  }
  const { outcome, states } = await chain.send(signed, { fetch: forking })
  expect(resultsOf(signed.plan, states).filter((one) => !one.endsWith(': mined'))).toEqual([])
  expect([hasForked, outcome.kind, isComplete(signed.plan, states)]).toEqual([true, 'settled', true])
  expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
})

const unwrapHex = ({ config }: CollectChain, index: number) => config.extendedPublicKey.addressAt(index)

/** Sends all tokens of `from` to `to`, as its owner could with another wallet. */
async function moveToken({ devnet, config }: CollectChain, from: string, to: string): Promise<void> {
  const indexOf = (address: string) => [0, 1, 2, 3, 4, 5, 6, 7].find((index) => chain.depositAt(index) === address) ?? 0
  const [owner, target] = [from, to].map((address) => config.extendedPublicKey.addressAt(indexOf(address)))
  const data = `a9059cbb${(target ?? '').padStart(64, '0')}${(25_000_000).toString(16).padStart(64, '0')}`
  await devnet.send({ from: owner ?? '', to: devnet.tokenAddress, data })
  await devnet.mine()
}
