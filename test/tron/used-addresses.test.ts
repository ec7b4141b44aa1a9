import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/chain/address.ts'
import { parseAddress } from '../../src/chain/address.ts'
import { nativeAsset, trc20Asset } from '../../src/chain/asset.ts'
import accounts from '../recordings/collecting/accounts.json' with { type: 'json' }
import type { Fault } from '../support/scripted-node.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { createHarness, type Harness } from './harness.ts'

const addresses = Array.from({ length: 20 }, (_, i) => addressOf(100 + i))
const [, , third] = addresses
const holder = (h: Harness) => h.settle(h.pool().holder(addresses, nativeAsset))

describe('the first address that holds an asset', () => {
  it.each([0, 1])('is found where only the node at index %i shows it', async (honest) => {
    const h = createHarness()
    h.node(honest).balances.set(String(third), 1n)
    expect(await holder(h)).toEqual({ ok: true, value: 2 })
  })

  it('is none where as many nodes as the quorum show nothing', async () => {
    const h = createHarness({ nodes: 3 })
    h.node(0).balances.set(`${usdtAddress} ${third}`, 1n)
    expect(await holder(h)).toEqual({ ok: true, value: null })
    expect(h.counts()).toEqual([1, 1, 0])
    for (const node of h.nodes) node.decimals.set(usdtAddress, 6)
    expect(await h.settle(h.pool().holder(addresses, trc20Asset(usdtAddress)))).toEqual({ ok: true, value: 2 })
  })

  it('is unknown where fewer nodes answer', async () => {
    const h = createHarness()
    h.fail(1, { kind: 'status', status: 500 })
    expect(await holder(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})

describe('the first address that was activated', () => {
  const recorded = (name: string) => {
    const { request, response } = accounts.find((one) => one.name === name) ?? {}
    const address = parseAddress(String(request && 'address' in request ? request.address : ''))
    if (!address.ok) throw new Error(`no recording ${name}`)
    return { address: address.value, fault: { kind: 'body', body: JSON.stringify(response) } as const }
  }
  const activated = async (address: Address, fault: Fault) => {
    const h = createHarness({ nodes: 1 })
    h.node(0).script = ({ service }) => (service === 'api' ? fault : null)
    return h.settle(h.pool().activated([address]))
  }

  it.each([
    ['getaccount-never-activated', null],
    ['getaccount-not-activated-holding-trc20', null],
    ['getaccount-activated-and-emptied', 0],
    ['getaccount-owner-permission-given-away', 0],
  ])('is that of a recorded reply: %s', async (name, value) => {
    const { address, fault } = recorded(name)
    expect(await activated(address, fault)).toEqual({ ok: true, value })
  })

  it.each([
    '{"Error":"class java.lang.Exception : x"}',
    '[]',
    '""',
    '{"address":"TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C"}',
  ])('is unknown with another reply: %s', async (body) => {
    expect(await activated(addressOf(1), { kind: 'body', body })).toMatchObject({ ok: false })
  })

  it('is none where no node has an HTTP API', async () => {
    const h = createHarness({ api: false })
    expect(await h.settle(h.pool().activated(addresses))).toEqual({ ok: true, value: null })
  })
})
