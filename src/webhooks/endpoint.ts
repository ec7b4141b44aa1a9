import type { EndpointKey } from '../common/ids.ts'
import type { EventType } from '../d1/tables.ts'

/** An endpoint of `WEBHOOKS`. */
export interface WebhookEndpoint {
  readonly key: EndpointKey
  /** Its place in `WEBHOOKS`, from 1: its only name in logs. */
  readonly number: number
  readonly url: string
  /** `whsec_…`: the present one, and while it rotates another one. */
  readonly secrets: readonly string[]
  /** The types of events that it gets, or null: all. */
  readonly types: ReadonlySet<EventType> | null
}
