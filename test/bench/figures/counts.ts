import { statSync } from 'node:fs'
import { type Bundle, bundleWorker } from '../bundles.ts'
import { type Figure, type Scale, stated } from '../figure.ts'
import { getText } from '../load.ts'
import { type LoopbackNode, startNode } from '../node-process.ts'
import { startScanner } from '../scanning.ts'
import { seedWatched } from '../seeds.ts'
import type { D1Counts } from '../workers/counting-database.ts'

const largest = 1_000_000
const sizes = [10, 1_000, largest] as const
const catchUpBlocks = 306
const paceBlocks = 20
/** HTTP requests per block in catch-up. */
const requestsMax = 0.2

/** What one stretch of blocks cost. */
interface Cost {
  readonly requests: number
  readonly proofs: number
  readonly calls: number
  readonly bytes: number
  readonly statements: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Node requests and D1 statements per block, whatever is watched. */
export async function measureCounts(scale: Scale): Promise<readonly Figure[]> {
  const worker = await bundleWorker('counting')
  const figures: Figure[] = []
  // All databases watch the first of these addresses, so one node pays them all.
  const node = await startNode({ watched: sizes[0], fullFrom: Number.MAX_SAFE_INTEGER })
  for (const quorum of scale.work < 1 ? ([1] as const) : ([1, 2] as const)) {
    const catchUp: Cost[] = []
    const pace: Cost[] = []
    for (const watched of sizes) {
      const [one, other] = await scanWith(worker, node, watched, quorum)
      catchUp.push(perBlock(one, catchUpBlocks))
      pace.push(perBlock(other, paceBlocks))
    }
    figures.push(...write(catchUp, `in catch-up, quorum ${quorum}`, requestsMax))
    figures.push(...write(pace, `at the chain's pace, quorum ${quorum}`, null))
  }
  node.stop()
  const bytes = statSync(seedWatched(largest, true)).size / largest
  return [...figures, stated('D1 bytes of an address', bytes, 'bytes', 'with its indexes')]
}

async function scanWith(worker: Bundle, node: LoopbackNode, watched: number, quorum: 1 | 2): Promise<[Cost, Cost]> {
  const scanner = await startScanner({ worker, node, database: seedWatched(watched, true), quorum })
  const take = async (): Promise<Cost> => {
    const nodeCounts = await node.take()
    const text = await getText(`${scanner.platform.url('scanner')}/counts/ticks`)
    const { statements, rowsRead, rowsWritten } = JSON.parse(text) as D1Counts // the counting Worker's own words
    return { ...nodeCounts, statements, rowsRead, rowsWritten }
  }
  try {
    await scanner.scan(paceBlocks) // what is asked once: the node's fitness, the token's decimals
    await take()
    await scanner.scan(catchUpBlocks)
    const catchUp = await take()
    await scanner.scan(paceBlocks)
    return [catchUp, await take()]
  } finally {
    await scanner.platform.stop()
  }
}

function perBlock(cost: Cost, blocks: number): Cost {
  return {
    requests: cost.requests / blocks,
    proofs: cost.proofs / blocks,
    calls: cost.calls / blocks,
    bytes: cost.bytes / blocks,
    statements: cost.statements / blocks,
    rowsRead: cost.rowsRead / blocks,
    rowsWritten: cost.rowsWritten / blocks,
  }
}

function write(costs: readonly Cost[], where: string, limit: number | null): readonly Figure[] {
  const [first] = costs
  if (first === undefined) return []
  const names = sizes.map((size) => size.toLocaleString('en')).join(', ')
  const row = (what: string, unit: string, of: (cost: Cost) => number, reach: Figure['reach'], digits = 3) => {
    const all = costs.map((cost) => of(cost).toFixed(digits)).join(', ')
    return stated(`${what} per block ${where}`, of(first), unit, `${all} at ${names} addresses`, reach)
  }
  const equal = (of: (cost: Cost) => number, max: number | null): Figure['reach'] => {
    const isSame = costs.every((one) => of(one) === of(first))
    if (max === null) return { what: 'the same', isReached: isSame }
    return { what: `≤ ${max}, the same`, isReached: isSame && of(first) <= max }
  }
  const requests = (cost: Cost) => cost.requests
  const statements = (cost: Cost) => cost.statements
  return [
    row('node requests', 'requests', requests, equal(requests, limit)),
    row('of these, to prove deposits,', 'requests', (cost) => cost.proofs, null),
    row('JSON-RPC calls', 'calls', (cost) => cost.calls, null),
    row('D1 statements', 'statements', statements, equal(statements, null)),
    row('D1 rows read', 'rows', (cost) => cost.rowsRead, null, 0),
    row('D1 rows written', 'rows', (cost) => cost.rowsWritten, null),
    row('bytes from nodes', 'kB', (cost) => cost.bytes / 1000, null, 0),
  ]
}
