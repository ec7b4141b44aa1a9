import type { UnixMs } from '../common/time.ts'
import {
  deliveryConnectionsMax,
  failingConnectionsMax,
  minuteDeliveryQueriesMax,
  minuteMs,
  promptAnswerMs,
} from '../platform/limits.ts'
import { type DeliverDueParts, type DeliveryBudget, deliverDue, type TurnEnd } from './deliver-due.ts'
import type { Endpoint } from './endpoint.ts'
import { createSignal, type Signal } from './signal.ts'
import { createSlots } from './slots.ts'
import type { EndpointState, WebhookStore } from './webhook-store.ts'

/** What the deliveries of one invocation need. */
export interface DeliveriesParts extends DeliverDueParts {
  readonly endpoints: readonly Endpoint[]
  readonly webhookStore: WebhookStore
  /** Whether the stored data means what the configuration says: otherwise nothing is delivered. */
  readonly hasStoredMeaning: () => Promise<boolean>
}

/** The deliveries of one invocation of the cron. */
export interface Deliveries {
  /** New events may be stored: endpoints that have got all others look for them. */
  readonly notify: () => void
  /** There will be no further call of `notify`. */
  readonly end: () => void
  /** Resolves when every endpoint has got what it could within the minute. It never rejects. */
  readonly finished: Promise<void>
}

/**
 * Starts delivering. Each endpoint goes on by itself: no failure, hang or backlog of one delays another healthy one by more than
 * `promptAnswerMs` allows. Those that are failing or slow share connections of their own. No delivery begins after the cron's
 * minute, when the next invocation has begun.
 */
export function startDeliveries(parts: DeliveriesParts): Deliveries {
  const newEvents = createSignal()
  return { notify: newEvents.notify, end: newEvents.close, finished: deliverAll(parts, newEvents) }
}

async function deliverAll(parts: DeliveriesParts, newEvents: Signal): Promise<void> {
  const { clock, logger, endpoints } = parts
  const queries = Math.floor(minuteDeliveryQueriesMax / endpoints.length)
  const shares = endpoints.map((endpoint) => ({ endpoint, budget: { queries, sent: 0 } }))
  const crashed = (endpoint: number | null) => (thrown: unknown) => {
    logger.error('webhooks-crashed', { endpoint, why: thrown instanceof Error ? thrown.message : String(thrown) })
  }
  try {
    if (!(await parts.hasStoredMeaning())) return
    const until = (clock.now() + minuteMs) as UnixMs // safe: a later time
    const states = new Map((await parts.webhookStore.register(endpoints)).map((state) => [state.key, state]))
    const openTurns = turnsFactory(parts, until)
    const ends = shares.map(({ endpoint, budget }) => {
      const state = states.get(endpoint.key)
      if (state === undefined) return undefined
      return deliverTo(parts, newEvents, openTurns(endpoint, budget), state).catch(crashed(endpoint.number))
    })
    await Promise.all(ends)
  } catch (thrown) {
    crashed(null)(thrown)
  } finally {
    const sent = shares.reduce((sum, { budget }) => sum + budget.sent, 0)
    if (sent > 0) logger.info('webhooks', { sent })
  }
}

/** The turns of one endpoint. */
interface Turns {
  readonly mayGoOn: () => boolean
  readonly next: (isHealthy: boolean) => Promise<TurnEnd>
  readonly until: UnixMs
}

/** Opens the turns of endpoints, which share the connections. */
function turnsFactory(parts: DeliveriesParts, until: UnixMs) {
  const { clock } = parts
  const healthy = createSlots(deliveryConnectionsMax)
  const failing = createSlots(failingConnectionsMax)
  const never = () => new Promise<void>(() => undefined)
  const whereOthersWait = async () => {
    await clock.sleep(promptAnswerMs)
    await healthy.wanted()
  }
  return (endpoint: Endpoint, budget: DeliveryBudget): Turns => ({
    until,
    mayGoOn: () => clock.now() < until && budget.queries > 0,
    next: (isHealthy) => {
      const { run, isWanted } = isHealthy ? healthy : failing
      const givesWay = isHealthy ? whereOthersWait : never
      return run(() => deliverDue(parts, endpoint, { until, budget, isWanted, givesWay }))
    },
  })
}

/** Delivers to one endpoint, turn by turn. */
async function deliverTo(
  { clock }: DeliveriesParts,
  newEvents: Signal,
  turns: Turns,
  { nextTry, attempts }: EndpointState,
): Promise<void> {
  let dueAt: UnixMs | null = nextTry
  let isHealthy = attempts === 0
  while (turns.mayGoOn()) {
    const notified = newEvents.next()
    if (dueAt === null || dueAt <= clock.now()) {
      ;({ nextTry: dueAt, isHealthy } = await turns.next(isHealthy))
      if (dueAt !== null && dueAt <= clock.now()) continue
    }
    if (dueAt === null) {
      if (!(await notified)) return
    } else if (dueAt >= turns.until) return
    else await clock.sleep(dueAt - clock.now())
  }
}
