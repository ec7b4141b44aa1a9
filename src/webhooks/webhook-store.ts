import type { EndpointKey, EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { Endpoint } from './endpoint.ts'

/** How far an endpoint has got. */
export interface EndpointState {
  readonly key: EndpointKey
  /** The newest event that it has got, or that is not for it. */
  readonly position: EventId | 0
  /** Failed deliveries of the next event. */
  readonly attempts: number
  /** When the first of them failed; null where none has. */
  readonly failingSince: UnixMs | null
  /** No delivery before; while one runs, when its lease ends. */
  readonly nextTry: UnixMs
  /** The newest event that was put aside since the endpoint was last healthy, or null. */
  readonly setAside: EventId | null
}

/** What a delivery leaves behind. */
export type Progress = Omit<EndpointState, 'key'>

/** How far the endpoints have got. A lease allows one delivery to an endpoint at a time; a killed one is taken over at its end. */
export interface WebhookStore {
  /**
   * The states of the configured endpoints, in their order. A new one begins with the next event; what is no longer
   * configured is removed.
   */
  register(endpoints: readonly Pick<Endpoint, 'key' | 'number'>[]): Promise<readonly EndpointState[]>
  /** Takes the lease of an endpoint until `until`, or null where there is no event for it, it is not due, or it is taken. */
  take(key: EndpointKey, lease: string, at: UnixMs, until: UnixMs): Promise<EndpointState | null>
  /** Stores progress and keeps the lease, whose end is then `progress.nextTry`. False where the lease was lost. */
  keep(key: EndpointKey, lease: string, progress: Progress): Promise<boolean>
  /** Stores progress and releases the lease. A no-op where it was lost. */
  release(key: EndpointKey, lease: string, progress: Progress): Promise<void>
}
