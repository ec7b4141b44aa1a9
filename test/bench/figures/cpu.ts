import { type Bundle, bundleService } from '../bundles.ts'
import { type Figure, type Scale, stated } from '../figure.ts'
import { answersPerSecond } from '../load.ts'
import { startNode } from '../node-process.ts'
import { startPlatform } from '../platform.ts'
import { openProfiler } from '../profile.ts'
import { median } from '../rounds.ts'
import { startScanner } from '../scanning.ts'
import { callers, seedLedger, seedWatched } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'

const watched = 100_000
const blocks = 20
const warmUpTicks = 5
const answerMs = 500
/** CPU time of one invocation, in milliseconds (Cloudflare's limits page, read November 2026). */
const freeMs = 10
const paidMs = 30_000

/** CPU time of the service's own isolate: for a cron tick of a minute's blocks, and for an answer. */
export async function measureCpu(scale: Scale): Promise<readonly Figure[]> {
  const service = await bundleService()
  return [await ofTick(service, scale, 1), await ofTick(service, scale, 2), await ofAnswer(service, scale)]
}

async function ofTick(worker: Bundle, scale: Scale, quorum: 1 | 2): Promise<Figure> {
  const node = await startNode({ watched, fullFrom: Number.MAX_SAFE_INTEGER })
  const scanner = await startScanner({ worker, node, database: seedWatched(watched, false), quorum, inspected: true })
  try {
    for (let i = 0; i < warmUpTicks; i += 1) await scanner.scan(blocks)
    const profiler = await openProfiler(scanner.platform.inspector('scanner'))
    const times: number[] = []
    for (let i = 0; i < scale.rounds; i += 1) times.push((await profiler.profile(() => scanner.scan(blocks))).ms)
    profiler.close()
    const ms = median(times)
    const free = `${(ms / freeMs).toFixed(1)} times the free plan's ${freeMs} ms`
    const paid = `${((ms / paidMs) * 100).toFixed(2)} % of the paid plan's ${paidMs / 1000} s`
    return stated(`CPU time of a cron tick of ${blocks} blocks, quorum ${quorum}`, ms, 'ms', `${free}; ${paid}`)
  } finally {
    node.stop()
    await scanner.platform.stop()
  }
}

async function ofAnswer({ script }: Bundle, scale: Scale): Promise<Figure> {
  const variables = serviceVariables([noNode])
  const platform = await startPlatform(
    [{ name: 'service', script, database: 'ledger', variables }],
    { ledger: seedLedger() },
    true,
  )
  try {
    const headers = await Promise.all(Array.from({ length: callers }, (_, i) => bearerOf(i + 1)))
    const load = { url: platform.url('service'), paths: ['/wallet/list'], headers, connections: 16 }
    await answersPerSecond({ ...load, ms: answerMs })
    const profiler = await openProfiler(platform.inspector('service'))
    const times: number[] = []
    for (let i = 0; i < scale.rounds; i += 1) {
      let perSecond = 0
      const { ms } = await profiler.profile(async () => {
        perSecond = await answersPerSecond({ ...load, ms: answerMs })
      })
      times.push(ms / ((perSecond * answerMs) / 1000))
    }
    profiler.close()
    return stated('CPU time of an answer of /wallet/list', median(times), 'ms', 'without the rate limiter')
  } finally {
    await platform.stop()
  }
}
