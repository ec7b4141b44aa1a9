import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trc20Asset } from '../../../src/chain/asset.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { scanAddresses, wholeRange } from '../../../src/tools/collect/address-list.ts'
import { readAgreedBalances } from '../../../src/tools/collect/agreed-balances.ts'
import { createPlan } from '../../../src/tools/collect/create-plan.ts'
import { openNodes } from '../../../src/tools/collect/node-access.ts'
import { readSettings } from '../../../src/tools/collect/settings.ts'
import { testXpub } from '../../support/variables.ts'
import { bindingsFor, type CollectChain, destination, listedAt, startCollectChain, unwrap } from './harness.ts'

let chain: CollectChain

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '1', 'USDT'], [19, '2', 'TRX'], [39, '3', 'USDT'], [60, '4', 'USDT'])
})
afterAll(() => chain.stop())

const clock = { ...systemClock, sleep: (ms: number) => (ms > 3_000 ? systemClock.sleep(ms) : Promise.resolve()) }
const signal = new AbortController().signal

/** Two nodes of this chain, of which `changed` alters the replies of the second one. */
function twoNodes(changed: (text: string) => string, quorum = 2) {
  const { rpcUrl, apiUrl } = chain.devnet
  const nodes = [
    { rpc: rpcUrl, api: apiUrl },
    { rpc: 'https://second.example/jsonrpc', api: 'https://second.example' },
  ]
  const config = unwrap(parseConfig({ ...bindingsFor(chain.devnet), TRON_NODES: nodes, TRON_QUORUM: quorum }))
  const routed: typeof fetch = async (url, init) => {
    const text = String(url)
    if (!text.startsWith('https://second.example')) return fetch(url, init)
    const answer = await fetch(text.replace('https://second.example', apiUrl), init)
    return new Response(changed(await answer.text()), { headers: { 'content-type': 'application/json' } })
  }
  return { config, nodes: openNodes(config, { clock, fetch: routed, signal }) }
}

describe('a scan without a database', () => {
  const scan = async (from: number, to: number) => {
    const nodes = openNodes(chain.config, { clock, fetch, signal })
    return unwrap(await scanAddresses(nodes, chain.config, { from, to }, () => {})).map(({ index }) => index)
  }

  it('ends after 20 empty indices in a row', async () => {
    expect(await scan(0, wholeRange.to)).toEqual([0, 19, 39])
  })

  it('does not end before addresses that were used and are empty now', async () => {
    await chain.deposit([85, '1', 'TRX'], [99, '1', 'USDT'])
    await chain.devnet.send({ from: chain.config.extendedPublicKey.addressAt(85), to: destination, value: '1000000' })
    await chain.devnet.mine(3)
    expect(await scan(60, wholeRange.to)).toEqual([60, 99])
  })

  it('reads the whole of a range that is named', async () => {
    expect(await scan(20, 60)).toEqual([39, 60])
    expect(await scan(40, 59)).toEqual([])
  })
})

describe('balances', () => {
  const usdt = () => trc20Asset(chain.devnet.tokenAddress)
  const read = (nodes: ReturnType<typeof twoNodes>['nodes']) =>
    readAgreedBalances(
      nodes,
      listedAt(chain.config, 0, 39).map(({ address }) => address),
      usdt(),
      () => {},
    )
  const three = (3_000_000).toString(16).padStart(64, '0')
  const million = (3_000_000_000_000).toString(16).padStart(64, '0')

  it('are those that a quorum of the nodes agrees on', async () => {
    expect(unwrap(await read(twoNodes((text) => text).nodes))).toEqual([1_000_000n, 3_000_000n])
  })

  it('on which the nodes differ are unknown, and the others are not', async () => {
    expect(unwrap(await read(twoNodes((text) => text.replaceAll(three, million)).nodes))).toEqual([1_000_000n, null])
  })

  it('are not read where too few nodes answer', async () => {
    const answer = await read(twoNodes(() => '<html>').nodes)
    expect(answer).toMatchObject({ ok: false, error: expect.stringContaining('fewer than 2 nodes answered') })
    expect(JSON.stringify(answer)).not.toContain('second.example')
  })

  it('that are unknown stay, with the reason in the plan', async () => {
    const { config, nodes } = twoNodes((text) => text.replaceAll(three, million))
    const settings = unwrap(readSettings(config, testXpub, { to: destination, currency: 'USDT', min: '0' }))
    const plan = unwrap(await createPlan(nodes, settings, listedAt(config, 0, 39), 12, () => {}))
    expect(plan.steps.filter(({ kind }) => kind === 'transfer').map(({ index }) => index)).toEqual([0])
    expect(plan.leftOut).toMatchObject([{ index: 39, why: 'the nodes do not agree on the balance: plan again' }])
  })
})
