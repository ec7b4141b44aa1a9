import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CollectPlan } from '../../../src/commands/collect/plan.ts'
import { isComplete } from '../../../src/commands/collect/tables.ts'
import { parseConfig } from '../../../src/worker/config/config.ts'
import {
  bindingsFor,
  type CollectChain,
  destination,
  listedAt,
  startCollectChain,
  type Through,
  unwrap,
} from './harness.ts'
import { minedCounts } from './send-harness.ts'

let chain: CollectChain

async function startChain() {
  chain = await startCollectChain()
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
}

const signedPlan = async () => chain.sign(await chain.plan({}, listedAt(chain.config, 0, 1)))

type Members = Record<string, unknown>
/** The hostile node's reply to a request. `ask` gets the true reply. */
type Lie = (path: string, ask: () => Promise<Members>) => Promise<Members>

/**
 * Two or three nodes of this chain. The first node lies. An answer counts if two nodes agree on it.
 */
function withLiar(count: 2 | 3, lie: Lie): Through {
  const { rpcUrl, apiUrl } = chain.devnet
  const hosts = ['https://liar.example', 'https://b.example', 'https://c.example'].slice(0, count)
  const nodes = hosts.map((host) => ({ rpc: `${host}/jsonrpc`, api: host }))
  const config = unwrap(parseConfig({ ...bindingsFor(chain.devnet), TRON_NODES: nodes, TRON_QUORUM: 2 }))
  const routed: typeof fetch = async (url, init) => {
    const { origin, pathname } = new URL(String(url))
    const ask = async () => {
      const target = pathname === '/jsonrpc' ? rpcUrl : `${apiUrl}${pathname}`
      return (await (await fetch(target, init)).json()) as Members
    }
    const reply = origin === hosts[0] ? await lie(pathname.replace(/^.*\//, ''), ask) : await ask()
    return new Response(JSON.stringify(reply))
  }
  return { config, fetch: routed }
}

/** Makes a lie that changes only the replies of one path of the HTTP API. */
const about =
  (wanted: string, change: (reply: Members) => Members): Lie =>
  async (path, ask) =>
    path === wanted ? change(await ask()) : ask()

/**
 * A node's info of a transaction that succeeded without a fee, in a block that has long been final.
 */
const mined = (txid: string) => ({ id: txid, blockNumber: 1, receipt: { energy_usage_total: 1, result: 'SUCCESS' } })
const thousandfold = (reply: Members): Members => {
  const list = reply.chainParameter as { key: string; value?: number }[]
  return { chainParameter: list.map(({ key, value = 0 }) => ({ key, value: value * 1_000 })) }
}

const lies: readonly [string, Lie][] = [
  ['prices are a thousand times as high', about('getchainparameters', thousandfold)],
  ['no account exists', about('getaccount', () => ({}))],
  ['every account exists, and is rich', about('getaccount', (reply) => ({ ...reply, balance: 9e15 }))],
  [
    'all bandwidth and energy are there',
    about('getaccountresource', (reply) => ({ ...reply, EnergyLimit: 9e9, freeNetLimit: 9e9 })),
  ],
  ['a transfer takes one energy', about('triggerconstantcontract', (reply) => ({ ...reply, energy_used: 1 }))],
  ['every transfer reverts', about('triggerconstantcontract', () => ({ result: { message: '78' } }))],
  ['the stake has no end', about('getcandelegatedmaxsize', () => ({ max_size: 9e15 }))],
  [
    'a stake gives a thousand times the energy',
    about('getaccountresource', (reply) => ({ ...reply, TotalEnergyWeight: 1 })),
  ],
  [
    'energy is lent to the addresses',
    about('getdelegatedresourcev2', () => ({ delegatedResource: [{ frozen_balance_for_energy: 9e9 }] })),
  ],
]

/**
 * The parts of a plan that are equal in two plans of the same facts. The txids differ, because the
 * plans are made at different times.
 */
const decisionsOf = ({ steps, leftOut }: CollectPlan) => {
  return { leftOut, steps: steps.map(({ txid: _, ...step }) => step) }
}

describe('a plan of three nodes is the same where one of them says that', () => {
  const honest = new Map<string, ReturnType<typeof decisionsOf>>()
  beforeAll(async () => {
    await startChain()
    for (const gas of ['delegate', 'transfer']) honest.set(gas, decisionsOf(await chain.plan({ gas })))
  })
  afterAll(() => chain.stop())

  it.each(lies)('%s', async (_, lie) => {
    for (const [gas, decisions] of honest) {
      const plan = await chain.plan({ gas }, listedAt(chain.config, 0, 1), withLiar(3, lie))
      expect(decisionsOf(plan)).toEqual(decisions)
    }
  })

  it.each(lies.slice(1, 3))('%s, where the addresses are searched for', async (_, lie) => {
    expect(decisionsOf(await chain.plan({}, undefined, withLiar(3, lie)))).toEqual(honest.get('delegate'))
  })
})

describe('of two nodes that must agree', () => {
  beforeAll(startChain)
  afterAll(() => chain.stop())

  it('one with other prices makes a plan impossible', async () => {
    const through = withLiar(2, about('getchainparameters', thousandfold))
    await expect(chain.plan({}, undefined, through)).rejects.toThrow(
      'the nodes contradict each other about getchainparameters',
    )
  })

  it('one that does not answer stops a plan, and a run that can be continued', async () => {
    const signed = await signedPlan()
    const through = withLiar(2, async () => ({}))
    await expect(chain.plan({}, listedAt(chain.config, 0, 1), through)).rejects.toThrow(
      'contradict each other about getaccount',
    )
    const { outcome } = await chain.send(signed, through)
    expect(outcome).toMatchObject({ kind: 'interrupted' })
    expect(JSON.stringify(outcome)).not.toContain('.example')
    const { states } = await chain.send(signed)
    expect(isComplete(signed.plan, states)).toBe(true)
  })
})

describe('sending through three nodes completes, each transaction once, where one of them', () => {
  beforeEach(startChain)
  afterEach(() => chain.stop())

  it.each<[string, Lie]>([
    ['knows no transaction', about('gettransactioninfobyid', () => ({}))],
    ['keeps what it is sent to itself', async (path, ask) => (path === 'broadcasthex' ? { result: true } : ask())],
    [
      'refuses what it is sent',
      async (path, ask) => (path === 'broadcasthex' ? { code: 'CONTRACT_VALIDATE_ERROR', message: 'no' } : ask()),
    ],
    ['answers with empty objects', async () => ({})],
    ...lies.slice(0, 5),
  ])('%s', async (_, lie) => {
    const signed = await signedPlan()
    const { outcome, states } = await chain.send(signed, withLiar(3, lie))
    expect([outcome.kind, isComplete(signed.plan, states)]).toEqual(['settled', true])
    expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
    expect(await chain.balanceOf(destination, 'USDT')).toBe('35')
  })

  it('refuses what the others took, whose replies are lost', async () => {
    const signed = await signedPlan()
    const tries = new Map<string, number>()
    const refusal: Lie = async (path, ask) =>
      path === 'broadcasthex' ? { code: 'CONTRACT_VALIDATE_ERROR', message: 'no' } : ask()
    const { fetch: routed, config } = withLiar(3, refusal)
    const losing: typeof fetch = async (url, init) => {
      const reply = await routed(url, init)
      const key = `${url} ${init?.body}`
      tries.set(key, (tries.get(key) ?? 0) + 1)
      if (!String(url).endsWith('broadcasthex') || String(url).includes('liar') || Number(tries.get(key)) > 2)
        return reply
      throw new Error('the connection was lost')
    }
    const { outcome, states } = await chain.send(signed, { config, fetch: losing })
    expect([outcome.kind, isComplete(signed.plan, states)]).toEqual(['settled', true])
    expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
  })

  it('claims that a transaction is in a block which no node has: nothing that needs it is sent', async () => {
    const signed = await signedPlan()
    const sent: string[] = []
    const abort = new AbortController()
    let looks = 0
    const onLook = async () => {
      looks += 1
      if (looks === 30) abort.abort() // by then each transaction was sent again
    }
    const { fetch: routed, config } = withLiar(3, (_, ask) => ask())
    const lying: typeof fetch = async (url, init) => {
      const { origin, pathname } = new URL(String(url))
      const body = String(init?.body)
      if (origin.includes('liar') && pathname.endsWith('infobyid')) {
        return new Response(JSON.stringify(mined((JSON.parse(body) as { value: string }).value)))
      }
      if (!pathname.endsWith('broadcasthex')) return routed(url, init)
      const step = signed.signatures.findIndex((signature) => body.includes(signature))
      sent.push(signed.plan.steps[step]?.kind ?? '')
      return new Response('{"result":true}') // no node receives the transaction
    }
    const { outcome, states } = await chain.send(signed, { config, fetch: lying, signal: abort.signal, onLook })
    expect(outcome.kind).toBe('interrupted')
    expect(new Set(sent)).toEqual(new Set(['delegate', 'activate']))
    expect([...states.values()].some(({ kind }) => kind === 'mined')).toBe(false)
  })
})
