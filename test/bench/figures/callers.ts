import { setTimeout as sleep } from 'node:timers/promises'
import { blockSeconds } from '../../../src/chain/block.ts'
import { routeProofsMax, routeRequestsMax } from '../../../src/platform/limits.ts'
import { UserError } from '../../support/project.ts'
import { firstHeight } from '../block-templates.ts'
import { bundleService } from '../bundles.ts'
import { atMost, type Figure, singleFigure } from '../figure.ts'
import { type NodeCounts, startNode } from '../node-process.ts'
import { startScanner } from '../scanner.ts'
import { buildScenario, firstUid, roundBlocks, type ScenarioOptions } from '../scenarios.ts'
import { seedWatched } from '../seeds.ts'
import { bearerOf } from '../variables.ts'

const watched = 100_000
const scenario: ScenarioOptions = { scenario: 'quiet', rounds: 3 }
const requestsMax = routeRequestsMax + routeProofsMax

/** Requests to nodes by what callers ask, with two nodes. They are the same in each run. */
export async function measureCallers(): Promise<readonly Figure[]> {
  const worker = await bundleService()
  const node = await startNode(scenario)
  const scanner = await startScanner({ worker, node, database: seedWatched(watched, true), quorum: 2 })
  const headers = await bearerOf(firstUid)
  /** What one call takes at the nodes. Its status must be `expected`. */
  const costOf = async (path: string, expected = 200) => {
    await node.takeCounts()
    const response = await fetch(scanner.workers.url('scanner') + path, { headers })
    const text = await response.text()
    if (response.status !== expected) throw new UserError(`${path} responded with ${response.status}: ${text}`)
    return await node.takeCounts()
  }
  /** A scan that is younger than a block is not repeated. */
  const awaitBlock = () => sleep(blockSeconds * 1000 + 500)
  const finalize = (blocks: number) => node.finalize(firstHeight + blocks)
  try {
    await scanner.scan(1 + roundBlocks) // not measured: the probes of the nodes are needed only once
    const balance = await costOf('/tron/balance')
    await finalize(roundBlocks + 1)
    await awaitBlock()
    const recharge = await costOf('/tron/recharge')
    const again = await costOf('/tron/recharge')
    await finalize(2 * roundBlocks)
    await awaitBlock()
    const afterMinute = await costOf('/tron/recharge')
    const [foreign = '', own = ''] = lastTransactions(3 * roundBlocks)
    await finalize(3 * roundBlocks)
    const aboutForeign = await costOf(`/tron/recharge?txid=${foreign}`, 422)
    const aboutOwn = await costOf(`/tron/recharge?txid=${own}`)
    const known = await costOf(`/tron/recharge?txid=${own}`)
    return [
      figure('/tron/balance', balance, 'up to 20 addresses; none within 3 s of the same question'),
      figure(
        '/tron/recharge, one new block',
        recharge,
        `${again.requests} within ${blockSeconds} s of the newest scan`,
      ),
      figure('/tron/recharge, 20 new blocks with a TRX deposit', afterMinute, 'with the proof'),
      figure('/tron/recharge?txid=, the transaction of a stranger', aboutForeign, 'a final one'),
      figure(
        '/tron/recharge?txid=, a TRX deposit that the scan has not reached',
        aboutOwn,
        `${known.requests} once it is credited`,
      ),
    ]
  } finally {
    node.stop()
    await scanner.workers.stop()
  }
}

/** The txids of the newest transactions of a block: those of the last block of a round are a stranger's and a deposit. */
function lastTransactions(blocks: number): readonly string[] {
  const block = buildScenario(scenario).at(firstHeight + blocks)
  return block?.transactions.slice(-2).map(({ txid }) => txid) ?? []
}

function figure(question: string, { requests, calls }: NodeCounts, note: string): Figure {
  const counts = `${calls} JSON-RPC calls; ${note}`
  return singleFigure(`node requests of ${question}`, requests, 'requests', counts, atMost(requestsMax, requests))
}
