import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isComplete, reportLines } from '../../../src/commands/collect/tables.ts'
import { createWalletClient, operator } from '../../devnet/wallet-client.ts'
import { type CollectChain, destination, startCollectChain } from './harness.ts'
import { resultsOf, setEnergyPrice, twoUsers } from './send-harness.ts'

const weekSeconds = 7 * 86_400

let chain: CollectChain

beforeEach(async () => {
  chain = await startCollectChain()
})
afterEach(() => chain.stop())

const isBroadcast = (url: unknown) => String(url).endsWith('/broadcasthex')

it('a transfer that fails in its block: nothing new is begun, the energy comes back, and the report says why', async () => {
  const signed = await twoUsers(chain)
  const [, transfer] = signed.plan.steps
  const unlucky: typeof fetch = async (url, init) => {
    // While step 2 is sent, the contract needs three times the energy that was measured for it.
    const isOf = (id: number) => isBroadcast(url) && String(init?.body).includes(signed.signatures[id - 1] ?? '')
    if (isBroadcast(url)) await setEnergyPrice(chain, isOf(2) ? 3 : 1)
    // no node takes step 5, which is begun only after step 2
    return isOf(5) ? new Response('{"result":false,"code":"SERVER_BUSY"}') : fetch(url, init)
  }
  const { outcome, states } = await chain.send(signed, { fetch: unlucky })
  const why = "it failed in its block (Not enough energy for 'SSTORE' operation executing)"
  expect(resultsOf(signed.plan, states)).toEqual([
    '1 delegate: mined',
    '2 transfer: mined',
    '3 undelegate: mined',
    '4 transfer: skipped, step 2 did not succeed',
    `5 activate: unknown, nothing new is begun, because of step 2: ${why}`,
    '6 delegate: skipped, step 5 did not succeed',
    '7 transfer: skipped, step 6 did not succeed',
    '8 undelegate: skipped, nothing was delegated',
  ])
  const info = states.get(2)?.kind === 'mined' ? states.get(2) : undefined
  expect(info).toMatchObject({ info: { isSuccess: false } })
  const report = reportLines(signed.plan, states, outcome)
  const line = report.find((one) => one.startsWith('2 '))
  expect(line).toMatch(new RegExp(`FAILED in block \\d+ +\\d+ +[\\d.]+ +${transfer?.txid}$`))
  expect(report).toContain("Step 2: Not enough energy for 'SSTORE' operation executing")
  expect(report.at(-1)).toMatch(/^Ended\. Until .* the rest can still come into a block/)
  // The failed transfer burnt no more than its fee limit, and nobody received the token.
  const [burnt = '0'] = /[\d.]+(?= +[0-9a-f]{64}$)/.exec(line ?? '') ?? []
  expect(Number(burnt) * 1e6).toBeLessThanOrEqual(
    Number(transfer !== undefined && 'feeLimit' in transfer ? transfer.feeLimit : 0),
  )
  expect(await chain.balanceOf(destination, 'USDT')).toBe('0')
  // A second run finds the failure on the chain, and begins no further step.
  const again = await chain.send(signed)
  expect(resultsOf(signed.plan, again.states)).toEqual(resultsOf(signed.plan, states))
})

it('a gas address whose bandwidth was used for something else since the plan burns nothing for it', async () => {
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'])
  const plan = await chain.plan()
  expect(plan.steps.map(({ fee }) => fee)).toEqual(['0', '0', '0', '268000'])
  const client = createWalletClient(chain.devnet)
  for (let i = 0; i < 2; i += 1) await client.send(operator, destination, { kind: 'gas', sun: '1' })
  await chain.devnet.mine()
  const { states } = await chain.send(chain.sign(plan))
  expect(resultsOf(plan, states)[0]).toBe(
    '1 delegate: unknown, it would burn 0.279 TRX, and the plan says at most 0: the gas address has less bandwidth than it had',
  )
  expect([...states.values()].some(({ kind }) => kind === 'mined')).toBe(false)
})

describe('a signed plan that is sent again after a week', () => {
  it.each(['before', 'after'] as const)(
    'sends nothing, where it was first sent %s that: new money stays',
    async (when) => {
      const signed = await twoUsers(chain)
      if (when === 'before') await chain.send(signed)
      await chain.devnet.advance(weekSeconds)
      await chain.deposit([0, '25', 'USDT'], [1, '10', 'USDT'], [0, '9', 'TRX'])
      const held = await chain.balanceOf(chain.depositAt(0), 'USDT')
      let broadcasts = 0
      const counting: typeof fetch = (url, init) => {
        if (isBroadcast(url)) broadcasts += 1
        return fetch(url, init)
      }
      const { outcome, states } = await chain.send(signed, { fetch: counting })
      expect([outcome.kind, broadcasts]).toEqual(['settled', 0])
      expect(isComplete(signed.plan, states)).toBe(when === 'before')
      expect(await chain.balanceOf(chain.depositAt(0), 'USDT')).toBe(held)
    },
  )
})
