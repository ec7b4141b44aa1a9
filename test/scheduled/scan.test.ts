import { describe, expect, it } from 'vitest'
import { formatBase58 } from '../../src/addresses/address.ts'
import { tickRequestsMax } from '../../src/platform/limits.ts'
import { behindBlocksMax, stoppedAfterMs } from '../../src/scan/health.ts'
import { stepBlocksMax } from '../../src/scan/limits.ts'
import { pendingPerScanMax, pendingRetryMs } from '../../src/scan/retry-pending.ts'
import { leaseMs, stallMs } from '../../src/scan/scan.ts'
import { addressIn, finalityLag, payFinal, type RunningService, startService, trxTo, usdtTo } from '../http/service.ts'
import { addressOf } from '../support/chain-builder.ts'
import { changing } from '../support/scripted-node.ts'

const textOf = async (service: RunningService, path: string, uid = 7) => (await service.get(path, uid)).text()
const positionOf = (service: RunningService) => service.db.prepare('SELECT height FROM scan').first<number>('height')
const requestsOf = (service: RunningService) => service.nodes.reduce((sum, node) => sum + node.requests.length, 0)
const alarmsIn = (service: RunningService) => service.lines.flatMap((line) => JSON.parse(line).alarm ?? [])

/** A service whose caller has an address, with a deposit of 25 USDT that is final. */
async function withDeposit(variables: Record<string, unknown> = {}) {
  const service = await startService(variables)
  const to = await addressIn(await service.get('/tron/generate'))
  const [txid = ''] = payFinal(service, usdtTo(to, 25_000_000n))
  return { service, to, txid }
}

describe('a tick', () => {
  it('starts the scan at the finalized height and stores it before any address exists', async () => {
    const service = await startService()
    await service.tick()
    const finalized = service.chain.tip().height - finalityLag
    expect(await positionOf(service)).toBe(finalized)
    expect(await textOf(service, '/health')).toContain(`"scanned":${finalized},"finalized":${finalized},"behind":0`)
  })

  it('credits what is final and nothing above it', async () => {
    const { service, to } = await withDeposit()
    service.chain.add([usdtTo(to, 1n)])
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })

  it('leaves the scan to whoever holds the lease, and takes it over when that one is dead', async () => {
    const { service } = await withDeposit()
    const now = service.clock.seconds * 1000
    await service.db
      .prepare('UPDATE scan SET lease = ?, lease_until = ?')
      .bind('dead', now + leaseMs)
      .run()
    const before = await positionOf(service)
    await service.tick()
    expect(await positionOf(service)).toBe(before)
    service.clock.seconds += leaseMs / 1000
    await service.tick()
    expect(await positionOf(service)).toBe(service.chain.tip().height - finalityLag)
  })

  it('does not move past a block whose logs a second node has more of, says so once, and credits after it', async () => {
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

  it('raises an alarm when finality stands still, and accepts nothing less than final', async () => {
    const { service, to } = await withDeposit()
    await service.tick()
    for (const node of service.nodes) node.finalityLag += 2
    service.chain.add([usdtTo(to, 1_000_000n)])
    service.chain.addEmpty(1)
    service.clock.seconds += stallMs / 1000 + 1
    await service.tick()
    expect(alarmsIn(service)).toContain('finality-stalled')
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })

  it('is stopped by a block that does not follow the stored one, and goes on when the chain is whole again', async () => {
    const { service, to } = await withDeposit()
    await service.tick()
    const own = service.chain
    const other = own.fork(own.tip().height - finalityLag - 1)
    other.add([usdtTo(to, 9_000_000n)])
    other.addEmpty(finalityLag + 2)
    for (const node of service.nodes) node.chain = other
    await service.tick()
    expect(alarmsIn(service)).toContain('chain-forked')
    const health = await service.get('/health', null)
    expect(health.status).toBe(503)
    expect(await health.text()).toContain('"status":"stopped"')
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
    for (const node of service.nodes) node.chain = own
    own.addEmpty(3)
    await service.tick()
    expect((await service.get('/health', null)).status).toBe(200)
  })

  it('catches up without reading a block twice: it begins no read that it could not prove', async () => {
    const { service, to } = await withDeposit()
    const deposits = 60
    for (let i = 0; i < deposits; i++) {
      service.chain.add([usdtTo(to, 1_000_000n)])
      service.chain.addEmpty(9)
    }
    service.chain.addEmpty(finalityLag)
    const before = await positionOf(service)
    let ticks = 0
    for (; (await positionOf(service)) !== service.chain.tip().height - finalityLag; ticks++) await service.tick()
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

  it('catches up in ticks of no more D1 statements than the free plan allows, however many tokens are paid', async () => {
    const tokens = Array.from({ length: 12 }, (_, i) => ({ cuy: i + 1, contract: addressOf(500 + i) }))
    const service = await startService({
      CURRENCIES: tokens.map(({ cuy, contract }) => {
        return { cuy, symbol: `T${cuy}`, decimals: 6, contract: formatBase58(contract) }
      }),
    })
    for (const node of service.nodes) for (const { contract } of tokens) node.decimals.set(contract, 6)
    const to = await addressIn(await service.get('/tron/generate'))
    const deposits = tokens.map(({ contract }) => ({ ...usdtTo(to, 1_000_000n), contract }))
    const rounds = 8
    for (let i = 0; i < rounds; i++) {
      service.chain.add(deposits)
      service.chain.addEmpty(stepBlocksMax - 1)
    }
    service.chain.addEmpty(finalityLag)
    const statements: number[] = []
    while ((await positionOf(service)) !== service.chain.tip().height - finalityLag) {
      await service.tick()
      statements.push(JSON.parse(service.lines.at(-1) ?? '').databaseQueries)
    }
    statements.pop() // of the tick that caught up and went on to compare balances
    expect(Math.max(...statements)).toBeLessThan(50)
    expect(statements.length).toBeGreaterThan(1)
    const wallets = tokens.map(({ cuy }) => `{"amt":${rounds},"cuy":${cuy}}`)
    expect(await textOf(service, '/wallet/list')).toContain(`[${wallets.join(',')}]`)
  })

  it('queues what one invocation can’t ask about, and credits all of it later', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    const count = tickRequestsMax + 5
    payFinal(service, ...Array.from({ length: count }, (_, i) => trxTo(to, BigInt(i + 1) * 1_000_000n)))
    await service.tick()
    const ticks = Math.ceil(count / pendingPerScanMax)
    for (let i = 0; i < ticks; i++) {
      service.clock.seconds += pendingRetryMs / 1000
      await service.tick()
    }
    const total = (count * (count + 1)) / 2
    expect(await textOf(service, '/wallet/list')).toContain(`{"amt":${total},"cuy":1}`)
    expect(await service.db.prepare('SELECT count(*) AS n FROM pending').first('n')).toBe(0)
  })

  it('tries no more pending deposits than its share, each no sooner than agreed', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    for (const node of service.nodes)
      node.script = ({ service: asked }) => (asked === 'api' ? { kind: 'body', body: '{}' } : null)
    payFinal(service, ...Array.from({ length: pendingPerScanMax + 3 }, () => trxTo(to, 1_000_000n)))
    await service.tick()
    const waiting = () => service.db.prepare('SELECT count(*) AS n FROM pending').first<number>('n')
    expect(await waiting()).toBe(pendingPerScanMax + 3)
    for (const node of service.nodes) node.script = () => null
    service.clock.seconds += 600
    await service.tick()
    expect(await waiting()).toBe(3)
  })

  it('counts as standing still when the position did not move for the agreed time', async () => {
    const { service } = await withDeposit()
    await service.tick()
    service.clock.seconds += stoppedAfterMs / 1000 - 10
    expect((await service.get('/health', null)).status).toBe(200)
    service.clock.seconds += 20
    expect((await service.get('/health', null)).status).toBe(503)
  })
})

describe('health', () => {
  it('is behind when more than the agreed number of final blocks are not scanned', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const statusWith = async (behind: number) => {
      await service.db.prepare('UPDATE scan SET finalized = height + ?').bind(behind).run()
      return textOf(service, '/health')
    }
    expect(await statusWith(behindBlocksMax)).toContain('"status":"ok"')
    expect(await statusWith(behindBlocksMax + 1)).toContain('"status":"behind"')
  })
})

describe('recharge', () => {
  it('called a thousand times at once credits once and makes one scan', async () => {
    const { service } = await withDeposit()
    const before = requestsOf(service)
    const answers = await Promise.all(Array.from({ length: 1000 }, () => service.get('/tron/recharge')))
    const texts = new Set(await Promise.all(answers.map((answer) => answer.text())))
    expect([...texts]).toEqual(['{"code":200,"msg":"success: credited 25 USDT"}'])
    expect(requestsOf(service) - before).toBeLessThan(40)
    expect(await textOf(service, '/wallet/flow/list')).toContain('"count":1')
  })

  it('answers for one transaction while the scan is thousands of blocks behind', async () => {
    const { service, txid } = await withDeposit()
    service.chain.addEmpty(3000)
    const asked = await service.get(`/tron/recharge?txid=${txid}`)
    expect(await asked.text()).toContain('25 USDT')
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
    const report = await textOf(service, '/tron/recharge')
    expect(report).toMatch(/success: .*\d+ blocks behind/)
    for (let i = 0; i < 30; i++) await service.tick()
    expect(await positionOf(service)).toBe(service.chain.tip().height - finalityLag)
    expect(await textOf(service, '/wallet/flow/list')).toContain('"count":1')
  })

  it('is a 503, not a success, when no node answers', async () => {
    const { service } = await withDeposit()
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 500 })
    expect((await service.get('/tron/recharge')).status).toBe(503)
  })

  it('finds a transaction in a block before the scan’s start', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    const [txid = ''] = payFinal(service, usdtTo(to, 5_000_000n))
    const later = await startService({ TRON_START_BLOCK: String(service.chain.tip().height + 1000) })
    for (const [i, node] of later.nodes.entries()) node.chain = service.nodes[i]?.chain ?? node.chain
    await later.get('/tron/generate')
    const asked = await later.get(`/tron/recharge?txid=${txid}`)
    expect(asked.status).toBe(200)
    expect(await textOf(later, '/wallet/list')).toContain('{"amt":5,"cuy":2}')
  })
})
