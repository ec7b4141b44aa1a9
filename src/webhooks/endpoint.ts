import type { Brand } from '../common/brand.ts'
import type { EventType } from '../events/event.ts'

/** The hash of an endpoint's URL, as hex: the database has no URLs, which can contain keys. */
export type EndpointKey = Brand<string, 'EndpointKey'>

/** An endpoint of `WEBHOOKS`. */
export interface Endpoint {
  readonly key: EndpointKey
  /** Its place in `WEBHOOKS`, from 1: its only name in logs. */
  readonly number: number
  readonly url: string
  /** `whsec_…`: the present one, and while it rotates another one. */
  readonly secrets: readonly string[]
  /** The types of events that it gets, or null: all. */
  readonly types: ReadonlySet<EventType> | null
}
