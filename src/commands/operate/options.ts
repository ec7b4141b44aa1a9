import { optionOf } from '../place.ts'
import { OptionError } from '../tool-error.ts'

/** The values of the options, as typed. */
export type Options = Readonly<Partial<Record<TextOption, string | undefined> & Record<Flag, boolean | undefined>>>

type TextOption =
  | ('from' | 'to' | 'finalized' | 'reason' | 'endpoint' | 'from-url-of-key' | 'cuy' | 'txid')
  | ('name' | 'scope' | 'secret' | 'service')
type Flag = 'moved' | 'stdin'

/** Does the work in an environment ('' is the top level), or on this machine if it is undefined. Returns what to print. */
export type Work = (env: string | undefined) => Promise<string>

/** The option of an environment, as a printed command needs it: this machine has one too. It begins with a space. */
export const namedPlace = (env: string | undefined) => (env === undefined ? ' --local' : optionOf(env))

/** The value of an option in this form, or an `OptionError`: `what` it takes. */
export function readOption(options: Options, name: TextOption, form: RegExp, what: string): string {
  const value = options[name]
  if (value !== undefined && form.test(value)) return value
  throw new OptionError(`--${name}: ${what}`)
}
