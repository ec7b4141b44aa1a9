import type { EndpointKey } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { stackOf } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { type DeliverParts, deliverEvents } from './deliver-events.ts'

/** The next try after an exception, or where the stored data is not that of the configuration. */
const againMs = 30_000
const keyName = 'key'

/** What the object of an endpoint needs. */
export interface EndpointParts extends DeliverParts {
  readonly host: ObjectHost
  /** Whether the stored data means what the configuration says: otherwise nothing is delivered. */
  readonly configMatchesData: () => Promise<boolean>
}

/** The object of an endpoint: its alarm is its next try. */
export interface EndpointObject {
  /** Starts a delivery now. `key` is that of the endpoint, by which the object is found. */
  wake(key: EndpointKey): Promise<void>
  /** Delivers what is due, and sets the next alarm. */
  alarm(): Promise<void>
}

/**
 * Delivers events to one endpoint. All that counts is in the database: the object keeps only its key, can be lost at
 * any time, and may run twice for a moment. Where its endpoint is no longer configured it does nothing.
 */
export function createEndpoint(parts: EndpointParts): EndpointObject {
  const { host, clock, logger, endpoints } = parts
  const setEarlier = async (at: UnixMs) => {
    const due = await host.alarm()
    if (due === null || due > at) await host.setAlarm(at)
  }
  return {
    async wake(key) {
      if ((await host.load(keyName)) !== key) host.save(keyName, key)
      await setEarlier(clock.now())
    },
    async alarm() {
      const key = await host.load<EndpointKey>(keyName)
      const endpoint = endpoints.find((one) => one.key === key)
      if (endpoint === undefined) return
      let next: UnixMs | null = (clock.now() + againMs) as UnixMs // safe: a later time
      try {
        if (await parts.configMatchesData()) next = await deliverEvents(parts, endpoint)
      } catch (thrown) {
        logger.error('webhooks-crashed', { endpoint: endpoint.number, why: stackOf(thrown) })
      } finally {
        if (next !== null) await setEarlier(next) // a call of `wake` can have set an earlier one
      }
    },
  }
}
