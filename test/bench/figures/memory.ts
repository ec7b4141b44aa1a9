import { readdirSync, readFileSync } from 'node:fs'
import { bundleService } from '../bundles.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { firstHeight } from '../mainnet.ts'
import { startScanning } from '../scanning.ts'

const megabytesMax = 96
/** Sizes of blocks in turns: the largest possible ones (2 MB of bytes) come after small ones, so that ranges are guessed wrong. */
const transactions = [20, 20, 20, 20, 20, 4_000, 4_000, 400, 20, 2_000]

/** Memory of the worst tick in workerd: its peak above that of the service at rest. Read from `/proc`, so only on Linux. */
export async function measureMemory({ work }: Scale): Promise<readonly Figure[]> {
  if (process.platform !== 'linux') return []
  const { script } = await bundleService()
  const others = new Set(processes())
  const scanning = await startScanning({ script, each: 20, addresses: 500, transactions, every: 10 })
  try {
    const own = processes().filter((pid) => !others.has(pid))
    const peak = () => Math.max(...own.map((pid) => megabytesOf(pid, 'VmHWM')))
    const base = Math.max(...own.map((pid) => megabytesOf(pid, 'VmRSS')))
    await scanning.node.finalize(firstHeight + 2_000)
    await scanning.workers.cron('service')
    await new Promise((resolve) => setTimeout(resolve, Math.max(30, 60 * work) * 1000))
    const height = await scanning.height()
    if (height < firstHeight + 20)
      throw new Error(`at ${height - firstHeight}: ${scanning.workers.warnings.slice(-5).join('\n')}`)
    const megabytes = peak() - base
    return [figure('memory of the worst tick in workerd', megabytes, 'MB', atMost(megabytesMax, megabytes))]
  } finally {
    await scanning.stop()
  }
}

/** The processes of workerd that this one has started. */
function processes(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return stat.includes('(workerd)') && stat.split(') ')[1]?.split(' ')[1] === String(process.pid)
    } catch {
      return false // it has ended meanwhile
    }
  })
}

function megabytesOf(pid: string, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}
