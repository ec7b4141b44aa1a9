import { bundleService } from '../bundles.ts'
import { type Figure, type Scale, stated } from '../figure.ts'
import { startNode } from '../node-process.ts'
import { openProfiler } from '../profile.ts'
import { median } from '../rounds.ts'
import { startScanner } from '../scanning.ts'
import { seedWatched } from '../seeds.ts'

const watched = 100_000
const blocks = 20
const warmUpTicks = 5
/** CPU time of one invocation, in milliseconds (Cloudflare's limits page, read November 2026). */
const freeMs = 10
const paidMs = 30_000

/** CPU time of one cron tick of a minute's blocks, in the service's own isolate; reconciliation included. */
export async function measureTick(scale: Scale): Promise<readonly Figure[]> {
  const service = await bundleService()
  const figures: Figure[] = []
  for (const quorum of [1, 2] as const) {
    const node = await startNode({ watched, fullFrom: Number.MAX_SAFE_INTEGER })
    const database = seedWatched(watched, false)
    const scanner = await startScanner({ worker: service, node, database, quorum, inspected: true })
    try {
      for (let i = 0; i < warmUpTicks; i += 1) await scanner.scan(blocks)
      const profiler = await openProfiler(scanner.platform.inspector('scanner'))
      const times: number[] = []
      let top = ''
      for (let i = 0; i < scale.rounds; i += 1) {
        const cpu = await profiler.profile(() => scanner.scan(blocks))
        times.push(cpu.ms)
        top = cpu.top.map(({ name, ms }) => `${name} ${ms.toFixed(1)}`).join(', ')
      }
      profiler.close()
      const ms = median(times)
      const note = `${(ms / freeMs).toFixed(1)} times the free plan's ${freeMs} ms; ${((ms / paidMs) * 100).toFixed(2)} % of the paid plan's ${paidMs / 1000} s. Most: ${top}`
      figures.push(stated(`CPU time of a cron tick of ${blocks} blocks, quorum ${quorum}`, ms, 'ms', note))
    } finally {
      node.stop()
      await scanner.platform.stop()
    }
  }
  return figures
}
