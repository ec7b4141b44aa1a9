import type { Log, LogFields } from '../platform/logger.ts'

/** What parts of the service would have logged, by event: the last one of each. */
export interface Hearing {
  readonly log: Log
  readonly heard: ReadonlyMap<string, LogFields>
}

/** A log that nobody reads but the doctor. */
export function createHearing(): Hearing {
  const heard = new Map<string, LogFields>()
  const note = (event: string, fields: LogFields) => {
    heard.set(event, fields)
  }
  return { log: { info: note, warn: note, error: note, alarm: note }, heard }
}
