/**
 * `node test/bench/delays.ts`: how long after its block a transfer is seen, and how long after finality it is credited, both until
 * the signed event is at a receiver, with scans every 10, 20 and 60 s. One local chain with mainnet's timing: a block each 3 s,
 * final 19 blocks later. It takes eight minutes.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Devnet, startDevnet } from '../devnet/chain.ts'
import { tokenBase58 } from '../devnet/control.ts'
import { printLine } from '../support/project.ts'
import { testSecret, testXpub } from '../support/variables.ts'
import { bundleService } from './bundles.ts'
import { type RunningWorkers, startWorkers } from './miniflare.ts'
import { seedEmpty } from './seeds.ts'
import { bearerOf } from './variables.ts'

const intervals = [10, 20, 60] as const
const blockSeconds = 3
const finalityLag = 19
const payments = 100
const minuteMs = 60_000

/** When a receiver got each event of a transaction. */
interface Arrivals {
  readonly url: string
  readonly seen: Map<string, number>
  readonly credited: Map<string, number>
}

const devnet = await startDevnet({ statePath: null, blockSeconds, tronPort: 0, anvilPort: 0, finalityLag })
const minedAt = new Map<number, number>()
let isOver = false
const watching = watchBlocks()
try {
  const arrivals = await Promise.all(intervals.map(startArrivals))
  const workers = await startServices(arrivals)
  const address = await depositAddress(workers)
  const cron = runCron(workers)
  await wait(5_000)
  const heights = await pay(address)
  await wait((finalityLag * blockSeconds + 70) * 1000)
  isOver = true
  for (const [i, every] of intervals.entries()) report(every, heights, arrivals[i])
  await Promise.race([cron, wait(minuteMs)])
  await workers.stop()
} finally {
  isOver = true
  await watching
  await devnet.stop()
}
process.exit(0)

/** Notes when each block appears. */
async function watchBlocks(): Promise<void> {
  while (!isOver) {
    const height = Number(await call(devnet, 'eth_blockNumber'))
    if (!minedAt.has(height)) minedAt.set(height, Date.now())
    await wait(50)
  }
}

async function startArrivals(): Promise<Arrivals> {
  const arrivals = { seen: new Map<string, number>(), credited: new Map<string, number>() }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      const { type, data } = JSON.parse(body) as { type: string; data: { txid: string } } // the service's own
      if (type === 'deposit.seen') arrivals.seen.set(data.txid, Date.now())
      if (type === 'deposit.credited') arrivals.credited.set(data.txid, Date.now())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { ...arrivals, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } // a listening TCP server
}

async function startServices(arrivals: readonly Arrivals[]): Promise<RunningWorkers> {
  const { script } = await bundleService()
  const database = seedEmpty()
  const specs = intervals.map((every, i) => ({
    name: `every-${every}`,
    script,
    database: `every-${every}`,
    variables: {
      TRON_XPUB: testXpub,
      TRON_CHAIN_ID: '0x6465766e',
      TRON_NODES: [{ rpc: devnet.rpcUrl, api: devnet.apiUrl }],
      TRON_FIRST_INDEX: 0,
      CURRENCIES: [
        { cuy: 1, symbol: 'TRX', decimals: 6 },
        { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6 },
      ],
      AUTH_JWT_SECRET: testSecret,
      SCAN_EVERY_SECONDS: every,
      WEBHOOKS: [{ url: arrivals[i]?.url, secretVar: 'HOOK_SECRET' }],
      HOOK_SECRET: `whsec_${btoa('the secret of the receivers')}`,
    },
  }))
  return await startWorkers(specs, Object.fromEntries(specs.map(({ name }) => [name, database])))
}

/** The address of user 1, which is the same one in each service. */
async function depositAddress(workers: RunningWorkers): Promise<string> {
  const headers = await bearerOf(1)
  const addresses = await Promise.all(
    intervals.map(async (every) => {
      const response = await fetch(`${workers.url(`every-${every}`)}/tron/generate`, { headers })
      const { data } = (await response.json()) as { data: { address: string } } // the service's own
      return data.address
    }),
  )
  return addresses[0] ?? ''
}

/** Begins an invocation each minute, as the platform does. */
async function runCron(workers: RunningWorkers): Promise<void> {
  const invocations: Promise<void>[] = []
  while (!isOver) {
    for (const every of intervals) invocations.push(workers.tick(`every-${every}`))
    await wait(minuteMs)
  }
  await Promise.all(invocations)
}

/** Sends payments, about one for each block and at any time between two; returns the height of each. */
async function pay(address: string): Promise<ReadonlyMap<string, number>> {
  const txids: string[] = []
  for (let i = 0; i < payments; i += 1) {
    const currency = i % 2 === 0 ? 'USDT' : 'TRX'
    txids.push((await devnet.pay({ to: address, amount: '1', currency })).txid)
    await wait(blockSeconds * 1000 * (0.7 + 0.6 * ((i * 7) % 10) * 0.1))
  }
  await wait(2 * blockSeconds * 1000)
  const heights = txids.map(async (txid) => {
    const receipt = (await call(devnet, 'eth_getTransactionReceipt', `0x${txid}`)) as { blockNumber: string } // mined
    return [txid, Number(receipt.blockNumber)] as const
  })
  return new Map(await Promise.all(heights))
}

function report(every: number, heights: ReadonlyMap<string, number>, arrivals: Arrivals | undefined): void {
  if (arrivals === undefined) return
  const delays = (of: ReadonlyMap<string, number>, lag: number) =>
    [...heights].map(([txid, height]) => {
      return ((of.get(txid) ?? Number.POSITIVE_INFINITY) - (minedAt.get(height + lag) ?? Number.NaN)) / 1000
    })
  const line = (name: string, seconds: readonly number[]) => {
    const sorted = [...seconds].sort((a, b) => a - b)
    const at = (part: number) => {
      const seconds = sorted[Math.ceil(part * sorted.length) - 1] ?? Number.POSITIVE_INFINITY
      return Number.isFinite(seconds) ? `${seconds.toFixed(1)} s` : 'never'
    }
    printLine(`every ${every} s: ${name} after ${at(0.5)} (half), ${at(0.99)} (99 %), ${at(1)} (all)`)
  }
  line('seen', delays(arrivals.seen, 0))
  line('credited', delays(arrivals.credited, finalityLag))
}

async function call(chain: Devnet, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(chain.rpcUrl, { method: 'POST', headers, body })
  return ((await response.json()) as { result: unknown }).result // our own server
}
