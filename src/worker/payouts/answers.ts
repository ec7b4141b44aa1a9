import type { SendingReply } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'

/** What a node last said about the sending of a transaction. It proves nothing: a success is no promise, and a refusal can be a lie. */
export interface NodeAnswer {
  /** The node's number in `TRON_NODES`, and what people call it. */
  readonly node: number
  readonly name: string
  /** The node's own word, such as `SUCCESS` or `SIGERROR`. */
  readonly answer: string
  readonly at: UnixMs
  /** Since when it has only refused it; null: it takes it. */
  readonly refusedSince: UnixMs | null
}

/** The words by which a node says that it has the transaction. */
const taken: ReadonlySet<string> = new Set(['SUCCESS', 'DUP_TRANSACTION_ERROR'])

/** What is stored of the answers to one transaction. */
export function readAnswers(text: string | null): readonly NodeAnswer[] {
  return text === null ? [] : (JSON.parse(text) as readonly NodeAnswer[]) // safe: written by `noteAnswer` alone
}

/** The answers with a new one, which takes the place of the last one of the same node. */
export function noteAnswer(
  answers: readonly NodeAnswer[],
  { node, name, code }: SendingReply,
  at: UnixMs,
): readonly NodeAnswer[] {
  const before = answers.find((answer) => answer.node === node)
  const refusedSince = taken.has(code) ? null : (before?.refusedSince ?? at)
  const others = answers.filter((answer) => answer.node !== node)
  return [...others, { node, name, answer: code, at, refusedSince }].sort((a, b) => a.node - b.node)
}

/** Whether each of so many nodes has refused it for at least `ms`. */
export function isRefusedByAll(answers: readonly NodeAnswer[], nodes: number, ms: number, now: UnixMs): boolean {
  const refusing = answers.filter(({ refusedSince }) => refusedSince !== null)
  const newest = Math.max(...refusing.map(({ refusedSince }) => refusedSince ?? 0))
  return nodes > 0 && refusing.length >= nodes && answers.length === refusing.length && now - newest >= ms
}
