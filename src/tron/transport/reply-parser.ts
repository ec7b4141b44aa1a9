import { parseJson } from '../../common/parse-json.ts'
import { replyBytesMax, sharedCharactersMin, sharedRepliesMax } from '../limits.ts'

/** Parses replies, and what two long ones have in common once. */
export interface ReplyParser {
  /** The value of a reply's text, or undefined for a text that is not JSON. */
  parse(text: string): unknown
  /** What was parsed so far is not expected again: no reply is kept for it. */
  forget(): void
}

/** A reply whose value is an array. */
interface ParsedReply {
  readonly text: string
  readonly value: readonly unknown[]
}

/**
 * A parser that parses what two long replies have in common once. Nodes that agree usually write the same text. So where one
 * replies to calls, and another one to the same calls, or to these and further ones, with the same ids, comparing the texts
 * takes a twentieth of the time. The values of the common calls are then the same objects. Only the longest reply is kept until
 * `forget`, and not where another one must be parsed and both together would be longer than the longest that is read: an invocation
 * needs no more memory for replies than without it. The other newest ones are referenced weakly.
 */
export function createReplyParser(): ReplyParser {
  let newest: readonly WeakRef<ParsedReply>[] = []
  let longest: ParsedReply | null = null
  return {
    parse(text) {
      const isLong = text.length >= sharedCharactersMin
      let value: unknown
      for (const reply of isLong ? newest : []) value ??= parseRest(reply.deref(), text)
      if (value === undefined && text.length + (longest?.text.length ?? 0) > replyBytesMax) longest = null
      value ??= parseJson(text)
      if (!isLong || !Array.isArray(value)) return value
      const reply: ParsedReply = { text, value }
      newest = [new WeakRef(reply), ...newest].slice(0, sharedRepliesMax)
      if (text.length > (longest?.text.length ?? 0)) longest = reply
      return value
    },
    forget() {
      newest = []
      longest = null
    },
  }
}

/**
 * The value of a text that begins like `known`, or that `known` begins like, the last bracket aside; undefined for another text.
 * What is left of the longer text is a list of values, or the common part does not end between two values of its array.
 */
function parseRest(known: ParsedReply | undefined, text: string): readonly unknown[] | undefined {
  if (known === undefined) return undefined
  const [short, long] = text.length < known.text.length ? [text, known.text] : [known.text, text]
  const end = short.length - 1
  if (short[end] !== ']' || long.slice(0, end) !== short.slice(0, end)) return undefined
  if (long.length === short.length) return long[end] === ']' ? known.value : undefined
  const rest = long[end] === ',' ? parseJson(`[${long.slice(end + 1)}`) : undefined
  if (!Array.isArray(rest)) return undefined
  return long === text ? [...known.value, ...rest] : known.value.slice(0, known.value.length - rest.length)
}
