import type { UnixMs } from '../common/time.ts'
import { deliveryConnectionsMax, failingConnectionsMax, minuteDeliveriesMax, minuteMs } from '../platform/limits.ts'
import { type DeliverDueParts, deliverDue } from './deliver-due.ts'
import type { Endpoint } from './endpoint.ts'
import { createSlots } from './slots.ts'
import type { EndpointState, WebhookStore } from './webhook-store.ts'

/** What the deliveries of one invocation need. */
export interface DeliveriesParts extends Omit<DeliverDueParts, 'budget'> {
  readonly endpoints: readonly Endpoint[]
  readonly webhookStore: WebhookStore
  /** Whether the stored data means what the configuration says: otherwise nothing is delivered. */
  readonly hasStoredMeaning: () => Promise<boolean>
}

/** The deliveries of one invocation of the cron. */
export interface Deliveries {
  /** New events may be stored: endpoints that have got all others look for them. */
  readonly wake: () => void
  /** There will be no further call of `wake`. */
  readonly end: () => void
  /** Resolves when every endpoint has got what it could within the minute. It never rejects. */
  readonly finished: Promise<void>
}

/**
 * Starts delivering. Each endpoint goes on by itself: what one does, delays no other one. Those that are failing or slow share
 * connections of their own. No delivery begins after the cron's minute, when the next invocation has begun.
 */
export function startDeliveries(parts: DeliveriesParts): Deliveries {
  const bell = createBell()
  return { wake: bell.ring, end: bell.close, finished: deliverAll(parts, bell) }
}

async function deliverAll(parts: DeliveriesParts, bell: Bell): Promise<void> {
  const { clock, logger, endpoints } = parts
  const budget = { left: minuteDeliveriesMax }
  try {
    if (!(await parts.hasStoredMeaning())) return
    const until = (clock.now() + minuteMs) as UnixMs
    const states = new Map((await parts.webhookStore.register(endpoints)).map((state) => [state.key, state]))
    const shared = {
      ...parts,
      bell,
      until,
      budget,
      well: createSlots(deliveryConnectionsMax),
      failing: createSlots(failingConnectionsMax),
    }
    const ends = endpoints.map((endpoint) => {
      const state = states.get(endpoint.key)
      return state === undefined ? undefined : deliverTo(shared, endpoint, state)
    })
    await Promise.all(ends)
  } catch (thrown) {
    logger.error('webhooks-crashed', { why: thrown instanceof Error ? thrown.message : String(thrown) })
  } finally {
    const sent = minuteDeliveriesMax - budget.left
    if (sent > 0) logger.info('webhooks', { sent })
  }
}

type SharedParts = DeliverDueParts & {
  readonly bell: Bell
  readonly until: UnixMs
  readonly well: ReturnType<typeof createSlots>
  readonly failing: ReturnType<typeof createSlots>
}

/** The turns of one endpoint. */
async function deliverTo(parts: SharedParts, endpoint: Endpoint, { nextTry, attempts }: EndpointState): Promise<void> {
  const { clock, bell, until } = parts
  let dueAt: UnixMs | null = nextTry
  let isWell = attempts === 0
  while (clock.now() < until) {
    const rung = bell.next()
    if (dueAt === null || dueAt <= clock.now()) {
      const slots = isWell ? parts.well : parts.failing
      ;({ nextTry: dueAt, isWell } = await slots.run(() => deliverDue(parts, endpoint)))
      if (dueAt !== null && dueAt <= clock.now()) continue
    }
    if (dueAt === null) {
      if (!(await rung)) return
    } else if (dueAt >= until) return
    else await clock.sleep(dueAt - clock.now())
  }
}

/** Wakes all who wait. */
interface Bell {
  readonly ring: () => void
  readonly close: () => void
  /** Resolves at the next ring: true, or false where there will be none. */
  readonly next: () => Promise<boolean>
}

function createBell(): Bell {
  let resolve: (isRung: boolean) => void = () => undefined
  let next = Promise.resolve(false)
  const renew = () => {
    next = new Promise<boolean>((done) => {
      resolve = done
    })
  }
  renew()
  return {
    ring: () => {
      resolve(true)
      renew()
    },
    close: () => {
      resolve(false)
      next = Promise.resolve(false)
    },
    next: () => next,
  }
}
