import type { EndpointKey } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { stackOf } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { type DeliverParts, deliverEvents } from './deliver-events.ts'
import { deliverNote } from './deliver-note.ts'

/**
 * Milliseconds until the next attempt after an exception, or while the configuration does not
 * belong to the stored data.
 */
const againMs = 30_000
const keyName = 'key'

export interface EndpointParts extends DeliverParts {
  readonly host: ObjectHost
  /** Whether the configuration belongs to the stored data. If not, nothing is delivered. */
  readonly configMatchesData: () => Promise<boolean>
}

/** The Durable Object of an endpoint. One run of its alarm delivers what is due. */
export interface EndpointObject {
  /** Starts a delivery now. `key` is the endpoint's, and names the object. */
  wake(key: EndpointKey): Promise<void>
  /** The key with which the object was woken. */
  key(): Promise<EndpointKey | undefined>
  /** Delivers due events and the newest checkpoint, and sets the next alarm. */
  alarm(): Promise<void>
}

/**
 * Makes the deliveries to one endpoint. Everything that counts is in the database. The object
 * stores only its key, may be lost at any time, and may briefly run twice. If its endpoint is no
 * longer configured, it does nothing.
 */
export function createEndpoint(parts: EndpointParts): EndpointObject {
  const { host, clock, logger, endpoints } = parts
  const setEarlier = async (at: UnixMs) => {
    const due = await host.alarm()
    if (due === null || due > at) await host.setAlarm(at)
  }
  return {
    key: () => host.load<EndpointKey>(keyName),
    async wake(key) {
      if ((await host.load(keyName)) !== key) host.save(keyName, key)
      await setEarlier(clock.now())
    },
    async alarm() {
      const key = await host.load<EndpointKey>(keyName)
      const endpoint = endpoints.find((one) => one.key === key)
      if (endpoint === undefined) return
      let next: UnixMs | null = (clock.now() + againMs) as UnixMs // safe: a time plus milliseconds is a time
      try {
        if (await parts.configMatchesData()) {
          const times = [await deliverEvents(parts, endpoint), await deliverNote(parts, endpoint)]
          next = times.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a))
        }
      } catch (thrown) {
        logger.error('webhooks-crashed', { endpoint: endpoint.number, why: stackOf(thrown) })
      } finally {
        if (next !== null) await setEarlier(next) // a call of `wake` may have set an earlier alarm
      }
    },
  }
}
