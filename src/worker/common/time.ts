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

const leapDay = '(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29'
const otherDay =
  '\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))'
const time = '([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?'
/**
 * ISO 8601 with a zone, and a day that exists. `Date.parse` alone accepts other forms, and reads 31
 * April as 1 May.
 */
export const instantForm = new RegExp(`^(${leapDay}|${otherDay})T${time}(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$`)

/** Digits below a millisecond. Other languages write them, but no stored time has them. */
const belowMilliseconds = /(?<=\.\d{3})\d+/

/**
 * Parses an ISO 8601 instant with a zone, of a day that exists; null for any other text. Digits
 * below a millisecond are cut off.
 */
export function parseInstant(text: string): UnixMs | null {
  if (!instantForm.test(text)) return null
  return Date.parse(text.replace(belowMilliseconds, '')) as UnixMs // safe: the form is that of an instant
}
