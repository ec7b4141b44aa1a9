import type { SendingReply } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'

/** A node's last reply to the broadcast of a transaction. It proves nothing: a node that accepts may drop the transaction, and a node that refuses may lie. */
export interface NodeAnswer {
  /** The node's number in `TRON_NODES`, from 1. `name` names the node for people. */
  readonly node: number
  readonly name: string
  /** The node's own code for its answer, such as `SUCCESS` or `SIGERROR`. */
  readonly answer: string
  readonly at: UnixMs
  /** Start of the unbroken run of refusals; null if the node's last answer accepts the transaction. */
  readonly refusedSince: UnixMs | null
}

/** Answers with which a node says that it has the transaction. */
const taken: ReadonlySet<string> = new Set(['SUCCESS', 'DUP_TRANSACTION_ERROR'])

/** Parses the column `answers` of a transaction. Null: no node has answered a broadcast yet. */
export function readAnswers(text: string | null): readonly NodeAnswer[] {
  return text === null ? [] : (JSON.parse(text) as readonly NodeAnswer[]) // safe: written by `noteAnswer` alone
}

/** Replaces a node's last answer by its new reply; the list stays in the order of node numbers. `refusedSince` stays until the node accepts. */
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

/** Whether every answer is a refusal, and at least `nodes` nodes have each refused for at least `ms`. */
export function isRefusedByAll(answers: readonly NodeAnswer[], nodes: number, ms: number, now: UnixMs): boolean {
  const refusing = answers.filter(({ refusedSince }) => refusedSince !== null)
  const newest = Math.max(...refusing.map(({ refusedSince }) => refusedSince ?? 0))
  return nodes > 0 && refusing.length >= nodes && answers.length === refusing.length && now - newest >= ms
}
