import type { Address } from '../../../src/worker/chain/address.ts'
import { bundleService } from '../bundles.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { type BenchDeposit, createBlocks, firstHeight, slotMs, usualTransactions } from '../mainnet.ts'
import { cpuMsOf } from '../processes.ts'
import { median } from '../rounds.ts'
import { startScanning } from '../scanning.ts'
import { startVirtual } from '../virtual.ts'

const startMs = 1_790_000_000_000
const deposits = 500
/** The blocks of 20 seconds, which one tick reads. */
const blocks = 7
const eachBlock = Math.ceil(deposits / blocks)
/** D1 statements of a tick that is caught up, at most. */
const statementsMax = 12
/**
 * CPU time of a tick that is caught up, at most: 30 million ms a month are included in the paid
 * plan.
 */
const caughtUpMs = 200
/** An object that nobody calls for ten seconds is evicted, by workerd too. */
const evictedAfterMs = 12_000
/**
 * Seconds between regular ticks. They are longer than the ten seconds after which the object is
 * evicted.
 */
const everySeconds = 15
/** How long to wait after the last block of a tick is read, until the tick has ended. */
const restOfTickMs = 3_000
/** CPU time limit of one invocation on the paid plan (Cloudflare's limits page, November 2026). */
const paidPlanMs = 30_000

/** What a tick needs: requests, statements and CPU time, while caught up and with 500 deposits. */
export async function measureTick(scale: Scale): Promise<readonly Figure[]> {
  return [...(await measureCounts(scale)), ...(await measureCpu(scale))]
}

/**
 * Requests and statements of ticks every 20 seconds, with two nodes whose blocks are like
 * mainnet's. One tick finds 500 deposits that have become final.
 */
async function measureCounts({ work }: Scale): Promise<readonly Figure[]> {
  const to: Address[] = []
  let from = Number.POSITIVE_INFINITY
  const depositsAt = (height: number): readonly BenchDeposit[] =>
    height < from || height >= from + blocks
      ? []
      : to.slice((height - from) * eachBlock, (height - from + 1) * eachBlock).map((address, i) => {
          return { asset: i % 2 === 0 ? 'TRX' : 'USDT', to: address, amount: 1_000_000n }
        })
  const chain = createBlocks({ startMs, transactionsAt: () => usualTransactions, depositsAt })
  const service = await startVirtual(chain)
  for (let uid = 1; uid <= deposits; uid += 1) to.push(await service.addressOf(uid))
  await service.run(120_000)
  const first = service.ticks.length
  await service.run(Math.max(5, 20 * work) * 60_000)
  const quiet = service.ticks.slice(first)
  const before = service.ticks.length
  from = firstHeight + Math.ceil((service.now() - startMs) / slotMs) + 2
  await service.run(240_000)
  const row = service.sqlite.prepare(`SELECT count(*) AS n FROM transfer WHERE state = 'credited'`).get()
  if (Number(row?.n) !== deposits) throw new Error(`${row?.n} of ${deposits} deposits were credited`)
  const busy = service.ticks.slice(before)
  const most = (of: 'requests' | 'statements') => Math.max(...busy.map((tick) => tick[of]))
  const usual = (of: 'requests' | 'statements') => median(quiet.map((tick) => tick[of]))
  return [
    figure('requests of a tick that is caught up, two nodes', usual('requests'), 'requests'),
    figure(
      'D1 statements of a tick that is caught up',
      usual('statements'),
      'statements',
      atMost(statementsMax, usual('statements')),
    ),
    figure(`requests of the tick with ${deposits} deposits, two nodes`, most('requests'), 'requests'),
    figure(`D1 statements of the tick with ${deposits} deposits`, most('statements'), 'statements'),
  ]
}

/**
 * CPU time of workerd as a whole, with its database and its network. It is read from `/proc`, so
 * only on Linux. A tick that is caught up begins by its alarm. A tick with deposits begins by a
 * request, because a regular tick would also compare the balances of the addresses that have
 * earlier deposits.
 */
async function measureCpu({ rounds }: Scale): Promise<readonly Figure[]> {
  if (process.platform !== 'linux') return []
  const { script } = await bundleService()
  const figures: Figure[] = []
  for (const each of [0, eachBlock]) {
    const scanning = await startScanning({ script, each, addresses: deposits, every: each === 0 ? everySeconds : 60 })
    const scan = async () => {
      await (each === 0 ? scanning.tick(blocks) : scanning.scan(blocks))
      await wait(restOfTickMs)
    }
    try {
      for (let i = 0; i < 3; i += 1) {
        await wait(slotMs + 200) // a scan that ended less than a block time ago is not repeated
        await scan()
      }
      const times: number[] = []
      for (let i = 0; i < rounds; i += 1) {
        if (each > 0) await wait(evictedAfterMs)
        const before = cpuMsOf(scanning.processes)
        await scan()
        times.push(cpuMsOf(scanning.processes) - before)
      }
      const what = each === 0 ? 'that is caught up' : `with ${deposits} deposits`
      const ms = median(times)
      const limit = each === 0 ? caughtUpMs : paidPlanMs / 10
      figures.push(figure(`CPU time of a tick ${what}, ${blocks} blocks, two nodes`, ms, 'ms', atMost(limit, ms)))
    } finally {
      await scanning.stop()
    }
  }
  return figures
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
