import { statSync } from 'node:fs'
import { type Bundle, bundleWorker } from '../bundles.ts'
import { type Figure, type Scale, singleFigure } from '../figure.ts'
import { getText } from '../load.ts'
import { type LoopbackNode, startNode } from '../node-process.ts'
import { startScanner } from '../scanner.ts'
import { seedWatched } from '../seeds.ts'
import type { D1Counts } from '../workers/counting-database.ts'

const largest = 1_000_000
const sizes = [10, 1_000, largest] as const
const catchUpBlocks = 306
const paceBlocks = 20
/** HTTP requests per block in catch-up. */
const requestsMax = 0.2

/** What a number of blocks cost. */
interface Cost {
  readonly requests: number
  readonly receiptRequests: number
  readonly calls: number
  readonly bytes: number
  readonly statements: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Node requests and D1 statements per block, for different numbers of watched addresses. */
export async function measureCounts(scale: Scale): Promise<readonly Figure[]> {
  const worker = await bundleWorker('counting')
  const figures: Figure[] = []
  // All databases watch the first of these addresses, so one node has deposits for all of them.
  const node = await startNode({ watched: sizes[0], depositsFrom: Number.MAX_SAFE_INTEGER })
  for (const quorum of scale.work < 1 ? ([1] as const) : ([1, 2] as const)) {
    const catchUpCosts: Cost[] = []
    const paceCosts: Cost[] = []
    for (const watched of sizes) {
      const { catchUp, pace } = await scanWith(worker, node, watched, quorum)
      catchUpCosts.push(perBlock(catchUp, catchUpBlocks))
      paceCosts.push(perBlock(pace, paceBlocks))
    }
    figures.push(...toFigures(catchUpCosts, `in catch-up, quorum ${quorum}`, requestsMax))
    figures.push(...toFigures(paceCosts, `at the chain's pace, quorum ${quorum}`, null))
  }
  node.stop()
  const bytes = statSync(seedWatched(largest, true)).size / largest
  return [...figures, singleFigure('D1 bytes of an address', bytes, 'bytes', 'with its indexes')]
}

async function scanWith(
  worker: Bundle,
  node: LoopbackNode,
  watched: number,
  quorum: 1 | 2,
): Promise<{ readonly catchUp: Cost; readonly pace: Cost }> {
  const scanner = await startScanner({ worker, node, database: seedWatched(watched, true), quorum })
  const takeCost = async (): Promise<Cost> => {
    const nodeCounts = await node.takeCounts()
    const text = await getText(`${scanner.workers.url('scanner')}/counts/ticks`)
    const { statements, rowsRead, rowsWritten } = JSON.parse(text) as D1Counts // from the counting Worker
    return { ...nodeCounts, statements, rowsRead, rowsWritten }
  }
  try {
    await scanner.scan(paceBlocks) // not counted: the node's probe and the token's decimals are needed only once
    await takeCost()
    await scanner.scan(catchUpBlocks)
    const catchUp = await takeCost()
    await scanner.scan(paceBlocks)
    return { catchUp, pace: await takeCost() }
  } finally {
    await scanner.workers.stop()
  }
}

function perBlock(cost: Cost, blocks: number): Cost {
  return {
    requests: cost.requests / blocks,
    receiptRequests: cost.receiptRequests / blocks,
    calls: cost.calls / blocks,
    bytes: cost.bytes / blocks,
    statements: cost.statements / blocks,
    rowsRead: cost.rowsRead / blocks,
    rowsWritten: cost.rowsWritten / blocks,
  }
}

/** `costs` are in the order of `sizes`; the figure's value is that of the smallest size. */
function toFigures(costs: readonly Cost[], situation: string, requestLimit: number | null): readonly Figure[] {
  const [first] = costs
  if (first === undefined) return []
  const names = sizes.map((size) => size.toLocaleString('en')).join(', ')
  const figure = (what: string, unit: string, of: (cost: Cost) => number, target: Figure['target'], digits = 3) => {
    const all = costs.map((cost) => of(cost).toFixed(digits)).join(', ')
    return singleFigure(`${what} per block ${situation}`, of(first), unit, `${all} with ${names} addresses`, target)
  }
  const sameForAll = (of: (cost: Cost) => number, max: number | null): Figure['target'] => {
    const isSame = costs.every((one) => of(one) === of(first))
    if (max === null) return { text: 'same for all sizes', isReached: isSame }
    return { text: `≤ ${max}, same for all sizes`, isReached: isSame && of(first) <= max }
  }
  const requests = (cost: Cost) => cost.requests
  const statements = (cost: Cost) => cost.statements
  return [
    figure('node requests', 'requests', requests, sameForAll(requests, requestLimit)),
    figure('node requests for receipts', 'requests', (cost) => cost.receiptRequests, null),
    figure('JSON-RPC calls', 'calls', (cost) => cost.calls, null),
    figure('D1 statements', 'statements', statements, sameForAll(statements, null)),
    figure('D1 rows read', 'rows', (cost) => cost.rowsRead, null, 0),
    figure('D1 rows written', 'rows', (cost) => cost.rowsWritten, null),
    figure('kilobytes from nodes', 'kB', (cost) => cost.bytes / 1000, null, 0),
  ]
}
