import type { Address } from '../../src/worker/chain/address.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { readBalance } from './callers/balance.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { recharge } from './callers/recharge.ts'
import { beginNodeFault } from './nodes.ts'
import { requestRescan } from './operator.ts'
import type { Payment } from './payments.ts'
import { hasEnoughCorrectNodes } from './recovery.ts'
import { drawTxid, drawUid } from './requests.ts'
import type { Storm } from './scenario.ts'
import { pass, type SimulatedRun } from './simulated-run.ts'

const minutes = 5
/**
 * If a storm's `logs` (logs of a stranger's call) are more than this, every block has such a call,
 * otherwise about one block in ten.
 */
const alwaysFrom = 32

/**
 * A quorum of nodes answers, and strangers, callers and one node do what they can to stop the
 * service. Where the scenario is timed, blocks that were final two scan intervals and a longest
 * tick ago must be read. The longest tick is allowed, because a node that refuses slowly can use up
 * that time.
 */
export async function weatherStorm(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored, forgetNodes } = run
  const { storm } = env.scenario
  if (storm === null || env.shown.size === 0 || stored.scan() === undefined) return
  env.phase = 'storm'
  const victim = env.random.pick([...env.shown.values()])
  nodes.recover(storm.nodeFault === 'byzantine' && hasEnoughCorrectNodes(env.scenario) ? 'any' : null)
  for (const node of nodes.list) node.logsMax = storm.logsMax
  beginFaultOfOne(run, storm)
  if (!storm.keepsMemory) forgetNodes()
  startBlocks(run, storm, victim)
  const checkPosition = createPositionCheck(run)
  for (let second = 0; second < minutes * 60 && env.violation === null; second += 5) {
    if (second % 60 === 0) startQuestions(run, storm, victim)
    if (env.random.chance(0.02)) requestRescan(run)
    if (env.scenario.timed) checkPosition()
    await pass(env, 5_000)
  }
}

/**
 * Makes a check to be called every few seconds: blocks that were final two scan intervals and a
 * longest tick ago must be read. The check returns the height up to which blocks must be read; 0
 * until that time has passed since `excusedUntil`.
 */
export function createPositionCheck({ env, stored }: SimulatedRun): (excusedUntil?: number) => number {
  const lateMs = 2 * env.scenario.scanEverySeconds * 1_000 + tickMaxMs
  const finals: { readonly at: number; readonly height: number }[] = []
  return (excusedUntil = 0) => {
    const now = env.scheduler.now()
    finals.push({ at: now, height: env.finalized() })
    if (now < excusedUntil + lateMs) return 0
    const due = finals.findLast(({ at }) => at < now - lateMs)?.height ?? 0
    const position = stored.scan()?.height ?? 0
    if (position < due) env.violate(`the position is ${position}, and ${due} was final long ago`)
    return due
  }
}

/** The longest time that a tick may take. */
export const tickMaxMs = 35_000

/** Gives one node the fault of the storm if the other nodes are a quorum. */
function beginFaultOfOne({ env, nodes }: SimulatedRun, { nodeFault: kind }: Storm): void {
  if (kind === 'none' || kind === 'byzantine' || nodes.list.length <= env.scenario.quorum) return
  beginNodeFault(env, env.random.pick(nodes.list), kind)
}

/**
 * Queues strangers' transactions for the blocks of the storm. One block has all payments of dust;
 * some blocks have a call with `storm.logs` logs.
 */
function startBlocks({ env }: SimulatedRun, storm: Storm, victim: number): void {
  const { random, scheduler, shown } = env
  const own = [...shown].filter(([, uid]) => uid === victim).map(([address]) => address)
  const dustAt = random.int(1, 15)
  let blocks = 0
  const next = () => {
    if (env.phase !== 'storm') return
    blocks += 1
    for (let left = blocks === dustAt ? storm.dust : 0; left > 0; left -= 1) {
      env.queued.push(worthless({ kind: 'trc10', from: addressOf(3), to: random.pick(own), amount: 1n }))
    }
    if (storm.logs > 0 && random.chance(storm.logs > alwaysFrom ? 1 : 0.1)) {
      env.queued.push(worthless(loud(random.pick([addressOf(0xb0b), usdtAddress]), storm.logs)))
    }
    scheduler.after(env.blockMs, next)
  }
  next()
}

const worthless = (spec: TransactionSpec): Payment => ({ spec, transfers: [], changes: [] })

/**
 * A call with `count` empty logs of `contract`. If a block has too many logs, a node refuses to
 * send them, so the service must read receipts.
 */
function loud(contract: Address, count: number): TransactionSpec {
  const logs = Array.from({ length: count }, () => ({ contract, topics: [], data: '0x' }))
  return { kind: 'call', contract, from: addressOf(3), logs }
}

/**
 * Starts `questions` requests of one caller within the next minute, spread or all at once. The
 * service may refuse them as too many.
 */
function startQuestions(run: SimulatedRun, { questions }: Storm, uid: ReturnType<typeof drawUid>): void {
  const { env, request } = run
  const { random, scheduler } = env
  const at = random.chance(0.5) ? null : random.int(0, 50_000)
  for (let left = questions; left > 0; left -= 1) {
    scheduler.after(at ?? random.int(0, 59_999), () => {
      const txid = drawTxid(env, drawUid(env))
      const kind = random.int(1, 5)
      if (kind === 1) void request('balance', (client) => readBalance(client, uid))
      else if (kind === 2) void request('recharge', (client) => recharge(client, uid))
      else void request('transaction', (client) => checkTransaction(client, uid, txid))
    })
  }
}
