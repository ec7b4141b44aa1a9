import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import type { Uid } from '../../src/common/ids.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createPendingDeposits } from '../../src/d1/pending-deposits.ts'
import { createScanStore } from '../../src/d1/scan-store.ts'
import { tickRequestsMax } from '../../src/platform/limits.ts'
import { behindBlocksMax, stoppedAfterMs } from '../../src/scan/health.ts'
import { proofRetryMs } from '../../src/scan/prove-queue.ts'
import { leaseMs, stallMs } from '../../src/scan/scan.ts'
import {
  addressFrom,
  addressIn,
  alarmsIn,
  finalityLag,
  firstAddress,
  payFinal,
  type RunningService,
  requestsOf,
  startService,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'

const scanStoreOf = ({ db }: RunningService) => createScanStore(db)
const positionOf = async (service: RunningService) => (await scanStoreOf(service).state())?.position.height
const pendingCountOf = async ({ db }: RunningService) => (await createPendingDeposits(db).of(7 as Uid, null)).length
const finalizedIn = ({ chain }: RunningService) => chain.tip().height - finalityLag

/** A service whose caller has an address and a final deposit of 25 USDT. */
async function withDeposit(variables: Record<string, unknown> = {}) {
  const service = await startService(variables)
  const to = await addressIn(await service.get('/tron/generate'))
  const [txid = ''] = payFinal(service, usdtTo(to, 25_000_000n))
  return { service, to, txid }
}

describe('a tick', () => {
  it('starts the scan at the finalized height, also before any address exists', async () => {
    const service = await startService()
    await service.tick()
    const finalized = finalizedIn(service)
    expect(await positionOf(service)).toBe(finalized)
    expect(await textOf(service, '/health')).toContain(`"scanned":${finalized},"finalized":${finalized},"behind":0`)
  })

  it('credits a final deposit, and none that is not final', async () => {
    const { service, to } = await withDeposit()
    service.chain.add([usdtTo(to, 1n)])
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })

  it('does not scan while another scan has the lease, and takes over a lease that has expired', async () => {
    const { service } = await withDeposit()
    const now = service.clock.seconds * 1000
    await scanStoreOf(service).acquireLease('killed', now as UnixMs, (now + leaseMs) as UnixMs)
    const before = await positionOf(service)
    await service.tick()
    expect(await positionOf(service)).toBe(before)
    service.clock.seconds += leaseMs / 1000
    await service.tick()
    expect(await positionOf(service)).toBe(finalizedIn(service))
  })

  it('stops before a block with a log that only one node has, with one alarm, and credits it when both have it', async () => {
    const { service, txid } = await withDeposit()
    const [first, second] = service.nodes
    if (!first || !second) throw new Error('two nodes')
    first.script = () => changing('eth_getLogs', () => [])
    const block = service.chain.transaction(txid)?.wire.blockNumber
    await service.tick()
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":0,"cuy":2}')
    expect(await positionOf(service)).toBeLessThan(Number(block))
    expect(alarmsIn(service).sort()).toEqual(['node-lies', 'nodes-disagree'])
    first.script = () => null
    service.clock.seconds += 600
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })

  it('raises an alarm when finality does not advance, and credits nothing that is not final', async () => {
    const { service, to } = await withDeposit()
    await service.tick()
    for (const node of service.nodes) node.finalityLag += 2
    service.chain.add([usdtTo(to, 1_000_000n)])
    service.chain.addEmpty(1)
    service.clock.seconds += stallMs / 1000 + 1
    for (let i = 0; i < 3; i += 1) await service.tick()
    expect(alarmsIn(service).filter((kind) => kind === 'finality-stalled')).toHaveLength(1)
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })

  it('stops at a block that is not the child of the stored one, and continues when the chain follows it again', async () => {
    const { service, to } = await withDeposit()
    await service.tick()
    const original = service.chain
    const other = original.fork(finalizedIn(service) - 1)
    other.add([usdtTo(to, 9_000_000n)])
    other.addEmpty(finalityLag + 2)
    for (const node of service.nodes) node.chain = other
    for (let i = 0; i < 3; i += 1) await service.tick()
    expect(alarmsIn(service).filter((kind) => kind === 'chain-forked')).toHaveLength(1)
    const health = await service.get('/health', null)
    expect(health.status).toBe(503)
    expect(await health.text()).toContain('"status":"stopped"')
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
    for (const node of service.nodes) node.chain = original
    original.addEmpty(3)
    await service.tick()
    service.clock.seconds += 1
    expect((await service.get('/health', null)).status).toBe(200)
  })

  it('reads no block twice while the scan catches up, because it starts no read that it cannot prove', async () => {
    const { service, to } = await withDeposit()
    const deposits = 60
    for (let i = 0; i < deposits; i++) {
      service.chain.add([usdtTo(to, 1_000_000n)])
      service.chain.addEmpty(9)
    }
    service.chain.addEmpty(finalityLag)
    const before = await positionOf(service)
    let ticks = 0
    for (; (await positionOf(service)) !== finalizedIn(service); ticks++) await service.tick()
    expect(ticks).toBeGreaterThan(2)
    expect(await textOf(service, '/wallet/list')).toContain(`{"amt":${25 + deposits},"cuy":2}`)
    for (const node of service.nodes) {
      const read = node.requests
        .flatMap(({ calls }) => calls)
        .filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true)
        .map(({ params }) => Number(params[0]))
        .filter((height) => height > (before ?? 0))
      expect(read.length).toBeGreaterThan(10 * deposits)
      expect(read.length).toBe(new Set(read).size)
    }
  })

  it('queues the deposits of a block that one invocation cannot prove, and credits all of them later', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    const count = tickRequestsMax + 5
    payFinal(service, ...Array.from({ length: count }, (_, i) => trxTo(to, BigInt(i + 1) * 1_000_000n)))
    await service.tick()
    for (let i = 0; i < 5; i++) {
      service.clock.seconds += proofRetryMs / 1000
      await service.tick()
    }
    const total = (count * (count + 1)) / 2
    expect(await textOf(service, '/wallet/list')).toContain(`{"amt":${total},"cuy":1}`)
    expect(await pendingCountOf(service)).toBe(0)
  })

  it.each([
    ['a recharge', (_: string) => '/tron/recharge'],
    ['a question about another transaction', (_: string) => `/tron/recharge?txid=${'ab'.repeat(32)}`],
    ['a question about its transaction', (txid: string) => `/tron/recharge?txid=${txid}`],
  ])('are tried at once by %s of their caller, whenever their next try is', async (_, path) => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    for (const node of service.nodes) {
      node.script = (request) => (request.service === 'api' ? { kind: 'body', body: '{}' } : null)
    }
    const [txid = ''] = payFinal(service, trxTo(to, 1_000_000n))
    await service.tick()
    expect(await pendingCountOf(service)).toBe(1)
    service.clock.seconds += 10
    for (const node of service.nodes) node.script = () => null
    await service.get(path(txid), 8)
    expect(await pendingCountOf(service)).toBe(1)
    await service.get(path(txid))
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":1,"cuy":1}')
  })
})

describe('health', () => {
  it('is stopped when the position has not moved for too long', async () => {
    const { service } = await withDeposit()
    await service.tick()
    service.clock.seconds += stoppedAfterMs / 1000 - 10
    expect((await service.get('/health', null)).status).toBe(200)
    service.clock.seconds += 20
    expect((await service.get('/health', null)).status).toBe(503)
  })

  it('is behind when too many final blocks are not scanned', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const position = (await positionOf(service)) ?? 0
    const statusWith = async (behind: number) => {
      await scanStoreOf(service).recordFinalized((position + behind) as BlockHeight, 1 as UnixMs)
      service.clock.seconds += 1 // the state of this second is not read again
      return textOf(service, '/health')
    }
    expect(await statusWith(behindBlocksMax)).toContain('"status":"ok"')
    expect(await statusWith(behindBlocksMax + 1)).toContain('"status":"behind"')
  })
})

describe('recharge', () => {
  it('credits once and scans once when it is called a thousand times at once', async () => {
    const { service } = await withDeposit()
    const before = requestsOf(service)
    const answers = await Promise.all(Array.from({ length: 1000 }, () => service.get('/tron/recharge')))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    expect(requestsOf(service) - before).toBeLessThan(40)
    expect(await textOf(service, '/wallet/flow/list')).toContain('"count":1')
  })

  it('credits one transaction by its txid while the scan is thousands of blocks behind', async () => {
    const { service, txid } = await withDeposit()
    service.chain.addEmpty(3000)
    expect((await service.get(`/tron/recharge?txid=${txid}`)).status).toBe(200)
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
    expect((await service.get('/tron/recharge')).status).toBe(200)
    expect(await textOf(service, '/health')).toContain('"status":"behind"')
    for (let i = 0; i < 30; i++) await service.tick()
    expect(await positionOf(service)).toBe(finalizedIn(service))
    expect(await textOf(service, '/wallet/flow/list')).toContain('"count":1')
  })

  it('is 503 and not a success when no node answers', async () => {
    const { service } = await withDeposit()
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 500 })
    expect((await service.get('/tron/recharge')).status).toBe(503)
  })

  it('credits nothing by a txid while the scan is halted, and credits it afterwards', async () => {
    const { service, txid } = await withDeposit()
    const halt = (why: string | null) => service.db.prepare('UPDATE scan SET halted = ?1').bind(why).run()
    await halt('forked')
    const before = requestsOf(service)
    expect((await service.get(`/tron/recharge?txid=${txid}`)).status).toBe(409)
    expect(requestsOf(service)).toBe(before)
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":0,"cuy":2}')
    await halt(null)
    expect((await service.get(`/tron/recharge?txid=${txid}`)).status).toBe(200)
  })

  it('credits nothing that was final before the address was issued, and raises an alarm', async () => {
    const service = await startService()
    const early = finalizedIn(service)
    const [txid = ''] = payFinal(service, usdtTo(addressFrom(firstAddress), 5_000_000n))
    const later = service.with({ TRON_START_BLOCK: String(early) })
    const to = await addressIn(await later.get('/tron/generate'))
    expect(to).toBe(addressFrom(firstAddress))
    await later.tick()
    const answer = await later.get(`/tron/recharge?txid=${txid}`)
    expect(answer.status).toBe(409)
    await later.get(`/tron/recharge?txid=${txid}`)
    expect(alarmsIn(service)).toEqual(['paid-before-issue'])
    expect(await pendingCountOf(service)).toBe(0)
    expect(await textOf(later, '/wallet/list')).toContain('{"amt":0,"cuy":2}')
    payFinal(service, usdtTo(to, 7_000_000n))
    await later.tick()
    expect(await textOf(later, '/wallet/list')).toContain('{"amt":7,"cuy":2}')
  })
})

describe('the start of the scan', () => {
  it('is refused above the agreed finalized head, and is possible later', async () => {
    const service = await startService()
    const late = service.with({ TRON_START_BLOCK: String(finalizedIn(service) + 1) })
    await late.tick()
    expect((await late.get('/tron/generate')).status).toBe(503)
    expect(await positionOf(late)).toBeUndefined()
    expect(alarmsIn(late)).toEqual([])
    expect(late.lines.join()).toContain('"event":"scan-not-started","why":"start-above-head"')
    service.chain.addEmpty(1)
    expect((await late.get('/tron/generate')).status).toBe(200)
  })

  it('stores the agreed finalized height, also where the first block is configured', async () => {
    const service = await startService()
    const early = service.with({ TRON_START_BLOCK: '2' })
    await early.get('/tron/generate')
    expect(await scanStoreOf(early).state()).toMatchObject({ position: { height: 1 }, finalized: finalizedIn(service) })
  })
})
