import type { Brand } from './ids.ts'

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type UnixMs = Brand<number, 'UnixMs'>

/** ISO 8601 in UTC with milliseconds and the suffix Z, as the contract writes `created_at`. */
export function formatInstant(at: UnixMs): string {
  return new Date(at).toISOString()
}

/** Whether a time that was set at most `ms` ahead is still to come. A time further ahead comes from a clock that has stepped back, so it does not count. */
export function isAhead(until: number, ms: number, now: number): boolean {
  return until > now && until - now <= ms
}
