import { bundleService } from '../bundles.ts'
import { atMost, type Figure, figure } from '../figure.ts'
import { firstHeight } from '../mainnet.ts'
import { megabytesOf } from '../processes.ts'
import { startScanning } from '../scanning.ts'

/** The most megabytes that a tick may take above the service at rest. */
export const megabytesMax = 96
/** How many blocks are scanned: two rounds of the sizes below. */
const blocks = 20
/**
 * How many transactions the blocks have, in turns. The largest possible blocks (2 MB) come after
 * small ones, so that the scan asks for too many blocks at once.
 */
const transactions = [20, 20, 20, 20, 20, 4_000, 4_000, 400, 20, 2_000]

/**
 * The megabytes of heap that V8 may use: half of an isolate's memory. Without a limit garbage stays
 * until the machine is short of memory, and the peak says little. A tick that needs more fails, and
 * its blocks are not read.
 */
export const heapMegabytes = 64
const flagsVariable = 'MINIFLARE_WORKERD_V8_FLAGS'

/**
 * The most memory that a tick takes in workerd, buffers included, above the service at rest. It is
 * read from `/proc`, which only Linux has.
 */
export async function measureMemory(): Promise<readonly Figure[]> {
  if (process.platform !== 'linux') return []
  const { script } = await bundleService()
  const { tick } = await megabytesWith(script, 1)
  return [figure(`memory of the worst tick, heap of ${heapMegabytes} MB`, tick, 'MB', atMost(megabytesMax, tick))]
}

/**
 * Megabytes of workerd with a service of this many cells: at rest, and the most that a tick takes
 * above that.
 */
export async function megabytesWith(script: string, cells: number): Promise<{ rest: number; tick: number }> {
  process.env[flagsVariable] = `--max-heap-size=${heapMegabytes}`
  const options = { script, each: 20, addresses: 500, transactions, every: 10, cells }
  const scanning = await startScanning(options).finally(() => {
    delete process.env[flagsVariable]
  })
  try {
    const own = scanning.processes
    const peak = () => Math.max(...own.map((pid) => megabytesOf(pid, 'VmHWM')))
    const rest = Math.max(...own.map((pid) => megabytesOf(pid, 'VmRSS')))
    await scanning.node.finalize(firstHeight + blocks)
    const giveUpAt = Date.now() + 120_000
    while (scanning.height() < firstHeight + blocks) {
      if (Date.now() > giveUpAt)
        throw new Error(`the large blocks were not read: ${scanning.workers.warnings.join('\n')}`)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    return { rest, tick: peak() - rest }
  } finally {
    await scanning.stop()
  }
}
