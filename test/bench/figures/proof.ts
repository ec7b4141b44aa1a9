import { minuteProofsMax, tickRequestsMax } from '../../../src/platform/limits.ts'
import { UserError } from '../../support/project.ts'
import { firstHeight } from '../block-templates.ts'
import { bundleService } from '../bundles.ts'
import { atLeast, atMost, type Figure, type Scale, singleFigure } from '../figure.ts'
import { type NodeCounts, startNode } from '../node-process.ts'
import { median } from '../rounds.ts'
import { startScanner } from '../scanner.ts'
import { dustTransfers, mixedDeposits, roundBlocks, type ScenarioOptions, stormDepositUid } from '../scenarios.ts'
import { seedWatched } from '../seeds.ts'

const watched = 100_000
/** Ticks after which a queue that is not decided is an error of the benchmark. */
const ticksMax = 10

/** What one tick proves from the queue with two nodes, what it costs, and whether one caller's queue delays another's. */
export async function measureProofs(scale: Scale): Promise<readonly Figure[]> {
  return [
    ...(await withQueue({ scenario: 'mixed', rounds: scale.rounds + 1 }, measureMixed)),
    ...(await withQueue({ scenario: 'storm', rounds: scale.rounds + 1 }, measureStorm)),
  ]
}

/** What a tick took. */
interface Tick extends NodeCounts {
  readonly ms: number
}

/** A service that scans a scenario, tick by tick. */
interface QueueUnderTest {
  /** One tick, with the blocks up to those of `round` final. */
  tick(round: number): Promise<Tick>
  deposits(): Promise<number>
  depositsOf(uid: number): Promise<number>
  /** Candidates that are not decided. */
  pending(): Promise<number>
}

async function withQueue(
  options: ScenarioOptions,
  measure: (queue: QueueUnderTest, rounds: number) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  const node = await startNode(options)
  const worker = await bundleService()
  const scanner = await startScanner({ worker, node, database: seedWatched(watched, true), quorum: 2 })
  const count = async (from: string) => (await scanner.workers.number('scanner', `SELECT count(*) FROM ${from}`)) ?? 0
  const queue: QueueUnderTest = {
    async tick(round) {
      await node.finalize(firstHeight + (round + 1) * roundBlocks)
      await node.takeCounts()
      const start = performance.now()
      await scanner.workers.tick('scanner')
      const ms = performance.now() - start
      return { ms, ...(await node.takeCounts()) }
    },
    deposits: () => count(`deposit WHERE outcome = 'credited'`),
    depositsOf: (uid) => count(`deposit WHERE outcome = 'credited' AND uid = ${uid}`),
    pending: () => count('pending'),
  }
  try {
    await scanner.scan(1) // not measured: the probes of the nodes and the token's decimals are needed only once
    return await measure(queue, options.rounds)
  } finally {
    node.stop()
    await scanner.workers.stop()
  }
}

async function measureMixed(queue: QueueUnderTest, rounds: number): Promise<readonly Figure[]> {
  const ticks: Tick[] = []
  const credited: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = await queue.deposits()
    const tick = await queue.tick(round)
    if (round > 0) ticks.push(tick)
    credited.push((await queue.deposits()) - before)
    await emptyQueue(queue, round)
  }
  const fewest = Math.min(...credited)
  const each = `${mixedDeposits} deposits in ${roundBlocks} blocks, TRX and USDT in turns`
  return [
    singleFigure('deposits proven and credited in one tick', fewest, 'deposits', each, atLeast(mixedDeposits, fewest)),
    ...tickFigures(`a tick that proves ${mixedDeposits} deposits`, ticks),
  ]
}

async function measureStorm(queue: QueueUnderTest, rounds: number): Promise<readonly Figure[]> {
  const ticks: Tick[] = []
  const waits: number[] = []
  const all: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const tick = await queue.tick(round)
    if (round > 0) ticks.push(tick)
    let wait = 1
    for (; (await queue.depositsOf(stormDepositUid(round))) === 0; wait += 1) {
      if (wait > ticksMax) throw new UserError('the deposit behind the dust is not credited')
      await queue.tick(round)
    }
    waits.push(wait)
    all.push(wait + (await emptyQueue(queue, round)))
  }
  const wait = Math.max(...waits)
  const dust = `${dustTransfers.toLocaleString('en')} TRC-10 transfers to one caller in ${roundBlocks} blocks`
  return [
    singleFigure(
      "ticks until another caller's USDT is credited, behind a dust storm",
      wait,
      'ticks',
      `${dust}, and in the last one a USDT deposit to another; all are decided after ${Math.max(...all)} ticks`,
      atMost(1, wait),
    ),
    ...tickFigures("the dust storm's tick", ticks),
  ]
}

/** Runs ticks until the queue is empty; returns how many. */
async function emptyQueue(queue: QueueUnderTest, round: number): Promise<number> {
  for (let ticks = 0; ticks <= ticksMax; ticks += 1) {
    if ((await queue.pending()) === 0) return ticks
    await queue.tick(round)
  }
  throw new UserError('the queue is not decided')
}

/** Requests and time of a tick. */
function tickFigures(of: string, ticks: readonly Tick[]): readonly Figure[] {
  const middle = (part: (tick: Tick) => number) => median(ticks.map(part))
  const requests = middle((tick) => tick.requests)
  const [receipts, api] = [middle((tick) => tick.receiptRequests), middle((tick) => tick.apiRequests)]
  const parts = `${requests - receipts - api} for blocks, ${receipts} for receipts, ${api} for bytes; two nodes`
  return [
    singleFigure(
      `node requests of ${of}`,
      requests,
      'requests',
      parts,
      atMost(tickRequestsMax + minuteProofsMax, requests),
    ),
    singleFigure(
      `time of ${of}`,
      middle(({ ms }) => ms),
      'ms',
      'with all requests to two nodes on the same machine',
    ),
  ]
}
