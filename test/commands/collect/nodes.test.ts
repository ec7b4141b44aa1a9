import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProgress } from '../../../src/commands/collect/command-line.ts'
import { scanAddresses, wholeRange } from '../../../src/commands/collect/gather.ts'
import { noStops } from '../../../src/commands/collect/issuer-stops.ts'
import { createPlan, readSettings } from '../../../src/commands/collect/plan-command.ts'
import { openNodes } from '../../../src/commands/nodes.ts'
import { trc20Asset } from '../../../src/worker/chain/block.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { parseConfig } from '../../../src/worker/config/config.ts'
import { result } from '../../devnet/support.ts'
import { testXpub } from '../../support/variables.ts'
import {
  bindingsFor,
  type CollectChain,
  destination,
  listedAt,
  quickClock,
  startCollectChain,
  unwrap,
} from './harness.ts'

const bindings = bindingsFor({ rpcUrl: 'https://n.example/jsonrpc', apiUrl: 'https://n.example' })
const TRON_NODES = [{ rpc: 'https://n.example/jsonrpc', api: 'https://n.example' }] // without `noLimits`: the limits of a public node hold
const config = unwrap(parseConfig({ ...bindings, TRON_NODES }))
const anything = { parse: (value: unknown) => value, merge: (a: unknown) => a }

/** Nodes with a virtual clock, which moves only while they wait. `asked` has the times of their requests. */
function timedNodes(abort = new AbortController()) {
  let now = 1_795_000_000_000
  const asked: number[] = []
  const clock = {
    now: () => now as UnixMs,
    random: () => 0.5,
    sleep: (ms: number) => {
      if (ms > 3_000) return new Promise<void>(() => {}) // a time-out, which never comes
      now += ms
      return Promise.resolve()
    },
  }
  const fetch = (async () => {
    asked.push(now)
    return new Response('{"chainParameter":[]}')
  }) as typeof globalThis.fetch
  return { nodes: openNodes(config, { clock, fetch, signal: abort.signal }), asked }
}

it('the nodes are asked at most as often in a second as they allow', async () => {
  const { nodes, asked } = timedNodes()
  for (let i = 0; i < 60; i += 1) await nodes.agree('x', {}, anything)
  const most = Math.max(...asked.map((at) => asked.filter((other) => other >= at && other < at + 1_000).length))
  expect([most <= 15, new Set(asked).size > 3]).toEqual([true, true])
})

it('a stopped command asks nothing more', async () => {
  const abort = new AbortController()
  const { nodes, asked } = timedNodes(abort)
  await nodes.agree('x', {}, anything)
  abort.abort()
  await expect(nodes.agree('x', {}, anything)).rejects.toThrow('stopped at the terminal')
  expect(asked).toHaveLength(1)
})

it('a reply that is none of those known is tried again, and then a failure in one sentence', async () => {
  const { nodes, asked } = timedNodes()
  const answer = nodes.agree('getaccount', {}, { ...anything, parse: () => undefined })
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
    const nodes = openNodes(chain.config, { clock: quickClock, fetch, signal })
    const listed = await scanAddresses(nodes, chain.config, { from, to }, () => {})
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
    return { both, nodes: openNodes(both, { clock: quickClock, fetch: routed, signal }) }
  }
  const read = ({ nodes }: ReturnType<typeof twoNodes>) =>
    nodes.balances(
      listedAt(chain.config, 0, 39).map(({ address }) => address),
      trc20Asset(chain.devnet.tokenAddress),
    )
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
    const plan = await createPlan(nodes, { ...settings, stopOf: noStops }, listedAt(both, 0, 39), 12, () => {})
    expect(plan.steps.filter(({ kind }) => kind === 'transfer').map(({ index }) => index)).toEqual([0])
    expect(plan.leftOut).toMatchObject([{ index: 39, why: 'the nodes do not agree on the balance: plan again' }])
  })

  describe('a plan', () => {
    const hourMs = 3_600_000
    /** Makes a plan with the longest validity on a machine whose clock is ahead by `aheadMs`. */
    const planWithClock = async (aheadMs: number) => {
      const differenceMs = (await chain.headMs()) - Date.now() + aheadMs
      const clock = { ...quickClock, now: () => (Date.now() + differenceMs) as UnixMs } // safe: milliseconds since 1970
      const nodes = openNodes(chain.config, { clock, fetch, signal })
      const settings = readSettings(chain.config, testXpub, { to: destination, currency: 'TRX' })
      return createPlan(nodes, { ...settings, stopOf: noStops }, listedAt(chain.config, 19), 24, () => {})
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
