import type { ChainResult } from '../../chain/chain.ts'
import { err, ok } from '../../common/result.ts'
import { alarmTextMax, outvotedMs } from '../limits.ts'
import type { NodeAnswer, NodeQuery, NodeSelector } from '../nodes/failover.ts'
import { createNodeSelector, failureOf, nextAnswer } from '../nodes/failover.ts'
import { demote } from '../nodes/health.ts'
import { type NodePool, raiseAlarm, type TronNode } from '../nodes/node.ts'

/** A node's version of a fact, as text. Nodes agree where their texts are equal; an alarm shows the lines that differ. */
export interface Vote {
  readonly node: TronNode
  readonly text: string
}

/** Queries as many nodes at the same time as replies are `missing`. The next node replaces one that fails. */
export async function collectAnswers<T>(
  selector: NodeSelector,
  query: NodeQuery<T>,
  missing: (answers: readonly NodeAnswer<T>[]) => number,
): Promise<readonly NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = []
  let running = 0
  const run = async () => {
    while (missing(answers) > running) {
      running += 1
      const answer = await nextAnswer(selector, query)
      running -= 1
      if (!answer.ok) return
      answers.push(answer.value)
    }
  }
  await Promise.all(Array.from({ length: missing(answers) }, run))
  return answers
}

/** The value that `quorum` nodes agree on: the same text by `render`. A minority is reported, and so is a missing quorum. */
export async function agreeByQuorum<T>(
  pool: NodePool,
  about: string,
  query: NodeQuery<T>,
  render: (value: T) => string,
  nodes = pool.nodes,
): ChainResult<T> {
  const textOf = ({ value }: NodeAnswer<{ readonly text: string }>) => value.text
  const selector = createNodeSelector(pool, 'credit', pool.quorum, nodes)
  const answers = await collectAnswers(
    selector,
    async (node) => {
      const result = await query(node)
      return result.ok ? ok({ value: result.value, text: render(result.value) }) : result
    },
    (all) => pool.quorum - largestGroup(all, textOf).length,
  )
  const majority = largestGroup(answers, textOf)
  const [winner] = majority
  if (winner === undefined) return err(failureOf(selector))
  const isAgreed = majority.length >= pool.quorum
  const minority = answers.filter((answer) => !majority.includes(answer))
  const toVote = ({ node, value: { text } }: (typeof answers)[number]): Vote => ({ node, text })
  for (const other of minority) reportDisagreement(about, majority.map(toVote), toVote(other), isAgreed)
  if (isAgreed) return ok(winner.value.value)
  return err(minority.length > 0 ? { kind: 'disagreement', about } : failureOf(selector))
}

/** The largest group of items with the same key. An item with a null key is in no group. */
export function largestGroup<T>(items: readonly T[], keyOf: (item: T) => string | null): readonly T[] {
  let largest: readonly T[] = []
  for (const key of items.map(keyOf)) {
    const group = key === null ? [] : items.filter((item) => keyOf(item) === key)
    if (group.length > largest.length) largest = group
  }
  return largest
}

/** Raises an alarm that equal votes and another one differ. Where they are a quorum, the other node is demoted and probed. */
export function reportDisagreement(about: string, votes: readonly Vote[], other: Vote, isQuorum: boolean): void {
  const [text = ''] = votes.map((vote) => vote.text)
  const { pool, health, number } = other.node
  if (isQuorum) {
    demote(health.rpc, outvotedMs, pool.budget.clock)
    health.facts = null
  }
  const nodes = votes.map(({ node }) => node.number).join(',')
  // A node that is outvoted can differ about other things each time: it is one fault.
  raiseAlarm(pool, isQuorum ? `node ${number}` : about, 'nodes-disagree', {
    about,
    nodes,
    answer: differenceIn(text, other.text),
    otherNode: number,
    otherAnswer: differenceIn(other.text, text),
    outcome: isQuorum ? 'outvoted' : 'held',
  })
}

/** The part of `text` that differs from `other`, cut to a length that fits a log line. */
function differenceIn(text: string, other: string): string {
  const [own, others] = [linesWithout(text, other), linesWithout(other, text)]
  let same = 0
  while (same < own.length && own[same] === others[same]) same += 1
  // Of long texts only the end of what is the same is shown.
  const start = Math.max(0, Math.min(same - alarmTextMax / 3, own.length - alarmTextMax))
  return own.slice(start, start + alarmTextMax) || 'nothing'
}

/** The lines of `text` that `other` does not have. */
function linesWithout(text: string, other: string): string {
  const others = new Set(other.split('\n'))
  const own = text.split('\n').filter((line) => !others.has(line))
  return own.join('; ')
}
