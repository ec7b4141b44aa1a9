import { describe, expect, it } from 'vitest'
import { blockSeconds } from '../../src/worker/chain/block.ts'
import { createService } from '../../src/worker/compose.ts'
import {
  finalityLag,
  nodesWith,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  startService,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { createWorld } from '../http/world.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { testSecret } from '../support/variables.ts'
import { alarmsOf, balancesOf, breakNodes, callsOf, stateOf, withAddress, withDeposit } from './harness.ts'

/** Makes each node hold all requests until the returned function is called. */
function holdNodes({ nodes }: RunningService): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const node of nodes) node.script = () => ({ kind: 'delayed', wait: () => promise })
  return () => {
    for (const node of nodes) node.script = () => null
    resolve()
  }
}

it('a tick waits for no scan of a caller', async () => {
  const { service } = await withDeposit()
  const { promise, resolve } = Promise.withResolvers<void>()
  let held = 0
  for (const node of service.nodes) {
    node.script = () => {
      held += 1
      return held > service.nodes.length ? null : { kind: 'delayed', wait: () => promise }
    }
  }
  const answer = service.get('/tron/recharge')
  while (held < service.nodes.length) await new Promise((next) => setTimeout(next, 1))
  await service.tick()
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  resolve()
  expect((await answer).status).toBe(200)
})

describe('a recharge', () => {
  it('is one scan for all that ask before it begins: a hundred cost as much as one', async () => {
    const { service } = await withDeposit()
    const before = requestsOf(service)
    const answers = await Promise.all(Array.from({ length: 120 }, () => service.get('/tron/recharge')))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    expect(requestsOf(service) - before).toBeLessThan(40)
    expect(await textOf(service, '/wallet/flow/list')).toContain('"count":1')
  })

  it('is a failure, not an empty report, where no node answers', async () => {
    const { service } = await withDeposit()
    breakNodes(service)
    expect((await service.get('/tron/recharge')).status).toBe(503)
  })

  it('repeats no scan that ended less than a block time ago', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const before = requestsOf(service)
    await service.get('/tron/recharge')
    expect(requestsOf(service)).toBe(before)
    service.clock.seconds += blockSeconds + 1
    await service.get('/tron/recharge')
    expect(requestsOf(service)).toBeGreaterThan(before)
  })

  it('is answered by a scan that began after it, also where it had to wait for another one', async () => {
    const { service, own } = await withDeposit()
    const release = holdNodes(service)
    const first = service.tick()
    const second = service.get('/tron/recharge')
    while (requestsOf(service) < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    payFinal(service, usdtTo(own, 1_000_000n))
    release()
    await first
    expect((await read(await second)).body).toMatchObject({ msg: expect.stringContaining('credited') })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 26 })
  })

  it('whose client has gone changes nothing for others, and its scan goes on', async () => {
    const { service } = await withDeposit()
    const release = holdNodes(service)
    const gone = new AbortController()
    const left = service.get('/tron/recharge', 7, { signal: gone.signal })
    left.catch(() => undefined)
    while (requestsOf(service) < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    gone.abort()
    const other = service.get('/tron/recharge', 8)
    release()
    expect((await other).status).toBe(200)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('is the scanner’s: the Worker that serves the request sends nothing to a node', async () => {
    const { service } = await withDeposit()
    const lines: string[] = []
    let sent = 0
    const reach = () => {
      sent += 1
      return new Promise<Response>(() => {}) // a request to a node would never end
    }
    const worker = createService(createWorld(reach, lines, service.clock.seconds).platform)
    const headers = bearer(await signHs256({ sub: '7', exp: tokenNow + 86_400 }, testSecret))
    const url = 'https://wallet.example/tron/recharge'
    const { status } = await worker.fetch(new Request(url, { headers }), service.bindings)
    expect([status, sent]).toEqual([200, 0])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })

  it('is a success for who has no address, where no scan has started', async () => {
    const service = await startService()
    expect(await textOf(service, '/tron/recharge')).toContain('nothing new')
    expect(requestsOf(service)).toBe(0)
  })
})

describe('the balance of a caller', () => {
  it('is asked again after a block time only', async () => {
    const { service } = await withAddress()
    await service.get('/tron/balance')
    const before = callsOf(service, 'eth_getBalance').length
    await Promise.all(Array.from({ length: 20 }, () => service.get('/tron/balance')))
    expect(callsOf(service, 'eth_getBalance')).toHaveLength(before)
    service.clock.seconds += blockSeconds + 1
    await service.get('/tron/balance')
    expect(callsOf(service, 'eth_getBalance')).toHaveLength(before + 1)
  })
})

describe('an address', () => {
  it('is issued without a request to a node once the scan has started and the book is not empty', async () => {
    const { service } = await withAddress()
    const before = requestsOf(service)
    for (let uid = 100; uid < 110; uid += 1) expect((await service.get('/tron/generate', uid)).status).toBe(200)
    expect(requestsOf(service)).toBe(before)
  })

  it('is not issued while the nodes disagree about the finalized block: the answer is 503', async () => {
    const service = await startService()
    const fork = service.chain.fork(service.chain.firstHeight - 1)
    fork.addEmpty(finalityLag + 1)
    const [, second] = service.nodes
    if (second !== undefined) second.chain = fork
    expect((await service.get('/tron/generate')).status).toBe(503)
  })
})

describe('one caller', () => {
  it('takes no more than a share, and the answer says whose limit it is; others and ticks go on', async () => {
    // Ticks need 22,500 requests a day. Callers have half of the other 1,000, and one caller a
    // tenth of that.
    const { service, own } = await withAddress(nodesWith({ perDay: 23_500 }))
    await service.tick()
    const txid = 'ab'.repeat(32)
    for (const path of [`/tron/recharge?txid=${txid}`, '/tron/balance']) {
      let answer = await read(await service.get(path))
      for (let i = 0; i < 60 && answer.status !== 429; i += 1) {
        service.clock.seconds += 4
        answer = await read(await service.get(path))
      }
      expect(answer.body).toMatchObject({ code: 429, msg: expect.stringMatching(/^your share of the requests /) })
    }
    expect((await service.get(`/tron/recharge?txid=${txid}`, 8)).status).toBe(404)
    payFinal(service, usdtTo(own, 5_000_000n))
    service.clock.seconds += 20
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })

  it('with a recharge timed before each tick takes nothing from it: strangers’ deposits are credited by each', async () => {
    const { service: rich, own } = await withAddress()
    // leaves 40 requests a day beside ticks; one caller may cause two of them, too few for a scan
    const service = rich.with(nodesWith({ perDay: 22_540 }))
    await service.tick()
    for (let i = 1; i <= 8; i += 1) {
      payFinal(service, trxTo(own, 1_000_000n))
      service.clock.seconds += 19
      await Promise.all(Array.from({ length: 3 }, () => service.get('/tron/recharge', 9)))
      service.clock.seconds += 1
      await service.tick()
      expect(await balancesOf(service)).toEqual({ 1: i, 2: 0 })
    }
    expect(alarmsOf(service, 'scan-stalled')).toEqual([])
    await stateOf(service)
  })
})
