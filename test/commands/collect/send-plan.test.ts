import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isComplete, reportLines } from '../../../src/commands/collect/tables.ts'
import { result } from '../../devnet/support.ts'
import { type CollectChain, destination, gasAddress, listedAt, startCollectChain } from './harness.ts'
import { minedCounts, twoUsers } from './send-harness.ts'

let chain: CollectChain

beforeEach(async () => {
  chain = await startCollectChain()
})
afterEach(() => chain.stop())

const isBroadcast = (url: unknown) => String(url).endsWith('/broadcasthex')

describe('sending a plan', () => {
  it.each(['delegate', 'transfer'] as const)(
    'by %s moves everything, and burns no more than the plan says',
    async (gas) => {
      const signed = await twoUsers(chain, gas)
      const { plan } = signed
      const operatorBefore = Number(await chain.balanceOf(gasAddress, 'TRX'))
      const { outcome, states } = await chain.send(signed)
      expect(outcome).toEqual({ kind: 'settled', isExpired: false })
      expect(isComplete(plan, states)).toBe(true)
      expect(await chain.balanceOf(destination, 'USDT')).toBe('35')
      for (const index of [0, 1]) expect(await chain.balanceOf(chain.depositAt(index), 'USDT')).toBe('0')
      const planned = plan.steps.reduce((sum, { fee }) => sum + Number(fee), 0) / 1e6
      const left = Number(await chain.balanceOf(gasAddress, 'TRX'))
      const held = Number(await chain.balanceOf(destination, 'TRX')) - 1
      const rest =
        Number(await chain.balanceOf(chain.depositAt(0), 'TRX')) +
        Number(await chain.balanceOf(chain.depositAt(1), 'TRX'))
      const burnt = operatorBefore + 3.5 - left - held - rest
      expect(burnt).toBeLessThanOrEqual(planned + 1e-9)
      expect(reportLines(plan, states, outcome).at(-1)).toBe('Complete, and final.')
      expect(reportLines(plan, states, outcome).join('\n')).toContain(`${Math.round(burnt * 1e6) / 1e6} TRX burnt`)
    },
  )

  it('again does nothing, and says that all of it is done', async () => {
    const signed = await twoUsers(chain)
    await chain.send(signed)
    let broadcasts = 0
    const counting: typeof fetch = (url, init) => {
      if (isBroadcast(url)) broadcasts += 1
      return fetch(url, init)
    }
    const { outcome, states } = await chain.send(signed, { fetch: counting })
    expect([outcome.kind, isComplete(signed.plan, states), broadcasts]).toEqual(['settled', true, 0])
  })

  it('by two commands at the same time sends nothing twice', async () => {
    const signed = await twoUsers(chain)
    const runs = await Promise.all([chain.send(signed), chain.send(signed)])
    for (const { outcome, states } of runs)
      expect([outcome.kind, isComplete(signed.plan, states)]).toEqual(['settled', true])
    expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
  })

  it('sends nothing before what it needs is in a block', async () => {
    const signed = await twoUsers(chain)
    const order: string[] = []
    const watching: typeof fetch = async (url, init) => {
      if (isBroadcast(url)) {
        const { transaction } = JSON.parse(String(init?.body)) as { transaction: string }
        const step = signed.plan.steps.find(({ id }) => transaction.endsWith(signed.signatures[id - 1] ?? 'none'))
        for (const id of step?.after ?? []) {
          const { txid } = signed.plan.steps[id - 1] ?? { txid: '' }
          expect(await result(chain.devnet, 'eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x1' })
        }
        order.push(`${step?.kind} ${step?.index}`)
      }
      return fetch(url, init)
    }
    await chain.send(signed, { fetch: watching })
    expect(order).toHaveLength(signed.plan.steps.length)
    expect(order.indexOf('activate 1')).toBeLessThan(order.indexOf('delegate 1'))
  })
})

describe('an interruption', () => {
  it.each(['delegate', 'transfer'] as const)(
    'at any step, with the answer lost, loses nothing and sends nothing twice (%s)',
    async (gas) => {
      const signed = await twoUsers(chain, gas)
      // Each run ends at the first transaction that no earlier run has sent. The node receives the
      // transaction, but its answer is lost.
      const seen = new Set<string>()
      for (let run = 0; run < signed.plan.steps.length; run += 1) {
        const abort = new AbortController()
        const dying: typeof fetch = async (url, init) => {
          if (!isBroadcast(url)) return fetch(url, init)
          const answer = await fetch(url, init)
          if (seen.has(String(init?.body))) return answer
          seen.add(String(init?.body))
          abort.abort()
          throw new Error('the machine lost its power')
        }
        const { outcome } = await chain.send(signed, { fetch: dying, signal: abort.signal })
        expect(outcome).toMatchObject({ kind: 'interrupted' })
      }
      const { outcome, states } = await chain.send(signed)
      expect([outcome.kind, isComplete(signed.plan, states)]).toEqual(['settled', true])
      expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
      expect(await chain.balanceOf(destination, 'USDT')).toBe('35')
    },
  )

  it('before each request ends cleanly, and the last run completes', async () => {
    const signed = await twoUsers(chain)
    for (let limit = 1; limit < 60; limit += 7) {
      const abort = new AbortController()
      let requests = 0
      const counting: typeof fetch = (url, init) => {
        requests += 1
        if (requests === limit) abort.abort()
        return fetch(url, init)
      }
      const { outcome, states } = await chain.send(signed, { fetch: counting, signal: abort.signal })
      expect(reportLines(signed.plan, states, outcome).at(-1)).toMatch(
        outcome.kind === 'settled' ? /^Complete/ : /^Interrupted: stopped at the terminal\. Run the same command again/,
      )
      await chain.devnet.mine(1)
    }
    await chain.send(signed)
    expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
  })

  it('by nodes that do not answer says so', async () => {
    const signed = await twoUsers(chain)
    const dead: typeof fetch = async (url, init) =>
      isBroadcast(url) ? Promise.reject(new Error('down')) : fetch(url, init)
    const { outcome } = await chain.send(signed, { fetch: dead })
    expect(outcome).toMatchObject({
      kind: 'interrupted',
      why: expect.stringContaining('no node answered broadcasthex'),
    })
    expect(JSON.stringify(outcome)).not.toContain('127.0.0.1')
  })
})

it('"duplicate" is no proof: a transaction that a node refused before is not taken for sent', async () => {
  await chain.deposit([0, '3.5', 'TRX'])
  const signed = chain.sign(await chain.plan({}, listedAt(chain.config, 0)))
  const duplicate = { result: false, code: 'DUP_TRANSACTION_ERROR', message: 'Transaction already exists.' }
  const lying: typeof fetch = async (url, init) =>
    isBroadcast(url) ? new Response(JSON.stringify(duplicate)) : fetch(url, init)
  const { outcome, states } = await chain.send(signed, { fetch: lying })
  expect(outcome).toMatchObject({ kind: 'interrupted', why: 'no further transaction came into a block for minutes' })
  expect(isComplete(signed.plan, states)).toBe(false)
  expect([...states.values()].some(({ kind }) => kind === 'mined')).toBe(false)
})

it('a node that is busy gets the transaction again a moment later', async () => {
  const signed = await twoUsers(chain)
  let refusals = 0
  const busy: typeof fetch = async (url, init) => {
    if (!isBroadcast(url) || refusals >= 3) return fetch(url, init)
    refusals += 1
    const code = ['SERVER_BUSY', 'NO_CONNECTION', 'BLOCK_UNSOLIDIFIED'][refusals - 1]
    return new Response(JSON.stringify({ result: false, code, message: 'later' }))
  }
  const { states } = await chain.send(signed, { fetch: busy })
  expect([refusals, isComplete(signed.plan, states)]).toEqual([3, true])
})
