import type { Result } from '../common/result.ts'

/** A stop that the person at the terminal caused, or can act on: its message is printed without a stack. */
export class ToolError extends Error {}

/** The value of a result. Without one the command stops with the error, one sentence, and with what follows it. */
export function orStop<T>(result: Result<T, string>, next = ''): T {
  if (result.ok) return result.value
  throw new ToolError(result.error + next)
}
