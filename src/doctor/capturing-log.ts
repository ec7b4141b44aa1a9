import type { LogFields, Logger } from '../platform/logger.ts'

/** What parts of the service would have logged, by event: the last one of each. */
export interface CapturingLog {
  readonly logger: Logger
  readonly events: ReadonlyMap<string, LogFields>
}

/** A log that nobody reads but the doctor. */
export function createCapturingLog(): CapturingLog {
  const heard = new Map<string, LogFields>()
  const note = (event: string, fields: LogFields) => {
    heard.set(event, fields)
  }
  return { logger: { info: note, warn: note, error: note, alarm: note }, events: heard }
}
