import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openNodes } from '../../../src/commands/nodes.ts'
import { createOwnNodes, type OwnNodes } from '../../../src/commands/payout/own-nodes.ts'
import type { CurrencyId } from '../../../src/worker/common/ids.ts'
import { chainSchema } from '../../../src/worker/config/chain.ts'
import { parseBindings } from '../../../src/worker/config/schemas.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { type CommandTime, createCommandTime } from '../../support/command-time.ts'
import { unwrap } from '../collect/harness.ts'
import { chainId } from './harness.ts'
import { type OwnNode, otherHash, startOwnNode } from './own-node.ts'
import { blockAt } from './scripted-service.ts'

let time: CommandTime
let nodes: readonly OwnNode[]
/** The nodes that do not answer. */
let hanging: readonly OwnNode[]
beforeEach(async () => {
  time = createCommandTime()
  nodes = await Promise.all([startOwnNode(time.clock.now), startOwnNode(time.clock.now)])
  hanging = []
})
afterEach(async () => {
  for (const node of nodes) await node.close()
})

/**
 * The URL of a node in the configuration. Each node has another host, because two nodes of one host
 * would count as one.
 */
const addressOf = (node: OwnNode) => node.url.replace('127.0.0.1', `127.0.0.${nodes.indexOf(node) + 1}`)

/** The signer's two nodes, which must agree. */
function own() {
  const config = unwrap(
    parseBindings(chainSchema, {
      TRON_CHAIN_ID: chainId,
      CURRENCIES: [
        { cuy: 1, symbol: 'TRX', decimals: 6 },
        { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 8, scale: 6 },
      ],
      TRON_NODES: nodes.map((node) => ({ rpc: `${addressOf(node)}/jsonrpc`, api: addressOf(node) })),
    }),
  )
  const toServer: typeof fetch = (url, init) => fetch(String(url).replace(/127\.0\.0\.\d/, '127.0.0.1'), init)
  const { currencies } = config
  const isHanging = (url: string) => hanging.some((node) => url.startsWith(addressOf(node)))
  const { clock, around, run } = time
  const platform = { clock, fetch: around(toServer, isHanging), signal: new AbortController().signal }
  const asset = (cuy: number) => {
    const currency = currencies.byId.get(cuy as CurrencyId)
    if (currency === undefined) throw new Error('it is configured')
    return currency
  }
  const { whyNotHead, whyNotDecimals } = createOwnNodes(openNodes(config, platform))
  const inTime: OwnNodes = {
    whyNotHead: (shown) => run(whyNotHead(shown)),
    whyNotDecimals: (currency) => run(whyNotDecimals(currency)),
  }
  return { ...inTime, trx: asset(1), usdt: asset(2) }
}
const head = () => blockAt(time.clock.now() - 57_000)

describe('the head that a service shows', () => {
  it('is right where a quorum of the own nodes has the same block, and is asked about once', async () => {
    const { whyNotHead } = own()
    const shown = head()
    expect(await whyNotHead(shown)).toBeNull()
    const asked = nodes.map(({ script }) => script.asked.length)
    expect(await whyNotHead(shown)).toBeNull()
    expect(nodes.map(({ script }) => script.asked.length)).toEqual(asked)
  })

  it('is refused where they have another block at its height, as on another chain', async () => {
    for (const { script } of nodes) {
      const right = script.block
      script.block = (height) => {
        const block = right(height)
        return block === null ? null : { ...block, hash: otherHash(block.hash) }
      }
    }
    expect(await own().whyNotHead(head())).toMatch(
      /have another block \d+, [0-9a-f]{64}: the service is on another chain/,
    )
  })

  it('is refused with another time, from which a transaction would live too long', async () => {
    const shown = head()
    const created_at = new Date(Date.parse(shown.created_at) + 3_000).toISOString()
    expect(await own().whyNotHead({ ...shown, created_at })).toContain('another time of block')
  })

  it('waits where they do not have it yet, and is taken once they have', async () => {
    const shown = head()
    const before = nodes.map(({ script }) => script.block)
    for (const [i, { script }] of nodes.entries()) {
      script.behindMs = 90_000
      script.block = (height) => (height < shown.height ? (before[i]?.(height) ?? null) : null)
    }
    const { whyNotHead } = own()
    expect(await whyNotHead(shown)).toContain(`have no block ${shown.height} yet`)
    for (const [i, { script }] of nodes.entries()) script.block = before[i] ?? script.block
    expect(await whyNotHead(shown)).toBeNull()
  })

  it('is not right by one of two nodes alone, or by nodes of another chain', async () => {
    const [first, second] = nodes
    if (first === undefined || second === undefined) throw new Error('two')
    first.script.block = () => null
    expect(await own().whyNotHead(head())).toContain('the nodes of this signer')
    first.script.chainId = '0x99'
    second.script.chainId = '0x99'
    expect(await own().whyNotHead(head())).toContain('the nodes of this signer')
  })
})

describe('the decimals of this machine', () => {
  it('are compared with those of the contract, TRX aside', async () => {
    const { whyNotDecimals, usdt, trx } = own()
    expect(await whyNotDecimals(usdt)).toBeNull()
    expect(await whyNotDecimals(trx)).toBeNull()
  })

  it('stop a currency where the contract has others', async () => {
    for (const { script } of nodes) script.decimals = 6
    const { whyNotDecimals, usdt } = own()
    expect(await whyNotDecimals(usdt)).toBe(
      'the contract of USDT has 6 decimals, by the nodes of this signer, and CURRENCIES of this machine 8',
    )
    for (const { script } of nodes) script.decimals = 8
    expect(await whyNotDecimals(usdt)).toBeNull()
  })
})

it('one node of three that hangs keeps no payout for longer than its five seconds', async () => {
  const before = time.clock.now()
  nodes = [...nodes, await startOwnNode(time.clock.now)]
  hanging = nodes.slice(0, 1)
  expect(await own().whyNotHead(head())).toBeNull()
  expect(time.clock.now()).toBe(before + 2_000) // one node gets a third (`nodePart`) of the six seconds of an attempt
})

it('signing does not wait for nodes that hang', async () => {
  const [shown, before] = [head(), time.clock.now()]
  hanging = nodes
  const { whyNotHead } = own()
  expect(await whyNotHead(shown)).toContain('have not answered yet')
  expect(time.clock.now()).toBe(before + 5_000)
  hanging = []
  expect(await whyNotHead(shown)).toBeNull()
})
