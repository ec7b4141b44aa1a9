import { createSimulation, type Outcome } from './run.ts'
import {
  calmPayouts,
  calmRates,
  freeAllowance,
  nodeKinds,
  noHardships,
  noTroubles,
  type Overrides,
} from './scenario.ts'
import { startSigners } from './signers.ts'
import { pass, type SimulatedRun } from './simulated-run.ts'
import { createYearMeasures } from './year-measures.ts'
import { createYearOperator } from './year-operator.ts'
import { beginYear, createYearPlan } from './year-plan.ts'
import { checkStatements } from './year-statements.ts'
import { hasOpenWork, startTraffic, type YearRates } from './year-traffic.ts'

/** How long a year is, and how much happens on a day of it. */
export interface YearOptions {
  readonly days: number
  readonly rates: YearRates
  readonly eventsKeepDays: number
  /** Called after each day. */
  readonly progress?: (day: number) => void
}

/** What was measured, what was done, and how the run has ended. */
export interface YearReport
  extends Pick<ReturnType<typeof createYearMeasures>, 'stages' | 'alarms'>,
    ReturnType<ReturnType<typeof createYearMeasures>['ticks']> {
  readonly outcome: Outcome
  readonly acts: ReturnType<typeof createYearOperator>['acts']
  readonly done: ReturnType<typeof createYearPlan>['done']
}

const hourMs = 3_600_000
const dayHours = 24
const blockMs = 3_000
/**
 * The service works from this long before each full hour until this long after it, or longer while
 * something is under way, and sleeps between. So it works at each midnight.
 */
const [windowBeforeMs, windowAfterMs, extendedMs] = [30_000, 45_000, 480_000]
/**
 * Blocks come only while it works, and from so long before that the newest final block is new then.
 */
const blocksFirstMs = 24_000

/**
 * A thousandth of 1.5 million deposits a year, with payouts, posts and orders in proportion, as the
 * plan has them.
 */
export const yearRates: YearRates = { deposits: 4.1, posts: 3, payouts: 1.4, orders: 1, requests: 12 }

/** A seed without a lost database. */
const yearSeed = 1

/** Runs a year, and after it all phases and audits of a run. */
export async function runYear(options: YearOptions, trace?: (line: string) => void): Promise<YearReport> {
  let report: Omit<YearReport, 'outcome'> | null = null
  const instead = async (run: SimulatedRun) => {
    report = await live(run, options)
  }
  const outcome = await createSimulation({ hasSize: true })(yearSeed, { overrides, instead, trace })
  if (report === null) throw new Error('the year has not begun')
  return { ...(report as Omit<YearReport, 'outcome'>), outcome } // safe: `instead` has set it
}

async function live(run: SimulatedRun, { days, rates, eventsKeepDays, progress }: YearOptions) {
  const { env } = run
  const begin = env.scheduler.now()
  beginYear(run, eventsKeepDays)
  const measures = createYearMeasures(run, days)
  const [plan, operator] = [createYearPlan(run, days), createYearOperator(run)]
  const [traffic, blocks] = [startTraffic(run, rates), createBlocks(run)]
  const signers = createPause(run)
  if (env.payouts !== null) startSigners(run, env.payouts)
  const first = Math.ceil((begin + windowBeforeMs + blocksFirstMs) / hourMs)
  for (let hours = 0; hours < days * dayHours && env.violation === null; hours += 1) {
    const [at, day] = [(first + hours) * hourMs, Math.floor(hours / dayHours)]
    await sleepUntil(run, at - windowBeforeMs, blocks.begin)
    plan.act(at, day)
    operator.look(at, day)
    const isBusy = traffic.begin(at, hours)
    measures.beginWindow(day, !isBusy)
    signers.workIfNeeded()
    await pass(env, at + windowAfterMs - env.scheduler.now())
    while (env.violation === null && env.scheduler.now() < at + extendedMs && hasOpenWork(run)) {
      signers.workIfNeeded()
      await pass(env, 5_000)
    }
    signers.pause()
    blocks.end()
    measures.endWindow(day)
    if (isBusy) run.forgetNodes() // ends looks, for which somebody still waits
    if (hours % dayHours === dayHours - 1) progress?.(day + 1)
  }
  measures.end()
  await endYear(run, begin, blocks)
  const { stages, alarms, ticks } = measures
  return { stages, alarms, ...ticks(), acts: operator.acts, done: plan.done }
}

/** Lets the service sleep until a time; blocks begin a little before it. */
async function sleepUntil({ env }: SimulatedRun, until: number, beginBlocks: () => void): Promise<void> {
  env.sleepsUntil = until
  await pass(env, until - blocksFirstMs - env.scheduler.now())
  beginBlocks()
  await pass(env, until - env.scheduler.now())
}

/** Compares all statements, and lets the phases after the year decide every deposit. */
async function endYear(run: SimulatedRun, begin: number, blocks: ReturnType<typeof createBlocks>): Promise<void> {
  const { env } = run
  env.meter = (_, carryOut) => carryOut()
  env.sleepsUntil = 0
  env.retired = new Set()
  run.deploy()
  if (env.payouts !== null) env.payouts.isPaused = false
  blocks.begin()
  if (env.violation === null) await checkStatements(run, begin)
  blocks.end()
}

/** Signers work only in windows in which a payout needs them. */
function createPause({ env: { payouts }, stored }: SimulatedRun) {
  const isNeeded = () => stored.payouts().some(({ state }) => state === 'approved' || state === 'signed')
  const set = (isPaused: boolean) => {
    if (payouts !== null) payouts.isPaused = isPaused
  }
  set(true)
  return { workIfNeeded: () => set(!isNeeded()), pause: () => set(true) }
}

/** Makes blocks every three seconds from `begin` to `end`. */
function createBlocks({ env, nodes }: SimulatedRun) {
  let started = 0
  const next = (own: number) => {
    if (own !== started) return
    nodes.advance(env.produce())
    env.scheduler.after(blockMs, () => next(own))
  }
  return {
    begin() {
      started += 1
      next(started)
    },
    end() {
      started += 1
    },
  }
}

const { honest } = nodeKinds
/** Three nodes, everything that a deployment can have, and no fault that the plan does not name. */
const overrides: Overrides = {
  ...{ nodes: [honest, honest, honest], quorum: 2, allowance: freeAllowance, batchless: 0, keepers: 3 },
  ...{ scanEverySeconds: 20, finalityLag: 6, blocksBefore: 5, startAfter: null, crowd: 0, users: 100 },
  ...{ decimalsDiffer: false, hasUnreadable: false, reconciles: true, reviews: true, evicts: false },
  ...{ ending: 'none', storm: null, trial: null, neighbour: null, timed: false, lies: null, refusals: null },
  rates: { ...calmRates, operator: 0.01 }, // the operator restores, which explains some alarms
  troubles: { ...noTroubles, transfers: 3 },
  ...{ issuer: 0, sending: 0, orders: { asked: 0 }, further: calmPayouts, hardships: noHardships },
  archive: { trouble: 0, database: 0, kill: 0, rivals: 0, operator: 0, sealed: true },
  payouts: {
    ...{ asked: 0, signers: 1, blockMs, kill: 0, trouble: 0, failing: 0.02 },
    ...{ losesJournal: false, losesSetting: false },
  },
}
