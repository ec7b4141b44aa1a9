import { err, ok, type Result } from '../worker/common/result.ts'

/** Why a command stops, and the person's next action: each a sentence without its full stop. */
export interface ToolRefusal {
  readonly why: string
  readonly next: string
}

/**
 * A stop that the person caused, or can act on. It is printed without a stack, with the next
 * action.
 */
export class ToolError extends Error implements ToolRefusal {
  readonly why: string
  readonly next: string

  constructor(why: string, next: string) {
    super(why)
    this.why = why
    this.next = next
  }
}

/**
 * A wrong option. The message says what the option must be; the usage of the command follows it.
 */
export class OptionError extends Error {}

/**
 * Returns the value of a result. Throws its error (one sentence) as a `ToolError` with this next
 * action.
 */
export function orStop<T>(result: Result<T, string>, next: string): T {
  if (result.ok) return result.value
  throw new ToolError(result.error, next)
}

/**
 * Returns the value of a result. Throws its error, which includes the next action, as a
 * `ToolError`.
 */
export function orRefuse<T>(result: Result<T, ToolRefusal>): T {
  if (result.ok) return result.value
  throw new ToolError(result.error.why, result.error.next)
}

/** The result of work, or the `ToolError` that it throws. */
export async function attempt<T>(work: () => Promise<T>): Promise<Result<T, ToolRefusal>> {
  try {
    return ok(await work())
  } catch (error) {
    if (error instanceof ToolError) return err(error)
    throw error
  }
}
