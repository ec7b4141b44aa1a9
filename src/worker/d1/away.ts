import { lostText } from '../platform/shared-runs.ts'

/**
 * Parts of the messages with which D1 says that it does not answer for now: it was reset, is
 * overloaded, is being exported, or cannot be reached. From the list of errors at
 * https://developers.cloudflare.com/d1/observability/debug-d1/ (read in November 2026); three are
 * not in it, and are reported by others. The last one is our own. A Durable Object that is reset
 * fails in the same words. D1 has no error codes, only these texts.
 */
const awayTexts = [
  'Network connection lost',
  // while starting up, by a fault of its storage, or by a storage operation that took too long
  'caused object to be reset',
  'reset because its code was updated',
  'limit and was reset', // of memory or CPU time
  'is overloaded', // requests queued for too long, or too many
  'Cannot resolve D1 DB due to transient issue',
  'client disconnected', // can't read from request stream because client disconnected
  'Replica disconnected from primary',
  'Currently processing a long-running export',
  'D1_ERROR: internal error',
  lostText,
] as const

/**
 * Whether an exception says that the database is away for now, so that the same request can succeed
 * later. Any other exception is a bug. What was to be written may have been stored. Looks at
 * causes, too, because Drizzle wraps D1's exceptions.
 */
export function isDatabaseAway(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  return awayTexts.some((text) => thrown.message.includes(text)) || isDatabaseAway(thrown.cause)
}
