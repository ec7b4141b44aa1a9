import { describe, expect, it } from 'vitest'
import { reconciliationRequestsMax, tickRequestsMax } from '../../src/platform/limits.ts'
import { reconciliationLeaseMs } from '../../src/reconciliation/judge-reading.ts'
import { block, height, ms } from '../d1/fixtures.ts'
import { startService } from '../http/service.ts'
import { dayMs, startReconciliation } from './reconciliation-harness.ts'

type Service = Awaited<ReturnType<typeof startReconciliation>>

/** A chain whose first query is answered when `answer` is called. */
function heldChain({ parts }: Service) {
  let answer = () => {}
  let asked = () => {}
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const chain: typeof parts.chain = {
    async balances(wanted, asset) {
      asked()
      await isAnswered
      return parts.chain.balances(wanted, asset)
    },
  }
  return { chain, answer, isAsked }
}

describe('the lease of reconciliation', () => {
  it('lets one tick at a time compare, is taken over after its end, and refuses the late result', async () => {
    const service = await startReconciliation({ addresses: 3 })
    service.setBalance(1, 0, 7n)
    const { chain, answer, isAsked } = heldChain(service)
    const slow = service.tick({ chain })
    await isAsked
    service.time.now += reconciliationLeaseMs - 1
    await service.tick()
    expect(service.queries).toEqual([])
    service.time.now += 1
    await service.tick()
    expect(service.queries).toHaveLength(2)
    const contents = () => Promise.all([service.runs(), service.openDifferences(), service.movedAddresses()])
    const stored = await contents()
    expect(stored[0]).toMatchObject([{ addresses: 3 }, { addresses: 3 }])
    service.setBalance(1, 1, 8n)
    answer()
    await slow
    expect(service.queries).toHaveLength(3) // it reads nothing more
    expect(await contents()).toEqual(stored)
  })

  it('is free again after a tick that failed', async () => {
    const service = await startReconciliation({ addresses: 1 })
    const broken: typeof service.parts.chain = { balances: () => Promise.reject(new Error('a bug')) }
    await expect(service.tick({ chain: broken })).rejects.toThrow('a bug')
    await service.tick()
    expect(service.queries).toHaveLength(2)
  })

  it('is not that of the scan: neither waits for the other', async () => {
    const service = await startReconciliation({ addresses: 1 })
    const { scanStore } = service.stores
    const [now, until] = [ms(service.time.now), ms(service.time.now + 40_000)]
    expect(await scanStore.acquireLease('a scan', now, until)).toMatchObject({ kind: 'acquired' })
    await service.tick()
    expect(service.queries).toHaveLength(2)
    await scanStore.releaseLease('a scan', now, null, now)
    service.time.now += dayMs
    await scanStore.recordFinalized(height(121), ms(service.time.now)) // one block is not scanned yet
    const { chain, answer, isAsked } = heldChain(service)
    const slow = service.tick({ chain })
    await isAsked
    const [later, laterUntil] = [ms(service.time.now), ms(service.time.now + 40_000)]
    expect(await scanStore.acquireLease('a scan', later, laterUntil)).toMatchObject({ kind: 'acquired' })
    answer()
    await slow
    expect(service.queries).toHaveLength(4)
  })
})

it('a balance can include the blocks made since the finalized head was stored', async () => {
  const service = await startReconciliation({ addresses: 1 })
  service.setBalance(1, 0, 7n)
  service.time.now += 100_000 // 34 blocks, the last of them not complete
  await service.tick()
  expect(await service.openDifferences()).toMatchObject([
    { from_height: block(100).height, to_height: 120 + 34 + 60, balance: '7' },
  ])
})

describe('in the tick of the whole service', () => {
  const isBalance = ({ method }: { readonly method: string }) => method === 'eth_getBalance' || method === 'eth_call'

  it('it compares although another scan has the lease', async () => {
    const service = await startService()
    await service.get('/tron/generate')
    for (const { requests } of service.nodes) requests.splice(0)
    await service.db.prepare(`UPDATE scan SET lease = 'another', lease_until = 9007199254740991`).run()
    await service.tick()
    const requests = service.nodes.flatMap(({ requests: own }) => own)
    expect(requests.filter(({ calls }) => calls.some(isBalance))).toHaveLength(2)
    expect(await service.db.prepare('SELECT count(*) AS n FROM reconciliation WHERE finished_at > 0').first('n')).toBe(
      2,
    )
  })

  it('its requests to nodes have a limit of their own', async () => {
    const service = await startService()
    for (let uid = 1; uid <= 60; uid += 1) await service.get('/tron/generate', uid)
    for (const node of service.nodes) {
      node.script = () => ({ kind: 'batch-limit', callsMax: 1, code: -32_005 })
      node.requests.splice(0)
    }
    await service.tick()
    const requests = service.nodes.flatMap(({ requests: own }) => own)
    const forBalances = requests.filter(({ calls }) => calls.some(isBalance))
    expect(forBalances.length).toBeGreaterThan(20)
    expect(forBalances.length).toBeLessThanOrEqual(reconciliationRequestsMax)
    expect(requests.length).toBeLessThanOrEqual(reconciliationRequestsMax + tickRequestsMax)
    const runs = await service.db.prepare('SELECT addresses FROM reconciliation').all<{ addresses: number }>()
    expect(runs.results.some(({ addresses }) => addresses === 20)).toBe(true)
  })
})
