import { describe, expect, it } from 'vitest'
import { nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import { changing, type Fault, failing } from '../support/scripted-node.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { createHarness, secrets, us } from './harness.ts'

const addresses = Array.from({ length: 20 }, (_, i) => addressOf(100 + i))

describe('balances', () => {
  it('of 20 addresses take one request without a probe, chain id included', async () => {
    const h = createHarness()
    for (const [i, address] of addresses.entries()) h.node(0).balances.set(address, BigInt(i))
    const answer = await h.settle(h.open().balances(addresses, nativeAsset))
    expect(answer).toEqual({ ok: true, value: addresses.map((_, i) => BigInt(i)) })
    expect(h.counts()).toEqual([1, 0])
    const [request] = h.node(0).requests
    expect(request?.calls.length).toBe(21)
    expect(request?.calls[1]?.params).toEqual([`0x${addresses[0]}`, 'latest'])
    expect(request?.key).toBe(secrets.key)
  })

  it('of a token send only to and data, at latest', async () => {
    const h = createHarness()
    h.node(0).decimals.set(usdtAddress, 6)
    h.node(0).balances.set(`${usdtAddress} ${us}`, 2n ** 255n)
    const answer = await h.settle(h.open().balances([us], trc20Asset(usdtAddress)))
    expect(answer).toEqual({ ok: true, value: [2n ** 255n] })
    expect(h.node(0).requests[0]?.calls[1]?.params).toEqual([
      { to: `0x${usdtAddress}`, data: `0x70a08231${'0'.repeat(24)}${us}` },
      'latest',
    ])
  })

  it.each<[string, Fault]>([
    ['"0x"', changing('eth_call', () => '0x')],
    ['31 bytes', changing('eth_call', () => `0x${'0'.repeat(62)}`)],
    ['33 bytes', changing('eth_call', () => `0x${'0'.repeat(66)}`)],
    ['a number', changing('eth_call', () => 5)],
    ['null', changing('eth_call', () => null)],
    ['an error without a contract', failing('eth_call', -32600, 'Smart contract is not exist.')],
    ['an error of a revert', failing('eth_call', -32000, 'REVERT opcode executed')],
    ['an error without constant calls', failing('eth_call', -32600, 'this node does not support constant')],
    ['another chain id', changing('eth_chainId', () => '0xcd8690dc')],
  ])('of a token come from the next node where one replies with %s', async (_, fault) => {
    const h = createHarness()
    for (const node of h.nodes) node.decimals.set(usdtAddress, 6)
    h.fail(0, fault)
    expect(await h.settle(h.open().balances([us], trc20Asset(usdtAddress)))).toEqual({ ok: true, value: [0n] })
    h.fail(1, fault)
    h.advance(3_000)
    expect((await h.settle(h.open().balances([us], trc20Asset(usdtAddress)))).ok).toBe(false)
  })

  it.each(['0x', null, 7, '7', '0x1g', `0x${'f'.repeat(65)}`])(
    'of TRX are no answer where the node replies with %j',
    async (value) => {
      const h = createHarness({ nodes: 1 })
      h.fail(
        0,
        changing('eth_getBalance', () => value),
      )
      const answer = await h.settle(h.open().balances([us], nativeAsset))
      expect(answer).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
    },
  )

  it('take no request for no address, and are refused for more than 20', async () => {
    const h = createHarness()
    expect(await h.settle(h.open().balances([], nativeAsset))).toEqual({ ok: true, value: [] })
    expect((await h.settle(h.open().balances([...addresses, us], nativeAsset))).ok).toBe(false)
    expect(h.counts()).toEqual([0, 0])
  })
})

describe('the balances of one address', () => {
  const units = 100n
  /**
   * Reads the balances where each node shows its number in `shown` as TRX, and twice as much of a
   * token. Null: the node gives no token balance.
   */
  const readFrom = async (quorum: number, shown: readonly (bigint | null)[]) => {
    const h = createHarness({ nodes: shown.length, quorum })
    for (const [i, balance] of shown.entries()) {
      const node = h.node(i)
      node.decimals.set(usdtAddress, 6)
      node.balances.set(us, balance ?? 0n).set(`${usdtAddress} ${us}`, 2n * (balance ?? 0n))
    }
    for (const i of shown.keys())
      if (shown[i] === null)
        h.fail(
          i,
          changing('eth_call', () => null),
        ) // the node answers without a balance of the token
    const answer = await h.settle(h.open().holdings(us, [nativeAsset, trc20Asset(usdtAddress)]))
    return { read: answer.ok ? answer.value : answer.error.kind, requests: h.nodes.map((node) => node.requests.length) }
  }

  it.each<[string, number, readonly (bigint | null)[], boolean]>([
    ['one node of three cannot make them too small', 2, [0n, units, units], true],
    ['one node of three cannot make them too large', 2, [10n ** 30n, units, units], true],
    ['one node of two cannot make them too small', 2, [0n, units], true],
    ['one node of two cannot make them too small if a third one gives no answer', 2, [0n, null, units], true],
    ['one node of two that gives no answer is too few', 2, [null, units], false],
    ['one node is enough for a quorum of one', 1, [units], true],
  ])('%s', async (_, quorum, shown, isRead) => {
    expect((await readFrom(quorum, shown)).read).toEqual(isRead ? [units, 2n * units] : 'no-answer')
  })

  it('take one request to each of twice the quorum less one nodes', async () => {
    expect((await readFrom(2, [units, units, units, units])).requests).toEqual([1, 1, 1, 0])
    expect((await readFrom(1, [units, units])).requests).toEqual([1, 0])
  })
})
