import { firstHeight } from './blocks.ts'
import type { Bundle } from './bundles.ts'
import type { LoopbackNode } from './node-process.ts'
import { type Platform, startPlatform } from './platform.ts'
import { Trouble } from './project.ts'
import { serviceVariables } from './variables.ts'

/** Seconds between two blocks. */
export const blockSeconds = 3

/** A service that scans a loopback node's blocks, tick by tick. */
export interface Scanner {
  readonly platform: Platform
  /** Makes `blocks` more blocks final and lets ticks scan all of them; gives the milliseconds of the ticks alone. */
  scan(blocks: number): Promise<number>
}

/** What a scanner is made of. `worker` is the service or its counting twin. */
export interface ScannerParts {
  readonly worker: Bundle
  readonly node: LoopbackNode
  readonly database: string
  /** Nodes that must agree; the loopback node plays all of them. */
  readonly quorum: 1 | 2
  /** Further Workers to run beside it. */
  readonly beside?: readonly { readonly name: string; readonly script: string }[]
  /** Whether it can be profiled. */
  readonly inspected?: boolean
}

/** Starts one, its position before the first block. */
export async function startScanner(parts: ScannerParts): Promise<Scanner> {
  const { worker, node, database, quorum, beside = [], inspected = false } = parts
  const urls = Array.from({ length: quorum }, (_, i) => `${node.url}?node=${i + 1}`)
  const platform = await startPlatform(
    [
      { name: 'scanner', script: worker.script, database: 'scanned', variables: serviceVariables(urls) },
      ...beside.map((other) => ({ ...other, database: null })),
    ],
    { scanned: database },
    inspected,
  )
  let finalized = firstHeight - 1
  return {
    platform,
    async scan(blocks) {
      finalized += blocks
      await node.finalize(finalized)
      let ms = 0
      for (let ticks = 0; (await scannedTo(platform)) < finalized; ticks += 1) {
        if (ticks > blocks) throw new Trouble(`the scan stands still: ${platform.complaints.at(-1) ?? 'no complaint'}`)
        const start = performance.now()
        await platform.tick('scanner')
        ms += performance.now() - start
      }
      return ms
    },
  }
}

/** Where the scan stands: what `/health` says, whatever its status is. */
async function scannedTo(platform: Platform): Promise<number> {
  const response = await fetch(`${platform.url('scanner')}/health`)
  const body = (await response.json()) as { data?: { scanned?: number } } // the service's own answer
  return body.data?.scanned ?? 0
}
