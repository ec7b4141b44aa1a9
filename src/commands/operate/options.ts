import type { ConfigurationSource } from '../configuration.ts'
import { cellOptionOf, optionOf, type PlaceRef } from '../place.ts'
import { OptionError } from '../tool-error.ts'

/** The values of the options, as typed. */
export type Options = Readonly<Partial<Record<TextOption, string | undefined> & Record<Flag, boolean | undefined>>>

type TextOption =
  | ('from' | 'to' | 'finalized' | 'reason' | 'endpoint' | 'from-url-of-key' | 'cuy' | 'txid')
  | ('name' | 'scope' | 'secret' | 'service')
type Flag = 'moved' | 'stdin'

/** Runs the work on the place of a configuration. Returns the text to print. */
export type Work = (source: ConfigurationSource) => Promise<string>

/** The options for a place in a printed command; for this machine there is `--local`. They begin with a space. */
export const environmentOption = (place: PlaceRef) =>
  place.env === undefined ? ` --local${cellOptionOf(place)}` : optionOf(place)

/** Reads an option of this form, or throws an `OptionError` that says `what` it must be. */
export function readOption(options: Options, name: TextOption, form: RegExp, what: string): string {
  const value = options[name]
  if (value !== undefined && form.test(value)) return value
  throw new OptionError(`--${name}: ${what}`)
}
