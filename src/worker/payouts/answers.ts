import type { SendingReply } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'

/**
 * A node's last reply to the broadcast of a transaction. It proves nothing: a node that accepts may
 * drop the transaction, and a node that refuses may lie.
 */
export interface NodeAnswer {
  /** The node's number in `TRON_NODES`, from 1. `name` names the node for people. */
  readonly node: number
  readonly name: string
  /** The node's own code for its answer, such as `SUCCESS` or `SIGERROR`. */
  readonly answer: string
  readonly at: UnixMs
  /** How often the node has answered broadcasts of this transaction. */
  readonly times: number
}

/** Answers with which a node says that it has the transaction. */
export const takenCodes: readonly string[] = ['SUCCESS', 'DUP_TRANSACTION_ERROR']

/** Parses the column `answers` of a transaction. Null: no node has answered a broadcast yet. */
export function readAnswers(text: string | null): readonly NodeAnswer[] {
  return text === null ? [] : (JSON.parse(text) as readonly NodeAnswer[]) // safe: written by `noteAnswer` alone
}

/** Replaces a node's last answer by its new reply; the list stays in the order of node numbers. */
export function noteAnswer(
  answers: readonly NodeAnswer[],
  { node, name, code }: SendingReply,
  at: UnixMs,
): readonly NodeAnswer[] {
  const times = (answers.find((answer) => answer.node === node)?.times ?? 0) + 1
  const others = answers.filter((answer) => answer.node !== node)
  return [...others, { node, name, answer: code, at, times }].sort((a, b) => a.node - b.node)
}

/**
 * What nodes have said about a transaction, as part of a sentence. `names` are the names of all
 * nodes, in the order of their numbers.
 */
export function sayAnswers(answers: readonly NodeAnswer[], names: readonly string[]): string {
  const said = answers.map(({ name, answer }) => `${name}: ${answer}`)
  const silent = names.filter((_, i) => !answers.some(({ node }) => node === i + 1))
  return [...said, ...(silent.length === 0 ? [] : [`no answer of ${silent.join(', ')}`])].join(', ')
}
