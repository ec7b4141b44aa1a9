import type { Address } from '../../src/chain/address.ts'
import { headSpreadMax } from '../../src/tron/limits.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { readBalance } from './callers/balance.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { beginNodeFault } from './node-changes.ts'
import { requestRescan } from './operator.ts'
import { expectedDeposit } from './oracle.ts'
import type { Payment } from './payments.ts'
import { hasEnoughCorrectNodes } from './recovery.ts'
import { drawTxid, drawUid } from './requests.ts'
import type { Storm } from './scenario.ts'
import { pass, type SimulatedRun } from './simulated-run.ts'

const tickMs = 60_000
const blockMs = 3_000
const ticks = 5
/** With more logs than this, every block of the storm has too many. */
const alwaysFrom = 32
/** With more blocks than this that have too many logs, two ticks may have too few requests to catch up. */
const fullBlocksMax = 3

/**
 * A quorum of nodes answers, and strangers, callers and one node do what they can. The position must not stop for more
 * than a tick, and no caller's deposit may wait for what others have in the queue. What was final a tick ago is read, but where
 * many blocks are too full, or isolates go on with the limits that they learned of nodes: there it is enough that it moves.
 */
export async function weatherStorm(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, tick, deploy } = run
  const { storm } = env.scenario
  if (storm === null || env.shown.size === 0 || stored.scan() === undefined) return
  env.phase = 'storm'
  const victim = env.random.pick([...env.shown.values()])
  nodes.recover(storm.nodeFault === 'byzantine' && hasEnoughCorrectNodes(env.scenario) ? 'any' : null)
  for (const node of nodes.list) {
    node.quota = storm.quota
    node.scripted.logsMax = storm.logsMax
  }
  beginFaultOfOne(run, storm)
  if (!storm.keepsIsolates) deploy() // nodes that were avoided are asked again
  const fullBlocks = startBlocks(run, storm, victim)
  const begin = stored.scan()?.height ?? 0
  const seen: Seen[] = []
  for (let number = 0; number < ticks && env.violation === null; number += 1) {
    startQuestions(run, storm, victim)
    if (env.random.chance(0.3)) requestRescan(run)
    const finalized = env.finalized()
    void tick()
    await pass(env, tickMs)
    const position = stored.scan()?.height ?? 0
    const before = seen.at(-1)
    seen.push({ position, finalized, gaps: env.openGaps })
    if (before === undefined) continue
    const earlier = seen.at(-3)?.position ?? begin
    const full = fullBlocks.filter((height) => height > earlier && height <= before.finalized).length
    const mayFallBehind = storm.keepsIsolates || full > fullBlocksMax
    if (position < before.finalized - headSpreadMax && !(mayFallBehind && position > earlier)) {
      env.violate(`the position is ${position}, and ${before.finalized} was final more than a tick before`)
    }
    checkCredited(run, begin, before, victim)
  }
}

/** What a tick found and left. */
interface Seen {
  /** The finalized height at its start. */
  readonly finalized: number
  /** The position at its end. */
  readonly position: number
  /** The blocks that were put aside at its end. */
  readonly gaps: ReadonlySet<number>
}

/** Gives one node the fault of the storm where the others are enough without it. */
function beginFaultOfOne({ env, nodes }: SimulatedRun, { nodeFault: kind }: Storm): void {
  if (kind === 'none' || kind === 'byzantine') return
  const { quorum } = env.scenario
  const others = (number: number) => nodes.list.filter((node) => node.number !== number)
  const spare = nodes.list.filter(({ number }) => {
    return others(number).length >= quorum && others(number).some(({ api }) => api !== null)
  })
  if (spare.length > 0) beginNodeFault(env, env.random.pick(spare), kind)
}

/** Makes blocks until the end of the storm. One has all of the dust, and some, whose heights it returns, too many logs. */
function startBlocks({ env }: SimulatedRun, storm: Storm, victim: number): readonly number[] {
  const { random, scheduler, shown } = env
  const own = [...shown].filter(([, uid]) => uid === victim).map(([address]) => address)
  const dustAt = random.int(1, 15)
  const fullBlocks: number[] = []
  let blocks = 0
  const next = () => {
    if (env.phase !== 'storm') return
    blocks += 1
    const further: Payment[] = []
    const isDusty = blocks === dustAt && own.length > 0
    for (let left = isDusty ? storm.dust : 0; left > 0; left -= 1) {
      further.push(worthless({ kind: 'trc10', from: addressOf(3), to: random.pick(own), amount: 1n }))
    }
    if (storm.logs > 0 && random.chance(storm.logs > alwaysFrom ? 1 : 0.1)) {
      further.push(worthless(loud(random.pick([addressOf(0xb0b), usdtAddress]), storm.logs)))
      fullBlocks.push(env.chain.tip().height + 1)
    }
    env.produce(further)
    scheduler.after(blockMs, next)
  }
  next()
  return fullBlocks
}

const worthless = (spec: TransactionSpec): Payment => ({ spec, transfers: [], changes: [] })

/** A call with many empty logs, of which those of a token hide its transfers. */
function loud(contract: Address, count: number): TransactionSpec {
  const logs = Array.from({ length: count }, () => ({ contract, topics: [], data: '0x' }))
  return { kind: 'call', contract, from: addressOf(3), logs }
}

/** Starts the questions of one caller within the next minute. The service may refuse them. */
function startQuestions(run: SimulatedRun, { questions }: Storm, uid: ReturnType<typeof drawUid>): void {
  const { env, request } = run
  for (let left = questions; left > 0; left -= 1) {
    env.scheduler.after(env.random.int(0, tickMs - 1), () => {
      const txid = drawTxid(env, drawUid(env))
      if (env.random.chance(0.2)) void request('balance', (client) => readBalance(client, uid))
      else void request('transaction', (client) => checkTransaction(client, uid, txid))
    })
  }
}

/** What was read by the end of a tick, the next one must have stored, whoever else has something in the queue. */
function checkCredited({ env, stored }: SimulatedRun, above: number, read: Seen, victim: number): void {
  for (const transfer of env.transfers.values()) {
    const { height, promised, txid, position } = transfer
    if (!promised || height <= above || height > read.position || read.gaps.has(height)) continue
    const expected = expectedDeposit(env, transfer)
    if (expected === null || expected.uid === victim || stored.outcomeOf(txid, position) !== undefined) continue
    env.violate(`${txid}:${position} of ${expected.uid} was passed more than a tick ago and waits`)
  }
}
