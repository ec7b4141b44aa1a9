import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProgress } from '../../../src/commands/collect/command-line.ts'
import { scanAddresses, wholeRange } from '../../../src/commands/collect/gather.ts'
import { noStops } from '../../../src/commands/collect/issuer-stops.ts'
import { createPlan, readSettings } from '../../../src/commands/collect/plan-command.ts'
import { type AgreedReading, openNodes } from '../../../src/commands/nodes.ts'
import { trc20Asset } from '../../../src/worker/chain/block.ts'
import { parseConfig } from '../../../src/worker/config/config.ts'
import { result } from '../../devnet/support.ts'
import { createCommandTime } from '../../support/command-time.ts'
import { testXpub } from '../../support/variables.ts'
import { bindingsFor, type CollectChain, destination, listedAt, startCollectChain, unwrap } from './harness.ts'

const bindings = bindingsFor({ rpcUrl: 'https://n.example/jsonrpc', apiUrl: 'https://n.example' })
// without `noLimits`: the limits of a public node hold
const TRON_NODES = [{ rpc: 'https://n.example/jsonrpc', api: 'https://n.example' }]
const config = unwrap(parseConfig({ ...bindings, TRON_NODES }))
const anything = { parse: (value: unknown) => value, merge: (a: unknown) => a }

/**
 * Makes nodes that answer at once. `ask` sends them a request; `asked` has the times at which they
 * were asked.
 */
function timedNodes(abort = new AbortController()) {
  const { clock, around, run } = createCommandTime()
  const asked: number[] = []
  const fetch = around(async () => {
    asked.push(clock.now())
    return new Response('{"chainParameter":[]}')
  })
  const nodes = openNodes(config, { clock, fetch, signal: abort.signal })
  const ask = (path: string, reading: AgreedReading<unknown> = anything) => run(nodes.agree(path, {}, reading))
  return { ask, asked }
}

it('the nodes are asked at most as often in a second as they allow', async () => {
  const { ask, asked } = timedNodes()
  for (let i = 0; i < 60; i += 1) await ask('x')
  const most = Math.max(...asked.map((at) => asked.filter((other) => other >= at && other < at + 1_000).length))
  expect([most <= 15, new Set(asked).size > 3]).toEqual([true, true])
})

it('a stopped command asks nothing more', async () => {
  const abort = new AbortController()
  const { ask, asked } = timedNodes(abort)
  await ask('x')
  abort.abort()
  await expect(ask('x')).rejects.toThrow('stopped at the terminal')
  expect(asked).toHaveLength(1)
})

it('a reply that is none of those known is tried again, and then a failure in one sentence', async () => {
  const { ask, asked } = timedNodes()
  const answer = ask('getaccount', { ...anything, parse: () => undefined })
  await expect(answer).rejects.toThrow(/^no node answered getaccount \((?!.*n\.example)/)
  expect(asked.length).toBeGreaterThan(4)
})

it('progress is one line on a terminal, and a line for each tenth elsewhere', () => {
  const linesOf = (isTTY: boolean) => {
    let text = ''
    const write = (part: string) => {
      text += part
    }
    const show = createProgress({ isTTY, write })
    show('nothing', 0, 0)
    for (let i = 0; i <= 100; i += 1) show('things', i, 100)
    return text.split('\n').filter((line) => line !== '')
  }
  expect(linesOf(true)).toHaveLength(1)
  expect(linesOf(false)).toHaveLength(11)
  expect(linesOf(false).at(-1)).toBe('[##############################] 100/100 things')
})

describe('at a chain', () => {
  let chain: CollectChain
  const signal = new AbortController().signal

  beforeAll(async () => {
    chain = await startCollectChain()
    await chain.deposit([0, '1', 'USDT'], [19, '2', 'TRX'], [39, '3', 'USDT'], [60, '4', 'USDT'])
  })
  afterAll(() => chain.stop())

  const scan = async (from: number, to: number) => {
    const { clock, fetch, run } = chain.time
    const nodes = openNodes(chain.config, { clock, fetch, signal })
    const listed = await run(scanAddresses(nodes, chain.config, { from, to }, () => {}))
    return [listed[0]?.index, listed.at(-1)?.index, listed.length]
  }

  it('a scan without a database ends after 20 indices in a row that were never used', async () => {
    expect(await scan(0, wholeRange.to)).toEqual([0, 39, 40])
  })

  it('a scan does not end before addresses that were used and are empty now', async () => {
    await chain.deposit([85, '1', 'TRX'], [99, '1', 'USDT'])
    await chain.devnet.send({ from: chain.config.extendedPublicKey.addressAt(85), to: destination, value: '1000000' })
    await chain.devnet.mine(3)
    expect(await scan(60, wholeRange.to)).toEqual([60, 99, 40])
  })

  it('a scan has the whole of a range that is named', async () => {
    expect(await scan(45, 58)).toEqual([45, 58, 14])
  })

  /** Two nodes of this chain; `changed` alters each reply of the second one. */
  function twoNodes(changed: (text: string) => string) {
    const { rpcUrl, apiUrl } = chain.devnet
    const nodes = [
      { rpc: rpcUrl, api: apiUrl },
      { rpc: 'https://second.example/jsonrpc', api: 'https://second.example' },
    ]
    const both = unwrap(parseConfig({ ...bindingsFor(chain.devnet), TRON_NODES: nodes, TRON_QUORUM: 2 }))
    const routed: typeof fetch = async (url, init) => {
      const text = String(url)
      if (!text.startsWith('https://second.example')) return fetch(url, init)
      const answer = await fetch(text.replace('https://second.example', apiUrl), init)
      return new Response(changed(await answer.text()))
    }
    const { clock, around } = chain.time
    return { both, nodes: openNodes(both, { clock, fetch: around(routed), signal }) }
  }
  const read = ({ nodes }: ReturnType<typeof twoNodes>) => {
    const addresses = listedAt(chain.config, 0, 39).map(({ address }) => address)
    return chain.time.run(nodes.balances(addresses, trc20Asset(chain.devnet.tokenAddress)))
  }
  const three = (3_000_000).toString(16).padStart(64, '0')
  const million = (3_000_000_000_000).toString(16).padStart(64, '0')

  it('balances are those that a quorum of the nodes agrees on', async () => {
    expect(await read(twoNodes((text) => text))).toEqual([1_000_000n, 3_000_000n])
  })

  it('balances on which the nodes differ are unknown, and the others are not', async () => {
    expect(await read(twoNodes((text) => text.replaceAll(three, million)))).toEqual([1_000_000n, null])
  })

  it('balances are not read where too few nodes answer', async () => {
    await expect(read(twoNodes(() => '<html>'))).rejects.toThrow(/^fewer than 2 nodes answered (?!.*second\.example)/)
  })

  it('balances that are unknown stay, with the reason in the plan', async () => {
    const { both, nodes } = twoNodes((text) => text.replaceAll(three, million))
    const settings = readSettings(both, testXpub, { to: destination, currency: 'USDT', min: '0' })
    const planned = createPlan(nodes, { ...settings, stopOf: noStops }, listedAt(both, 0, 39), 12, () => {})
    const plan = await chain.time.run(planned)
    expect(plan.steps.filter(({ kind }) => kind === 'transfer').map(({ index }) => index)).toEqual([0])
    expect(plan.leftOut).toMatchObject([{ index: 39, why: 'the nodes do not agree on the balance: plan again' }])
  })

  describe('a plan', () => {
    const hourMs = 3_600_000
    /** Makes a plan with the longest validity on a machine whose clock is ahead by `aheadMs`. */
    const planWithClock = async (aheadMs: number) => {
      const { clock, fetch, run } = createCommandTime((await chain.headMs()) + aheadMs)
      const nodes = openNodes(chain.config, { clock, fetch, signal })
      const settings = readSettings(chain.config, testXpub, { to: destination, currency: 'TRX' })
      return run(createPlan(nodes, { ...settings, stopOf: noStops }, listedAt(chain.config, 19), 24, () => {}))
    }

    it('refers to a final block: no fork can remove it', async () => {
      const { reference } = await planWithClock(0)
      const block = await result<{ number: string; hash: string }>(
        chain.devnet,
        'eth_getBlockByNumber',
        'finalized',
        false,
      )
      expect(reference).toEqual({ height: Number(block.number), hash: block.hash.slice(2) })
    })

    it.each([
      ['right', 0],
      ['ten seconds behind', -10_000],
      ['an hour ahead', hourMs],
    ])('for 24 hours is taken by sign and by a node, where the clock of its machine is %s', async (_, aheadMs) => {
      const { states } = await chain.send(chain.sign(await planWithClock(aheadMs)))
      expect(states.get(1)).toMatchObject({ kind: 'mined', info: { isSuccess: true } })
      await chain.deposit([19, '1', 'TRX']) // something to collect for the next plan
    })

    it('is not made by a clock that is an hour behind', async () => {
      await expect(planWithClock(-hourMs)).rejects.toThrow('from the future')
    })
  })
})
