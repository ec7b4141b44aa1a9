import { usdtAddress } from '../support/transaction-spec.ts'
import { actOf, drawSending } from './aside-payments.ts'
import type { Deployed } from './deployed.ts'
import { untroubled } from './node-troubles.ts'
import { beginTrouble, type SimulatedNode } from './nodes.ts'
import { makeCopy, removeCopy, restore } from './operator.ts'
import { payCurrency } from './payments.ts'
import { fineCuy } from './scenario.ts'
import type { SimulatedRun } from './simulated-run.ts'

/** Something that was done on a day, from 0. */
export interface YearAct {
  readonly day: number
  readonly what: string
}

/**
 * Something that happens once: after a part of the year and `later` days, at an hour of the day
 * (UTC).
 */
interface Planned {
  readonly part: number
  readonly later?: number
  readonly hour: number
  readonly what: string
  readonly work: () => void
}

const hourMs = 3_600_000

/** What happens in a year beside the traffic, and without an alarm. */
export function createYearPlan(run: SimulatedRun, days: number) {
  const planned = [keyPlan, nodePlan, databasePlan, currencyPlan, endpointPlan, issuerPlan].flatMap((plan) => plan(run))
  const done: YearAct[] = []
  return {
    /** What was done so far. */
    done,
    /** Does what is due in the window around an hour. */
    act(hour: number, day: number): void {
      const hourOfDay = new Date(hour).getUTCHours()
      const isDue = ({ part, later = 0, hour: own }: Planned) =>
        own === hourOfDay && Math.floor(days * part) + later === day
      for (const { what, work } of planned.filter(isDue)) {
        run.env.trace(() => `PLAN ${what}`)
        done.push({ day, what })
        work()
      }
      if (hourOfDay !== 0 || !isLeap(hour, day, days)) return
      done.push({ day, what: 'a leap second: the last second of the day comes twice' })
      leap(run)
    },
  }
}

/** Deploys another configuration. */
export function configure({ env, deploy }: SimulatedRun, changes: Partial<Deployed>): void {
  Object.assign(env.deployed, changes)
  deploy()
}

/** Names a node by another URL, which contains its key. Nothing is deployed yet. */
export function moveNode({ env }: SimulatedRun, node: SimulatedNode, host: string, key: string): void {
  const url = `https://${host}/${key}`
  Object.assign(node, { rpc: `${url}/jsonrpc`, api: url })
  env.deployed.nodeKeys = new Map([...env.deployed.nodeKeys, [node.number, key]])
}

/** The configuration with which a year begins. */
export function beginYear(run: SimulatedRun, eventsKeepDays: number): void {
  const { env, nodes } = run
  for (const node of nodes.list) moveNode(run, node, `node-${node.number}.test`, `first-key-${node.number}`)
  configure(run, { without: new Set([fineCuy]), eventsKeepDays })
  for (const kind of ['endpoint-failing', 'events-expiring', 'event-set-aside', 'nodes-disagree'] as const) {
    env.expected.add(kind)
  }
}

function keyPlan(run: SimulatedRun): readonly Planned[] {
  const { env, nodes, stored, deploy } = run
  const rotate = (part: number, name: 'callerSecrets' | 'backendSecrets' | 'hookSecrets', next: string): Planned[] => [
    {
      ...{ part, hour: 10, what: `${name}: another one beside the present one` },
      work: () => configure(run, { [name]: [next, ...env.deployed[name]].slice(0, 2) }),
    },
    {
      ...{ part, later: 1, hour: 12, what: `${name}: the previous one removed` },
      work: () => configure(run, { [name]: [next] }),
    },
  ]
  return [
    ...rotate(0.08, 'callerSecrets', 'the second secret of callers, of 32 bytes or more'),
    ...rotate(0.12, 'backendSecrets', 'the second secret of backends, of 32 bytes or more'),
    ...rotate(0.16, 'hookSecrets', `whsec_${btoa('the second secret of the endpoints')}`),
    {
      ...{ part: 0.2, hour: 10, what: 'SEAL_KEY: another one' },
      work() {
        env.formerVerifiers.push(stored.verifier() ?? '')
        configure(run, { sealKey: secondSealKey })
      },
    },
    {
      ...{ part: 0.24, hour: 10, what: 'the keys of all nodes' },
      work() {
        for (const node of nodes.list) moveNode(run, node, `node-${node.number}.test`, `second-key-${node.number}`)
        deploy()
      },
    },
  ]
}

/** Another Ed25519 key for tests only. */
const secondSealKey = 'MC4CAQAwBQYDK2VwBCIEICAfHh0cGxoZGBcWFRQTEhEQDw4NDAsKCQgHBgUEAwIB'

function nodePlan({ env, nodes }: SimulatedRun): readonly Planned[] {
  const [first, , last] = nodes.list
  return [
    {
      ...{ part: 0.18, hour: 3, what: 'node 3 invents blocks for an hour' },
      work() {
        if (last === undefined) return
        beginTrouble(env, last, 'invented tail')
        env.scheduler.after(hourMs, () => Object.assign(last, untroubled))
      },
    },
    {
      ...{ part: 0.28, hour: 3, what: 'the provider of node 1 ends its service' },
      work: () => Object.assign(first?.awayUntil ?? {}, { rpc: Infinity, api: Infinity }),
    },
    {
      ...{ part: 0.55, hour: 3, what: 'no node answers for three hours' },
      work() {
        nodes.setAway(true)
        env.scheduler.after(3 * hourMs - 600_000, () => nodes.setAway(false))
      },
    },
  ]
}

/** A version in each month, R2 away, and the database restored twice, each time by a day. */
function databasePlan(run: SimulatedRun): readonly Planned[] {
  const { env, deploy } = run
  const restored = (part: number): Planned[] => [
    { part, hour: 4, what: 'a copy of the database', work: () => makeCopy(run) },
    {
      ...{ part, later: 1, hour: 7, what: 'that copy restored' },
      work() {
        restore(run)
        removeCopy(run)
      },
    },
  ]
  return [
    ...Array.from({ length: 11 }, (_, i) => {
      return { part: (i + 1) / 12, hour: 11, what: 'a version deployed', work: deploy }
    }),
    ...[...restored(0.31), ...restored(0.7)],
    {
      ...{ part: 0.52, hour: 3, what: 'R2 is away for six hours' },
      work() {
        env.bucketAwayUntil = env.scheduler.now() + 6 * hourMs
      },
    },
  ]
}

function currencyPlan(run: SimulatedRun): readonly Planned[] {
  const { env } = run
  const retire = (cuys: readonly number[]) => {
    env.retired = new Set(cuys)
    env.retiredAt = env.scheduler.now()
    run.deploy()
  }
  const payLate = () => {
    const [to] = env.shown.keys()
    if (to !== undefined) env.queued.push(payCurrency(env.aside, fineCuy, to, 2n * 10n ** 18n))
  }
  const again = { part: 0.76, later: 1 } as const
  return [
    { part: 0.36, hour: 10, what: 'currency 3 added', work: () => configure(run, { without: new Set() }) },
    { part: 0.76, hour: 10, what: 'currency 3 retired', work: () => retire([fineCuy]) },
    { ...again, hour: 12, what: 'a payment in the retired currency', work: payLate },
    { ...again, hour: 14, what: 'currency 3 accepted for six hours, for what came late', work: () => retire([]) },
    { ...again, hour: 20, what: 'currency 3 retired again', work: () => retire([fineCuy]) },
  ]
}

function endpointPlan(run: SimulatedRun): readonly Planned[] {
  const { env, endpoints } = run
  const [, , leaving = ''] = env.deployed.endpoints
  const added = 'https://new.example/events'
  return [
    {
      ...{ part: 0.4, hour: 10, what: 'endpoint 3 takes nothing any more' },
      work: () => env.deadEndpoints.add(leaving),
    },
    {
      ...{ part: 0.86, hour: 10, what: 'an endpoint added' },
      work() {
        endpoints.add(added)
        configure(run, { endpoints: [...env.deployed.endpoints, added] })
      },
    },
  ]
}

/** What issuers and contracts do. */
function issuerPlan({ env }: SimulatedRun): readonly Planned[] {
  const contract = usdtAddress
  const freeze = (kind: 'frozen' | 'released') => () => {
    const [address = null] = env.shown.keys()
    env.queued.push(actOf({ contract, kind, address, raw: null }))
  }
  const setFee = (raw: bigint) => () =>
    env.queued.push(actOf({ contract, kind: 'fee-set', address: null, raw, basisPoints: raw }))
  const send = () => env.queued.push(drawSending(env.aside, { shown: [...env.shown.keys()], ...nobodyElse }))
  return [
    { part: 0.46, hour: 10, what: 'the issuer of currency 2 freezes an address', work: freeze('frozen') },
    { part: 0.5, hour: 10, what: 'the issuer releases it', work: freeze('released') },
    { part: 0.6, hour: 10, what: 'the issuer of currency 2 takes a fee', work: setFee(5n) },
    { part: 0.6, later: 2, hour: 10, what: 'the issuer takes none any more', work: setFee(0n) },
    { part: 0.33, hour: 10, what: 'a contract sends TRX', work: send },
    { part: 0.66, hour: 10, what: 'a contract sends TRX', work: send },
  ]
}

const nobodyElse = { unshown: [], balanceOf: () => 0n } as const

/** Leap seconds end June or December; a short year has one on its third day. */
function isLeap(hour: number, day: number, days: number): boolean {
  const date = new Date(hour).toISOString()
  return days < 300 ? day === 3 : date.includes('-01-01T') || date.includes('-07-01T')
}

/** All clocks step back by a second at midnight, and are right again after some minutes. */
function leap({ env }: SimulatedRun): void {
  env.scheduler.after(30_000, () => {
    env.clockMs = -1_000
  })
  env.scheduler.after(600_000, () => {
    env.clockMs = 0
  })
}
