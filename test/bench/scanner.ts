import { UserError } from '../support/project.ts'
import { firstHeight } from './block-templates.ts'
import type { Bundle } from './bundles.ts'
import { type RunningWorkers, startWorkers } from './miniflare.ts'
import type { LoopbackNode } from './node-process.ts'
import { serviceVariables } from './variables.ts'

/** A service that scans a loopback node's blocks, one tick after the other. */
export interface Scanner {
  readonly workers: RunningWorkers
  /**
   * Makes `blocks` more blocks final and runs ticks until all are scanned; returns the milliseconds of the ticks
   * alone.
   */
  scan(blocks: number): Promise<number>
}

/** How to start a scanner. */
export interface ScannerOptions {
  /** The service or the counting Worker. */
  readonly worker: Bundle
  readonly node: LoopbackNode
  readonly database: string
  /** The number of nodes that must agree. The loopback node is all of them, at different ports. */
  readonly quorum: 1 | 2
  /** Other Workers in the same workerd. */
  readonly others?: readonly { readonly name: string; readonly script: string }[]
  /** Whether it can be profiled. */
  readonly inspected?: boolean
}

/** Starts a scanner whose position is before the first block. */
export async function startScanner(options: ScannerOptions): Promise<Scanner> {
  const { worker, node, database, quorum, others = [], inspected = false } = options
  const workers = await startWorkers(
    [
      {
        name: 'scanner',
        script: worker.script,
        database: 'scanned',
        variables: serviceVariables(node.urls.slice(0, quorum)),
      },
      ...others.map((other) => ({ ...other, database: null })),
    ],
    { scanned: database },
    inspected,
  )
  let finalized = firstHeight - 1
  return {
    workers,
    async scan(blocks) {
      finalized += blocks
      await node.finalize(finalized)
      let ms = 0
      for (let ticks = 0; (await scannedTo(workers)) < finalized; ticks += 1) {
        if (ticks > blocks) throw new UserError(`the scan does not advance: ${workers.warnings.at(-1) ?? 'no warning'}`)
        const start = performance.now()
        await workers.tick('scanner')
        ms += performance.now() - start
      }
      return ms
    },
  }
}

/** The newest scanned height, or 0 before the first scan. `/health` would be up to a second old. */
async function scannedTo(workers: RunningWorkers): Promise<number> {
  return (await workers.number('scanner', 'SELECT height FROM scan')) ?? 0
}
