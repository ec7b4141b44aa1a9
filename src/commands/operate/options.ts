import { optionOf } from '../place.ts'
import { OptionError } from '../tool-error.ts'

/** The values of the options, as typed. */
export type Options = Readonly<Partial<Record<TextOption, string | undefined> & Record<Flag, boolean | undefined>>>

type TextOption =
  | ('from' | 'to' | 'finalized' | 'reason' | 'endpoint' | 'from-url-of-key' | 'cuy' | 'txid')
  | ('name' | 'scope' | 'secret' | 'service')
type Flag = 'moved' | 'stdin'

/** Runs the work in an environment ('' is the top level), or on this machine if it is undefined. Returns the text to print. */
export type Work = (env: string | undefined) => Promise<string>

/** The option for an environment in a printed command; for this machine it is `--local`. It begins with a space. */
export const namedPlace = (env: string | undefined) => (env === undefined ? ' --local' : optionOf(env))

/** Reads an option of this form, or throws an `OptionError` that says `what` it must be. */
export function readOption(options: Options, name: TextOption, form: RegExp, what: string): string {
  const value = options[name]
  if (value !== undefined && form.test(value)) return value
  throw new OptionError(`--${name}: ${what}`)
}
