import type { Clock } from '../../worker/platform/clock.ts'
import type { ConfigurationSource } from '../configuration.ts'
import { cellOptionOf, optionOf, type PlaceRef } from '../place.ts'
import type { TerminalStreams } from '../signing/terminal.ts'
import { OptionError } from '../tool-error.ts'

/** The options as typed. An option that was not given is undefined. */
export type Options = Readonly<Partial<Record<TextOption, string | undefined> & Record<Flag, boolean | undefined>>>

type TextOption =
  | ('from' | 'to' | 'finalized' | 'reason' | 'endpoint' | 'from-url-of-key' | 'cuy' | 'txid')
  | ('name' | 'scope' | 'secret' | 'service' | 'attempts')
type Flag = 'moved' | 'stdin'

/**
 * The work of a command on the deployment or local service of `source`. Returns the text to print,
 * or throws a `ToolError`.
 */
export type Work = (source: ConfigurationSource) => Promise<string>

/**
 * The parts of this machine with which a command acts in a person's name: the terminal for a typed
 * secret, and the clock for the token's end.
 */
export interface PersonParts {
  readonly streams: TerminalStreams
  readonly clock: Pick<Clock, 'now'>
}

/**
 * The options that name a place in a printed `operate` command. They begin with a space; this
 * machine is ` --local`.
 */
export const environmentOption = (place: PlaceRef) =>
  place.env === undefined ? ` --local${cellOptionOf(place)}` : optionOf(place)

/** Reads an option of this form, or throws an `OptionError` that says `what` it must be. */
export function readOption(options: Options, name: TextOption, form: RegExp, what: string): string {
  const value = options[name]
  if (value !== undefined && form.test(value)) return value
  throw new OptionError(`--${name}: ${what}`)
}
