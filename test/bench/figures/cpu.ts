import { type Bundle, bundleService } from '../bundles.ts'
import { type Figure, type Scale, singleFigure } from '../figure.ts'
import { requestsPerSecond } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { startNode } from '../node-process.ts'
import { openProfiler } from '../profile.ts'
import { median } from '../rounds.ts'
import { startScanner } from '../scanner.ts'
import { seedLedger, seedWatched, userCount } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'

const watched = 100_000
const blocks = 20
const warmUpTicks = 5
const loadMs = 500
/** CPU time limits of one invocation (Cloudflare's limits page, November 2026). */
const freePlanMs = 10
const paidPlanMs = 30_000

/** CPU time of the service's isolate: for a cron tick with the blocks of a minute, and for a response. */
export async function measureCpu(scale: Scale): Promise<readonly Figure[]> {
  const service = await bundleService()
  return [
    await measureTick(service, scale, 1),
    await measureTick(service, scale, 2),
    await measureResponse(service, scale),
  ]
}

async function measureTick(worker: Bundle, scale: Scale, quorum: 1 | 2): Promise<Figure> {
  const node = await startNode({ watched, depositsFrom: Number.MAX_SAFE_INTEGER })
  const scanner = await startScanner({ worker, node, database: seedWatched(watched, false), quorum, inspected: true })
  try {
    for (let i = 0; i < warmUpTicks; i += 1) await scanner.scan(blocks)
    const profiler = await openProfiler(scanner.workers.inspector('scanner'))
    const times: number[] = []
    for (let i = 0; i < scale.rounds; i += 1) times.push((await profiler.profile(() => scanner.scan(blocks))).ms)
    profiler.close()
    const ms = median(times)
    const free = `${(ms / freePlanMs).toFixed(1)} times the free plan's ${freePlanMs} ms`
    const paid = `${((ms / paidPlanMs) * 100).toFixed(2)} % of the paid plan's ${paidPlanMs / 1000} s`
    return singleFigure(`CPU time of a cron tick of ${blocks} blocks, quorum ${quorum}`, ms, 'ms', `${free}; ${paid}`)
  } finally {
    node.stop()
    await scanner.workers.stop()
  }
}

async function measureResponse({ script }: Bundle, scale: Scale): Promise<Figure> {
  const variables = serviceVariables([noNode])
  const workers = await startWorkers(
    [{ name: 'service', script, database: 'ledger', variables }],
    { ledger: seedLedger() },
    true,
  )
  try {
    const headers = await Promise.all(Array.from({ length: userCount }, (_, i) => bearerOf(i + 1)))
    const load = { url: workers.url('service'), paths: ['/wallet/list'], headers, connections: 16 }
    await requestsPerSecond({ ...load, ms: loadMs })
    const profiler = await openProfiler(workers.inspector('service'))
    const times: number[] = []
    for (let i = 0; i < scale.rounds; i += 1) {
      let perSecond = 0
      const { ms } = await profiler.profile(async () => {
        perSecond = await requestsPerSecond({ ...load, ms: loadMs })
      })
      times.push(ms / ((perSecond * loadMs) / 1000))
    }
    profiler.close()
    return singleFigure('CPU time of a response of /wallet/list', median(times), 'ms', 'without the rate limiter')
  } finally {
    await workers.stop()
  }
}
