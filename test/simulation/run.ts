import { openSqliteD1, type SqliteD1 } from '../support/sqlite-d1.ts'
import { createEnvironment, depositAddress, type Environment, startMs } from './environment.ts'
import { auditEvents } from './event-audit.ts'
import { deliverAll, endOutage, forkAndReturn, reconcileRepeatedly } from './final-phases.ts'
import { auditLedger } from './ledger-audit.ts'
import { drawLostDatabase } from './lost-database.ts'
import { createOperator } from './operator.ts'
import { expectedDeposits } from './oracle.ts'
import { settlePosts, startPost } from './posts.ts'
import { createRandom, type Random } from './random.ts'
import { recover, settle } from './recovery.ts'
import { createRequests } from './requests.ts'
import { drawScenario } from './scenario.ts'
import { createScheduler } from './scheduler.ts'
import { createRun, type SimulatedRun } from './simulated-run.ts'
import { weatherStorm } from './storm.ts'

/** The result of one run. */
export interface Outcome {
  readonly seed: number
  /** The first broken promise, or null. */
  readonly violation: string | null
  /** How often each fault and each kind of call occurred. */
  readonly counts: ReadonlyMap<string, number>
  /** Deposits of the final chain at the end. */
  readonly deposits: number
  /** Deposits that were stored before the recovery. */
  readonly early: number
}

/** Takes a line for each event of a run. */
export type Trace = (line: string) => void

/** The seeds of posts, endpoints, lost databases and further properties are far from those of runs. */
const postSeeds = 2 ** 40
const endpointSeeds = 2 ** 41
const lossSeeds = 2 ** 42
const furtherSeeds = 2 ** 43

/** Runs one seed after the other over one database, which is empty again after each. */
export function createSimulation(): (seed: number, trace?: Trace) => Promise<Outcome> {
  const store = openSqliteD1()
  return async (seed, trace) => {
    const random = createRandom(seed)
    const scenario = drawScenario(random, createRandom(seed + furtherSeeds))
    const lost = drawLostDatabase(createRandom(seed + lossSeeds), depositAddress)
    const env = createEnvironment(scenario, lost, random, createScheduler(startMs), trace ?? null)
    env.trace(() => `seed ${seed} ${JSON.stringify(scenario)} lost ${lost?.issued.length ?? 'nothing'}`)
    if (lost !== null) env.count(`lost database: first index ${lost.isSet ? 'set' : 'missing'}`)
    store.begin()
    try {
      const early = await live(env, store, createRandom(seed + postSeeds), createRandom(seed + endpointSeeds))
      return { seed, violation: env.violation, counts: env.counts, deposits: expectedDeposits(env).size, early }
    } finally {
      store.rollBack()
      await new Promise((resolve) => setImmediate(resolve)) // what else the process has to do
    }
  }
}

/** Runs all phases. Returns the number of deposits that were stored before the recovery. */
async function live(env: Environment, store: SqliteD1, backendRandom: Random, endpointRandom: Random): Promise<number> {
  const run = createRun(env, store, backendRandom, endpointRandom)
  await runFaultyPhase(run)
  const early = run.stored.countDeposits()
  const phases = env.scenario.storm === null ? [recover, settle] : [recover, weatherStorm, recover, settle]
  phases.push(settlePosts)
  if (env.scenario.reconciles) phases.push(reconcileRepeatedly)
  if (env.scenario.forks) phases.push(forkAndReturn)
  for (const phase of phases) if (env.violation === null) await phase(run)
  if (env.violation === null) await deliverAll(run)
  if (env.violation === null && env.scenario.storm?.keepsIsolates === true) await endOutage(run)
  const fault = env.violation === null ? (auditLedger(env, run.stored) ?? auditEvents(run.stored)) : null
  if (fault !== null) env.violate(fault)
  return early
}

const blockMs = 3_000

/** Blocks, ticks and requests until the scenario's last block. */
async function runFaultyPhase(run: SimulatedRun): Promise<void> {
  const { env, nodes, tick } = run
  const { random, scheduler, scenario } = env
  const requests = createRequests()
  const operator = createOperator(run)
  let blocks = 0
  const nextBlock = () => {
    nodes.advance(env.produce())
    blocks += 1
    if (blocks === env.lost?.setAfter) operator.setFirstIndex()
    for (let left = scenario.requestsPerBlock; left > 0; left -= 1) {
      if (random.chance(left)) scheduler.after(random.int(0, blockMs), () => requests.startAny(run))
    }
    if (random.chance(scenario.rates.operator)) scheduler.after(random.int(0, blockMs - 1), operator.act)
    if (run.backends.random.chance(0.5)) {
      scheduler.after(run.backends.random.int(0, blockMs), () => startPost(run))
    }
    scheduler.after(blockMs, () => (blocks < scenario.blocks ? nextBlock() : undefined))
  }
  const nextTick = () => {
    if (env.phase !== 'faults') return
    const copies = random.chance(0.15) ? 2 : 1 // the platform starts each tick at least once
    for (let i = 0; i < copies; i += 1) scheduler.after(i * random.int(0, 20_000), () => void tick())
    scheduler.after(scenario.tickEveryMs, nextTick)
  }
  scheduler.after(0, nextBlock)
  scheduler.after(random.int(0, scenario.tickEveryMs), nextTick)
  await scheduler.runUntil(() => env.violation !== null || blocks >= scenario.blocks)
  operator.end()
}
