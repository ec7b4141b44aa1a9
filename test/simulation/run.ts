import type { DatabaseSync } from 'node:sqlite'
import type { Txid } from '../../src/chain/block.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import { headSpreadMax } from '../../src/tron/limits.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'
import { type Callers, createCallers } from './callers.ts'
import { carryTo, isOrdered } from './database.ts'
import { clocksApartMs, createInvocation } from './invocation.ts'
import { connectTo } from './network.ts'
import { createNodes, type Nodes } from './nodes.ts'
import { allDue, audit, readStored } from './oracle.ts'
import { createRandom } from './random.ts'
import { drawScenario } from './scenario.ts'
import { createScheduler } from './scheduler.ts'
import { createIsolate, createService, type Defect, type Service } from './service.ts'
import { createWatch } from './watch.ts'
import { createWorld, startMs, type World } from './world.ts'

/** How a run ended. */
export interface Outcome {
  readonly seed: number
  /** The first promise that was broken, or null. */
  readonly broken: string | null
  /** How often each fault, lie and kind of call came. */
  readonly counts: ReadonlyMap<string, number>
  /** Deposits that were due in the end. */
  readonly deposits: number
  /** Of these, how many were stored before everything was well again. */
  readonly early: number
}

/** What may be changed about a run. */
export interface RunOptions {
  readonly defect?: Defect
  /** Takes a line for each thing that happens. */
  readonly write?: (line: string) => void
}

/** Runs seeds one after the other over one database, which is clean again after each. */
export function createSimulation(): (seed: number, options?: RunOptions) => Promise<Outcome> {
  const store = openSqliteD1()
  return async (seed, { defect = {}, write } = {}) => {
    const random = createRandom(seed)
    const scenario = drawScenario(random)
    const world = createWorld(scenario, random, createScheduler(startMs), write ?? null)
    world.trace(() => `seed ${seed} ${JSON.stringify(scenario)}`)
    store.begin()
    try {
      const early = await live(world, store, defect)
      return { seed, broken: world.broken, counts: world.counts, deposits: allDue(world).size, early }
    } finally {
      store.undo()
      await new Promise((resolve) => setImmediate(resolve)) // whatever else the process has to do
    }
  }
}

const blockMs = 3_000
const minuteMs = 60_000
/** After this long no isolate keeps away from a node any more: more than `banMs`. */
const longestBanMs = 4_000_000

/** One run's moving parts. */
interface Stage {
  readonly world: World
  readonly nodes: Nodes
  readonly sqlite: DatabaseSync
  readonly callers: Callers
  /** Starts an invocation; the promise resolves at its end, and never where it is killed. */
  invoke(kind: string, act: (service: Service) => Promise<void>): Promise<void>
}

/** Lives through all of it; returns how many deposits were stored before the healing. */
async function live(world: World, store: ReturnType<typeof openSqliteD1>, defect: Defect): Promise<number> {
  const { random, scheduler, scenario } = world
  const { sqlite } = store
  const nodes = createNodes(world)
  const watch = createWatch(world, sqlite)
  const callers = createCallers(world, sqlite)
  const newIsolate = () => createIsolate(random.int(-clocksApartMs / 2, clocksApartMs / 2))
  const isolates = [newIsolate(), newIsolate()]
  let started = 0
  let underWay = 0
  const invoke: Stage['invoke'] = async (kind, act) => {
    started += 1
    world.count(`call: ${kind}`)
    if (underWay > 0) world.count('invocations at once')
    if (random.chance(0.02)) isolates[random.int(0, 1)] = newIsolate()
    const isolate = random.pick(isolates)
    const invocation = createInvocation(world, `${kind}-${started}`, isolate.skewMs)
    const db = store.connect(carryTo(world, invocation, () => watch(invocation.name)))
    const fetch = connectTo(world, nodes, invocation)
    const service = createService({
      world,
      invocation,
      nodes: nodes.list,
      db,
      isolate,
      fetch,
      defect,
    })
    underWay += 1
    try {
      await act(service)
    } catch (cause) {
      if (!isOrdered(cause))
        world.breach(`${invocation.name} threw ${cause instanceof Error ? cause.stack : 'something'}`)
    }
    underWay -= 1
  }
  const stage: Stage = { world, nodes, sqlite, callers, invoke }

  let blocks = 0
  const nextBlock = () => {
    nodes.live(world.produce())
    blocks += 1
    for (let left = scenario.requestsPerBlock; left > 0; left -= 1) {
      if (random.chance(left)) scheduler.after(random.int(0, blockMs), () => callSomething(stage))
    }
    scheduler.after(blockMs, () => (blocks < scenario.blocks ? nextBlock() : undefined))
  }
  const nextTick = () => {
    if (world.healed) return
    const copies = random.chance(0.15) ? 2 : 1 // cron promises "at least once"
    for (let i = 0; i < copies; i += 1) {
      scheduler.after(i * random.int(0, 20_000), () => void invoke('tick', (service) => service.tick()))
    }
    scheduler.after(scenario.tickEveryMs, nextTick)
  }
  scheduler.after(0, nextBlock)
  scheduler.after(random.int(0, scenario.tickEveryMs), nextTick)
  await scheduler.runUntil(() => world.broken !== null || blocks >= scenario.blocks)
  const early = readStored(sqlite).size
  if (world.broken === null) await heal(stage)
  if (world.broken === null) await settle(stage)
  return early
}

/** One or several requests of callers. */
function callSomething({ world, callers, invoke }: Stage): void {
  const { random } = world
  const uid = drawUid(world)
  const what = random.int(1, 10)
  if (what <= 3) {
    const fresh = random.chance(0.3)
    const copies = random.chance(0.1) ? 3 : 1
    for (let i = 0; i < copies; i += 1) void invoke('generate', (service) => callers.generate(service, uid, fresh))
  } else if (what <= 6) {
    void invoke('recharge', (service) => callers.recharge(service, uid))
  } else if (what === 7) {
    for (let i = 0; i < random.int(3, 6); i += 1) {
      const other = drawUid(world)
      void invoke('recharge', (service) => callers.recharge(service, other))
    }
  } else {
    const txid = drawTxid(world, uid)
    void invoke('question', (service) => callers.question(service, uid, txid))
  }
}

const drawUid = ({ random, scenario }: World) => random.int(1, scenario.users) as Uid // small and positive

/** A transaction to ask about: mostly one that pays the caller. */
function drawTxid({ random, facts, owners, chain }: World, uid: Uid): Txid {
  const own = [...facts.values()].filter((fact) => owners.get(fact.to) === uid)
  if (own.length > 0 && random.chance(0.6)) return random.pick(own).txid
  const block = chain.at(chain.tip().height - random.int(0, 30))
  const transactions = block?.transactions ?? []
  if (transactions.length > 0 && random.chance(0.9)) return random.pick(transactions).txid
  return random
    .int(0, 2 ** 31)
    .toString(16)
    .padStart(64, '0') as Txid // 64 hex digits
}

/** Everything is well again: ticks until the scan is caught up and nothing is pending. */
async function heal(stage: Stage): Promise<void> {
  const { world, nodes, sqlite, invoke } = stage
  const { scheduler, scenario } = world
  world.trace(() => 'HEALED')
  world.healed = true
  // As many truthful nodes as the quorum asks for are enough, one of them with an API: liars may go on.
  const truthful = scenario.nodes.filter(({ liar }) => !liar)
  const isEnough = truthful.length >= scenario.quorum && truthful.some(({ hasApi }) => hasApi)
  const liarsGoOn = isEnough && world.random.chance(0.5)
  nodes.heal(!liarsGoOn)
  // A liar with an old head can hold the scan back, but no further than the pool lets heads be apart.
  const more = scenario.finalityLag + (liarsGoOn ? headSpreadMax : 0)
  for (let i = 0; i <= more; i += 1) world.produce()
  const waiting = scenario.decimalsDiffer ? 3 : 0 // what is configured wrongly waits for the operator
  const selectState = sqlite.prepare(
    'SELECT height, (SELECT count(*) FROM pending WHERE cuy <> ?) AS pending FROM scan',
  )
  for (let round = 1; round <= 60; round += 1) {
    world.produce() // the chain goes on: a head that a liar holds back stands out more and more
    await pass(world, round === 10 ? longestBanMs : minuteMs)
    await finish(
      world,
      scheduler,
      invoke('tick', (service) => service.tick()),
    )
    if (world.broken !== null) return
    const state = selectState.get(waiting)
    if (state?.height === world.finalized() && state.pending === 0) return
  }
  world.breach(
    `not caught up after healing: ${JSON.stringify(selectState.get(waiting))}, final is ${world.finalized()}`,
  )
}

/** What was promised is there; what callers ask about is there then too; and the ledger equals the chain. */
async function settle(stage: Stage): Promise<void> {
  const { world, nodes, sqlite, callers, invoke } = stage
  const { random, scheduler } = world
  nodes.heal(true)
  await pass(world, longestBanMs)
  world.calm = true
  const stored = readStored(sqlite)
  const dues = [...allDue(world)]
  for (const [key, { fact, due }] of dues) {
    if (stored.has(key)) continue
    if (fact.promised) return world.breach(`${key} of ${due.uid} was never credited`)
    await finish(
      world,
      scheduler,
      invoke('question', (service) => callers.question(service, due.uid, fact.txid)),
    )
  }
  for (let i = 0; i < 4; i += 1) {
    // Deposits, their owners and others, and transactions that are worth nothing to anybody.
    const transactions = world.chain.at(world.finalized() - random.int(0, 30))?.transactions ?? []
    const pool = [...dues.map(([, { fact }]) => fact.txid), ...transactions.map(({ txid }) => txid)]
    if (pool.length === 0) break
    const txid = random.pick(pool)
    const owner = dues.find(([, { fact }]) => fact.txid === txid)?.[1].due.uid
    const uid = owner !== undefined && random.chance(0.6) ? owner : drawUid(world)
    await finish(
      world,
      scheduler,
      invoke('question', (service) => callers.question(service, uid, txid)),
    )
  }
  const uid = drawUid(world)
  await finish(
    world,
    scheduler,
    invoke('recharge', (service) => callers.recharge(service, uid)),
  )
  const wrong = audit(world, sqlite)
  if (wrong !== null) world.breach(wrong)
}

async function pass({ scheduler }: World, ms: number): Promise<void> {
  const until = scheduler.now() + ms
  scheduler.after(ms, () => undefined)
  await scheduler.runUntil(() => scheduler.now() >= until)
}

async function finish(world: World, scheduler: World['scheduler'], ending: Promise<void>): Promise<void> {
  let isOver = false
  void ending.then(() => {
    isOver = true
  })
  await scheduler.runUntil(() => isOver || world.broken !== null)
}
