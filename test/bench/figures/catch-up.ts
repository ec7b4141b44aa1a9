import { bundleService } from '../bundles.ts'
import { compared, type Figure, type Scale } from '../figure.ts'
import { firstHeight, slotMs } from '../mainnet.ts'
import { startScanning } from '../scanning.ts'
import { unlimited } from '../variables.ts'

const backlog = 100_000
const chainPerSecond = 1000 / slotMs

/**
 * Blocks per second that the service reads while it catches up with two nodes: with the limits as
 * shipped, and without limits.
 */
export async function measureCatchUp({ work }: Scale): Promise<readonly Figure[]> {
  const { script } = await bundleService()
  const seconds = Math.max(15, 60 * work)
  const speedWith = async (limits: object) => {
    const scanning = await startScanning({ script, each: 0, addresses: 1_000, limits, every: 10 })
    try {
      await scanning.node.finalize(firstHeight + backlog)
      await wait(25) // the next tick begins, and its first reads learn how large blocks are
      const [from, start] = [scanning.height(), performance.now()]
      await wait(seconds)
      return (scanning.height() - from) / ((performance.now() - start) / 1000)
    } finally {
      await scanning.stop()
    }
  }
  const toFigure = (name: string, speed: number) => {
    const measured = { value: speed, baseline: chainPerSecond, ratio: speed / chainPerSecond }
    return compared(name, 'blocks/s', measured, 'the chain itself')
  }
  return [
    toFigure('catching up, two nodes with the limits as shipped', await speedWith({})),
    toFigure('catching up, two nodes without limits', await speedWith(unlimited)),
  ]
}

const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))
