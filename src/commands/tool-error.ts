import type { Result } from '../worker/common/result.ts'

/** Why a command does not do what it was asked for, and what the person does next: each a sentence without its full stop. */
export interface ToolRefusal {
  readonly why: string
  readonly next: string
}

/** A stop that the person at the terminal caused, or can act on: it is printed without a stack, with what to do next. */
export class ToolError extends Error implements ToolRefusal {
  readonly why: string
  readonly next: string

  constructor(why: string, next: string) {
    super(why)
    this.why = why
    this.next = next
  }
}

/** A wrong option: the message says what it takes. The usage of the command follows it, which is what to do next. */
export class OptionError extends Error {}

/** The value of a result. Without one the command stops with the error, one sentence, and with what to do next. */
export function orStop<T>(result: Result<T, string>, next: string): T {
  if (result.ok) return result.value
  throw new ToolError(result.error, next)
}

/** The same for a result that knows what to do next. */
export function orRefuse<T>(result: Result<T, ToolRefusal>): T {
  if (result.ok) return result.value
  throw new ToolError(result.error.why, result.error.next)
}
