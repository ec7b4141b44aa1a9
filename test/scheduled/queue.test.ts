import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/chain/address.ts'
import { contractTypes, explainContractType } from '../../src/deposits/contract-types.ts'
import { takenMax, takesPerTick } from '../../src/scan/prove-queue.ts'
import { rescanRetryMs } from '../../src/scan/rescan.ts'
import {
  addressIn,
  alarmsIn,
  payFinal,
  type RunningService,
  requestsOf,
  startService,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import type { ScriptedNode } from '../support/scripted-node.ts'
import { addressOf, type TransactionSpec } from '../support/transaction-spec.ts'

const addressFor = async (service: RunningService, uid: number) => addressIn(await service.get('/tron/generate', uid))
const positionIn = async ({ db }: RunningService) => await db.prepare('SELECT height FROM scan').first<number>('height')
const countIn = async ({ db }: RunningService, table: string) =>
  await db.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')

/** A TRC-10 transfer: over JSON-RPC it looks like TRX. */
const dustTo = (to: Address, amount: bigint): TransactionSpec => ({ kind: 'trc10', from: addressOf(98), to, amount })

/** Makes a node refuse all questions about the logs of one block. */
function refuseLogs(node: ScriptedNode, hash: string): void {
  node.script = () => ({
    kind: 'changed-calls',
    change: ({ method, params }) =>
      method === 'eth_getLogs' && JSON.stringify(params).includes(hash)
        ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
        : undefined,
  })
}

describe('a block whose logs no node gives', () => {
  it('is put aside with one alarm while the scan goes on, and is credited once it can be read', async () => {
    const service = await startService()
    const to = await addressFor(service, 7)
    const [txid = ''] = payFinal(service, usdtTo(to, 25_000_000n))
    payFinal(service, usdtTo(to, 1_000_000n))
    const hash = String(service.chain.transaction(txid)?.wire.blockHash)
    for (const node of service.nodes) refuseLogs(node, hash)
    await service.tick()
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":1,"cuy":2}')
    expect(await positionIn(service)).toBe(service.chain.tip().height - 18)
    expect(alarmsIn(service)).toEqual(['block-unreadable'])
    for (const node of service.nodes) node.script = () => null
    service.clock.seconds += rescanRetryMs / 1000
    await service.tick()
    service.clock.seconds += 60
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":26,"cuy":2}')
    expect(alarmsIn(service)).toEqual(['block-unreadable'])
  })

  it('raises its alarm again for a later block, once all could be read', async () => {
    const service = await startService()
    const to = await addressFor(service, 7)
    for (const amount of [1n, 2n]) {
      const [txid = ''] = payFinal(service, usdtTo(to, amount * 1_000_000n))
      for (const node of service.nodes) refuseLogs(node, String(service.chain.transaction(txid)?.wire.blockHash))
      await service.tick()
      for (const node of service.nodes) node.script = () => null
      service.clock.seconds += 60
      await service.tick()
    }
    expect(alarmsIn(service)).toEqual(['block-unreadable', 'block-unreadable'])
  })
})

describe('the queue of proofs', () => {
  it('proves more than 500 deposits of both kinds in one tick, with few requests', async () => {
    const service = await startService()
    const to = await addressFor(service, 7)
    const most = takenMax * takesPerTick
    const blocks = 20
    for (let block = 0; block < blocks; block += 1) {
      const specs = Array.from({ length: most / blocks }, (_, i) => (i % 2 === 0 ? trxTo : usdtTo)(to, 1_000_000n))
      service.chain.add(specs)
    }
    payFinal(service)
    const before = requestsOf(service)
    await service.tick()
    expect(await countIn(service, 'deposit')).toBe(most)
    expect(await countIn(service, 'pending')).toBe(0)
    // 60 for receipts at two nodes, and one for the bytes of each block, or two where its candidates are taken in two groups.
    expect(requestsOf(service) - before).toBeLessThan(120)
  })

  it('credits one caller at once while another one receives hundreds of worthless transfers', async () => {
    const service = await startService()
    const [to, attacker] = [await addressFor(service, 7), await addressFor(service, 8)]
    for (let i = 0; i < 30; i += 1) service.chain.add(Array.from({ length: 40 }, () => dustTo(attacker, 1n)))
    payFinal(service, usdtTo(to, 25_000_000n))
    for (let ticks = 0; (await positionIn(service)) !== service.chain.tip().height - 18; ticks += 1) {
      expect(ticks).toBeLessThan(2)
      await service.tick()
    }
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
    expect(await countIn(service, 'pending')).toBeGreaterThan(0)
    for (let i = 0; i < 3; i += 1) await service.tick()
    expect(await countIn(service, 'pending')).toBe(0)
    expect(await countIn(service, 'refusal')).toBe(1200)
    const before = requestsOf(service)
    expect(await textOf(service, '/wallet/list', 8)).not.toContain('"amt":1')
    expect(requestsOf(service)).toBe(before)
  })

  it.each([
    ['a recharge', () => '/tron/recharge'],
    ['a question about another transaction', (txid: string) => `/tron/recharge?txid=${txid}`],
  ])('tries what the caller has in it at once on %s, whatever its next try is', async (_what, pathOf) => {
    const service = await startService()
    const to = await addressFor(service, 7)
    const other = await addressFor(service, 8)
    const [, txid = ''] = payFinal(service, trxTo(to, 5_000_000n), usdtTo(to, 7_000_000n), trxTo(other, 9_000_000n))
    for (const node of service.nodes) {
      node.script = (request) => (request.service === 'api' ? { kind: 'body', body: '{}' } : null)
    }
    await service.tick()
    for (const node of service.nodes) node.script = () => null
    service.clock.seconds += 10
    expect((await service.get(pathOf(txid))).status).toBe(200)
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":5,"cuy":1}')
    expect(await textOf(service, '/wallet/list', 8)).toContain('{"amt":0,"cuy":1}')
  })

  it('answers a question about a worthless transaction from what it remembers, without a node', async () => {
    const service = await startService()
    const to = await addressFor(service, 7)
    const [txid = ''] = payFinal(service, dustTo(to, 5n))
    await service.tick()
    const before = requestsOf(service)
    const answer = await service.get(`/tron/recharge?txid=${txid}`)
    expect([answer.status, await answer.text()]).toEqual([
      422,
      JSON.stringify({ code: 422, msg: explainContractType(contractTypes.trc10) }),
    ])
    expect(requestsOf(service)).toBe(before)
  })
})

/** What a transaction and a log have. */
interface Shown {
  readonly transactionIndex: string
}

describe('a range that an operator has read again', () => {
  const request = ({ db }: RunningService, from: number, to: number) =>
    db
      .prepare(
        `INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
        VALUES ('request', ?1, ?2, ?1, 'a deposit is missing', 0, 0)`,
      )
      .bind(from, to)
      .run()

  it('has the deposit credited that all nodes had hidden, and no other one twice', async () => {
    const service = await startService()
    const to = await addressFor(service, 7)
    await service.tick()
    const first = (await positionIn(service)) ?? 0
    payFinal(service, usdtTo(to, 25_000_000n), usdtTo(to, 3_000_000n))
    // All nodes show the block with its first transaction alone.
    const isShown = ({ transactionIndex }: Shown) => transactionIndex === '0x0'
    const hide = (node: ScriptedNode) => {
      node.script = () => ({
        kind: 'changed-calls',
        change({ method, params }, response) {
          if (!('result' in response)) return undefined
          if (method === 'eth_getLogs') return { result: (response.result as Shown[]).filter(isShown) }
          if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined
          const block = response.result as { readonly transactions: readonly Shown[] }
          return { result: { ...block, transactions: block.transactions.filter(isShown) } }
        },
      })
    }
    for (const node of service.nodes) hide(node)
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
    for (const node of service.nodes) node.script = () => null
    await request(service, first + 1, (await positionIn(service)) ?? 0)
    await service.tick()
    service.clock.seconds += 60
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":28,"cuy":2}')
    expect(await textOf(service, '/wallet/flow/list')).toContain('"count":2')
  })
})
