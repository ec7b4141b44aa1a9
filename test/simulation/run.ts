import { openSqliteD1, type SqliteD1 } from '../support/sqlite-d1.ts'
import { auditArchive } from './archive-audit.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { correctAndReplace } from './correction.ts'
import { settleDecisions, startDecision } from './decisions.ts'
import { createEnvironment, depositAddress, type Environment, startMs } from './environment.ts'
import { auditEvents } from './event-audit.ts'
import {
  compareRepeatedly,
  creditInTime,
  deliverAll,
  endAlarms,
  endOutage,
  forgetDropped,
  forkAndReturn,
  replaceNodes,
  watchIssuers,
} from './final-phases.ts'
import { firstLacked } from './lacking.ts'
import { auditLedger } from './ledger-audit.ts'
import { drawLostDatabase } from './lost-database.ts'
import { createOperator, type Operator } from './operator.ts'
import { expectedDeposits } from './oracle.ts'
import { auditOrders } from './order-audit.ts'
import type { OrderWorld } from './order-world.ts'
import { settleOrders, startOrderCall } from './orders.ts'
import { settlePayouts } from './payout-audit.ts'
import { startPayoutCall } from './payout-calls.ts'
import { startFurther } from './payout-events.ts'
import type { PayoutWorld } from './payouts.ts'
import { settlePosts, startPost } from './posts.ts'
import { copyLater } from './put-back.ts'
import { createRandom } from './random.ts'
import { recover, settle } from './recovery.ts'
import { drawRefusals, unrenderedHeight } from './refusals.ts'
import { createRequests } from './requests.ts'
import { startRivals } from './rivals.ts'
import {
  drawArchive,
  drawAside,
  drawFurther,
  drawHardships,
  drawOrderScenario,
  drawPayoutScenario,
  drawScenario,
  drawTroubledScenario,
  type Overrides,
} from './scenario.ts'
import { createScheduler } from './scheduler.ts'
import { startSigners } from './signers.ts'
import { createRun, type SimulatedRun } from './simulated-run.ts'
import { createStored } from './stored.ts'
import { weatherStorm } from './storm.ts'
import { endureTrial } from './trial.ts'

export interface Outcome {
  readonly seed: number
  /** The first broken promise, or null. */
  readonly violation: string | null
  /** The newest block at the end. */
  readonly height: number
  /** How often each fault and each kind of call occurred. */
  readonly counts: ReadonlyMap<string, number>
  /** Deposits of the final chain at the end. */
  readonly deposits: number
  /** Deposits that were credited before the recovery. */
  readonly early: number
}

/**
 * How to run a seed. `trace` takes a line for each event. `until` is the block with which the run
 * ends at the latest.
 */
export interface RunOptions {
  readonly trace?: ((line: string) => void) | undefined
  readonly overrides?: Overrides
  readonly until?: number
  /** What happens in place of the faulty phase; all other phases follow. */
  readonly instead?: ((run: SimulatedRun) => Promise<void>) | undefined
  /** Does something beside the run; what it returns is called before the database is emptied. */
  readonly beside?: (env: Environment, store: SqliteD1) => () => Promise<void>
}

/** Given as the violation where a run ends at its block `until`. It is no broken promise. */
const lastBlock = 'the last block of the run'

/** The blocks of a run at which its database becomes full, and goes away. */
const fullAt = 12
const awayAt = 18

/**
 * Each stream of random numbers has a seed of its own: the seed of the run plus one of these, which
 * are far from the seeds of runs.
 */
const postSeeds = 2 ** 40
const endpointSeeds = 2 ** 41
const lossSeeds = 2 ** 42
const troubleSeeds = 2 ** 43
const asideSeeds = 2 ** 44
const payoutSeeds = 2 ** 45
const refusalSeeds = 2 ** 46
const furtherSeeds = 2 ** 47
const hardshipSeeds = 2 ** 48
const orderSeeds = 2 ** 49
const archiveSeeds = 2 ** 50
const copySeeds = 2 ** 51

/**
 * Runs one seed after the other over one database, which is empty again after each. With `hasSize`
 * the service learns how large it is.
 */
export function createSimulation({ hasSize = false } = {}): (seed: number, options?: RunOptions) => Promise<Outcome> {
  const store = openSqliteD1(undefined, { hasSize })
  const stores = { store, stored: createStored(store) }
  return async (seed, { trace, overrides, until, beside, instead } = {}) => {
    const random = createRandom(seed)
    const troubles = createRandom(seed + troubleSeeds)
    const [aside, payouts] = [createRandom(seed + asideSeeds), createRandom(seed + payoutSeeds)]
    const further = createRandom(seed + furtherSeeds)
    const hard = createRandom(seed + hardshipSeeds)
    const drawn = { ...drawScenario(random), ...drawTroubledScenario(troubles), ...drawAside(aside) }
    const { refusals = drawRefusals(createRandom(seed + refusalSeeds)) } = overrides ?? {}
    const later = { ...drawFurther(further), hardships: drawHardships(hard) }
    const base = refusals?.trial ?? drawn.trial
    const trial = base !== null && later.hardships.away > 0 ? ({ ...base, platform: 'away' } as const) : base
    const orders = createRandom(seed + orderSeeds)
    const archiving = createRandom(seed + archiveSeeds)
    const scenario = {
      ...drawn,
      ...drawArchive(archiving),
      ...drawPayoutScenario(payouts),
      ...drawOrderScenario(orders),
      ...later,
      trial,
      ...overrides,
      refusals,
    }
    const lost = drawLostDatabase(createRandom(seed + lossSeeds), depositAddress)
    const randoms = { random, troubles, aside, payouts, further, hard, orders, archiving }
    const env = createEnvironment(scenario, lost, randoms, createScheduler(startMs), trace ?? null)
    env.unrenderedAt = unrenderedHeight(env, env.chain.firstHeight)
    env.lackedFrom = firstLacked(env)
    env.trace(() => `seed ${seed} ${JSON.stringify(scenario)} lost ${lost?.issued.length ?? 'nothing'}`)
    if (lost !== null) env.count(`lost database: first index ${lost.isSet ? 'set' : 'missing'}`)
    store.begin()
    try {
      const run = createRun(env, stores, createRandom(seed + postSeeds), createRandom(seed + endpointSeeds))
      copyLater(run, createRandom(seed + copySeeds))
      const endBeside = beside?.(env, store)
      const early = await live(run, until, instead)
      await endBeside?.()
      const violation = env.violation === lastBlock ? null : env.violation
      const { height } = env.chain.tip()
      return { seed, violation, height, counts: env.counts, deposits: expectedDeposits(env).size, early }
    } finally {
      store.rollBack()
      await new Promise((resolve) => setImmediate(resolve)) // lets the process do other work
    }
  }
}

/** Runs all phases. Returns the number of deposits that were credited before the recovery. */
async function live(run: SimulatedRun, until: number | undefined, instead: RunOptions['instead']): Promise<number> {
  const { env } = run
  if (instead === undefined) await runFaultyPhase(run, until)
  else await runInstead(run, instead)
  const early = run.stored.countCredited()
  const phases = [recover]
  if (env.payouts !== null) phases.push(settlePayouts)
  if (env.scenario.storm !== null) phases.push(weatherStorm, recover)
  if (env.scenario.trial !== null) phases.push(endureTrial, recover)
  phases.push(settleOrders, settle, settleDecisions, settlePosts, creditInTime, endAlarms)
  if (env.scenario.reconciles) phases.push(compareRepeatedly)
  if (env.scenario.ending === 'fork') phases.push(forkAndReturn)
  if (env.scenario.storm?.keepsMemory === true) phases.push(endOutage)
  if (env.scenario.ending === 'correction') phases.push(correctAndReplace)
  phases.push(replaceNodes, deliverAll, forgetDropped, watchIssuers, auditArchive)
  for (const phase of phases) if (env.violation === null) await phase(run)
  const fault =
    env.violation === null
      ? (auditLedger(env, run.stored) ??
        auditEvents(run.stored) ??
        auditOrders(env, run.stored) ??
        run.stored.unsound() ??
        run.neighbour?.audit() ??
        null)
      : null
  if (fault !== null) env.violate(fault)
  return early
}

/**
 * Runs blocks, the cron and requests until the scenario's last block. Blocks and the cron then go
 * on.
 */
async function runFaultyPhase(run: SimulatedRun, until?: number): Promise<void> {
  const { env } = run
  const { scheduler, scenario } = env
  const operator = createOperator(run)
  startBlocks(run, operator, until)
  startMinutes(run)
  startRivals(run)
  if (env.payouts !== null) startPayouts(run, env.payouts)
  if (env.orders !== null) startOrders(run, env.orders)
  await scheduler.runUntil(() => env.violation !== null || env.phase !== 'faults' || isOver())
  operator.end()

  function isOver() {
    return (
      env.chain.tip().height - env.chain.firstHeight >= scenario.finalityLag + scenario.blocksBefore + scenario.blocks
    )
  }
}

/** Runs this without faults. The cron goes with it, and blocks begin after it. */
async function runInstead(run: SimulatedRun, instead: NonNullable<RunOptions['instead']>): Promise<void> {
  run.env.phase = 'recovery'
  startMinutes(run)
  await instead(run)
  startBlocks(run, createOperator(run))
}

/** Starts signers and backends, which `settlePayouts` ends. */
function startPayouts(run: SimulatedRun, world: PayoutWorld): void {
  const { env } = run
  const { scheduler, scenario } = env
  const { asked = 0, blockMs = 0, losesJournal = false } = scenario.payouts ?? {}
  env.blockMs = blockMs
  const signers = startSigners(run, world)
  startFurther(run, world)
  if (losesJournal) scheduler.after(world.random.int(10, scenario.blocks) * blockMs, signers.loseJournal)
  const next = () => {
    if (world.isCalm) return
    if (world.random.chance(env.phase === 'faults' ? asked : asked / 10)) startPayoutCall(run, world)
    scheduler.after(blockMs, next)
  }
  scheduler.after(blockMs, next)
}

/**
 * Starts the calls of backends about orders, and payments for them. They end with the faulty phase.
 */
function startOrders(run: SimulatedRun, world: OrderWorld): void {
  const { env } = run
  const next = () => {
    if (env.phase !== 'faults') return
    if (world.random.chance(env.scenario.orders?.asked ?? 0)) startOrderCall(run, world)
    env.scheduler.after(env.blockMs, next)
  }
  env.scheduler.after(env.blockMs, next)
}

function startBlocks(run: SimulatedRun, operator: Operator, until = Number.POSITIVE_INFINITY): void {
  const { env, nodes } = run
  const { random, scheduler, scenario } = env
  const requests = createRequests()
  let blocks = 0
  const next = () => {
    nodes.advance(env.produce())
    blocks += 1
    if (env.chain.tip().height > until) env.violate(lastBlock)
    if (blocks === env.lost?.setAfter) operator.setFirstIndex()
    if (env.phase === 'faults') actBetweenBlocks()
    scheduler.after(env.blockMs, next)
  }
  const actBetweenBlocks = () => {
    for (let left = scenario.requestsPerBlock; left > 0; left -= 1) {
      if (random.chance(left)) scheduler.after(random.int(0, env.blockMs), () => requests.startAny(run))
    }
    if (env.troubles.chance(scenario.troubles.hanging)) env.hangsNext = true
    if (blocks === fullAt && scenario.troubles.full > 0)
      env.fullUntil = scheduler.now() + scenario.troubles.full * 1_000
    if (blocks === awayAt) env.awayUntil = scheduler.now() + scenario.hardships.away * 1_000
    if (random.chance(scenario.rates.operator)) scheduler.after(random.int(0, env.blockMs - 1), operator.act)
    if (scenario.archive !== null && env.archiving.chance(scenario.archive.operator)) {
      scheduler.after(env.archiving.int(0, env.blockMs - 1), operator.act)
    }
    if (run.backends.random.chance(0.5)) {
      scheduler.after(run.backends.random.int(0, env.blockMs), () => startPost(run))
    }
    if (env.sent.size > 0 && env.aside.chance(0.4)) {
      const { to, txid } = env.aside.pick([...env.sent.values()].slice(-10))
      const uid = env.owners.get(to)
      if (uid !== undefined) void run.request('transaction', (client) => checkTransaction(client, uid, txid))
    }
    if (scenario.reviews && env.aside.chance(0.5)) {
      scheduler.after(env.aside.int(0, env.blockMs), () => startDecision(run))
    }
  }
  scheduler.after(0, next)
}

/** Starts the cron every minute; in the faulty phase sometimes not at all, or twice. */
function startMinutes({ env, cron }: SimulatedRun): void {
  const { random, scheduler } = env
  const next = () => {
    const copies =
      scheduler.now() < env.sleepsUntil ? 0 : env.phase !== 'faults' ? 1 : random.pick([0, 1, 1, 1, 1, 1, 2])
    for (let i = 0; i < copies; i += 1) scheduler.after(i * random.int(0, 20_000), () => void cron())
    scheduler.after(60_000, next)
  }
  scheduler.after(random.int(0, 20_000), next)
}
