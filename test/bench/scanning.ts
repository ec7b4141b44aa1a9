import { bindingOf, listOfCells, uidIn } from './cells.ts'
import { getText } from './load.ts'
import { firstHeight, slotMs, usualTransactions } from './mainnet.ts'
import { type RunningWorkers, startWorkers } from './miniflare.ts'
import { type LoopbackNode, startNode } from './node-process.ts'
import { workerdProcesses } from './processes.ts'
import { seedAddresses } from './seeds.ts'
import { bearerOf, serviceVariables, unlimited } from './variables.ts'

/** A service in workerd with two nodes. It scans the blocks that the nodes make final. */
export interface Scanning {
  readonly workers: RunningWorkers
  readonly node: LoopbackNode
  /** The processes of workerd; none on another system than Linux. */
  readonly processes: readonly string[]
  /**
   * Makes further blocks final and waits until a scan has read them all; the last part of its tick
   * may still run.
   */
  scan(blocks: number): Promise<void>
  /**
   * Makes further blocks final and waits until the next regular tick has read them all: nobody
   * calls the service.
   */
  tick(blocks: number): Promise<void>
  /** The height up to which all cells of the service have scanned. */
  height(): number
  stop(): Promise<void>
}

/**
 * How to scan: `each` deposits in a block to `addresses` seeded addresses, and the limits of the
 * nodes (`limits`).
 */
export interface ScanningOptions {
  readonly script: string
  readonly each: number
  readonly addresses: number
  readonly transactions?: readonly number[]
  readonly limits?: object
  /** Seconds between ticks. */
  readonly every?: number
  /** The number of cells. Each has as many addresses as `addresses` says. */
  readonly cells?: number
  /**
   * The time of block `firstHeight`, in milliseconds since 1970. By default a month ago, so that a
   * run can make many blocks final at once.
   */
  readonly startMs?: number
  /** A seeded database that has the addresses; by default one that has nothing else. */
  readonly database?: string
  /** The R2 bucket of its binding `BUCKET`. */
  readonly bucket?: string
  /** Further variables. They replace the usual ones of the same names. */
  readonly variables?: Readonly<Record<string, unknown>>
}

const scanTimeoutMs = 60_000
/**
 * How often the service is asked to scan, in milliseconds. A request starts no scan if one is
 * running or has just ended, so it is repeated.
 */
const askEveryMs = 5_000
const lookEveryMs = 10

/** Starts the nodes and the service, and waits until the first block is scanned. */
export async function startScanning(options: ScanningOptions): Promise<Scanning> {
  const {
    script,
    each,
    addresses,
    transactions = [usualTransactions],
    limits = unlimited,
    every = 60,
    cells = 1,
    database = seedAddresses(addresses),
    startMs = Date.now() - (Date.now() % slotMs) - 30 * 86_400_000,
  } = options
  const deposits = each === 0 ? null : { from: firstHeight + 1, each, addresses: addresses * cells }
  const node = await startNode({ startMs, transactions, deposits })
  await node.finalize(firstHeight)
  const otherCells = Array.from({ length: cells - 1 }, (_, i) => i + 1)
  const variables = {
    ...serviceVariables(node.urls, limits),
    ...(cells === 1 ? {} : listOfCells(cells)),
    SCAN_EVERY_SECONDS: every,
    ...options.variables,
  }
  const bucket = options.bucket === undefined ? {} : { bucket: options.bucket }
  const nameOf = (cell: number) => (cell === 0 ? 'ledger' : `ledger-${cell + 1}`)
  const further = Object.fromEntries(otherCells.map((cell) => [bindingOf(cell), nameOf(cell)]))
  const others = new Set(workerdProcesses())
  const workers = await startWorkers(
    [{ name: 'service', script, database: 'ledger', further, variables, hasObjects: true, ...bucket }],
    {
      ledger: database,
      ...Object.fromEntries(otherCells.map((cell) => [nameOf(cell), seedAddresses(addresses, cell)])),
    },
  )
  const all = [0, ...otherCells]
  const headers = await Promise.all(all.map((cell) => bearerOf(uidIn(cell, 0))))
  const heightOf = (cell: number) => workers.look('service', 'SELECT height FROM scan', bindingOf(cell)) ?? 0
  const height = () => Math.min(...all.map(heightOf))
  let final = firstHeight
  /**
   * Waits until all blocks are scanned, by looking into the database files. Meanwhile the service
   * is asked to scan every `askEveryMs`, or never if `isAsked` is false.
   */
  const untilScanned = async (isAsked = true) => {
    const giveUpAt = Date.now() + scanTimeoutMs
    for (let askAt = 0; height() < final; ) {
      if (Date.now() > giveUpAt) throw new Error(`the scan is at ${height()} and not at ${final}`)
      if (isAsked && Date.now() >= askAt) {
        askAt = Date.now() + askEveryMs
        await Promise.all(headers.map((one) => getText(`${workers.url('service')}/tron/recharge`, one)))
      }
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    }
  }
  await workers.cron('service')
  await untilScanned()
  return {
    workers,
    node,
    processes: workerdProcesses().filter((pid) => !others.has(pid)),
    height,
    async scan(blocks) {
      final += blocks
      await node.finalize(final)
      await untilScanned()
    },
    async tick(blocks) {
      final += blocks
      await node.finalize(final)
      await untilScanned(false)
    },
    async stop() {
      node.stop()
      await workers.stop()
    },
  }
}
