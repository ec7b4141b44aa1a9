import type { Brand } from './ids.ts'

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type UnixMs = Brand<number, 'UnixMs'>

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/**
 * Writes a time as all answers do: ISO 8601 in UTC with milliseconds, `2026-01-31T12:00:00.000Z`.
 */
export function formatInstant(at: UnixMs): string {
  return new Date(at).toISOString()
}

/**
 * Whether the time `until` is still to come. `until` was set at most `ms` ahead of the clock. If it
 * is further ahead now, the clock has stepped back, and the result is false: waiting for `until`
 * could take too long.
 */
export function isAhead(until: number, ms: number, now: number): boolean {
  return until > now && until - now <= ms
}
