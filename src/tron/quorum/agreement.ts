import type { ChainResult } from '../../chain/chain.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { alarmTextMax } from '../limits.ts'
import type { NodeSelector } from '../nodes/failover.ts'
import { alarmIsDue, recordOutvoted } from '../nodes/health.ts'
import type { NodeError } from '../nodes/node-error.ts'
import type { NodePool, TronNode } from '../transport/batch.ts'

/** One node's answer. */
export interface Vote<T> {
  readonly node: TronNode
  readonly value: T
}

/**
 * Asks nodes until enough have answered. `missing` says how many further answers are needed if all of them turn out
 * well: so many are asked at once, and each that fails or dissents brings in another node.
 */
export async function collectVotes<T>(
  turns: NodeSelector,
  question: (node: TronNode) => Promise<Result<T, NodeError>>,
  missing: (voices: readonly Vote<T>[]) => number,
): Promise<readonly Vote<T>[]> {
  const voices: Vote<T>[] = []
  let underWay = 0
  const line = async () => {
    while (missing(voices) > underWay) {
      underWay += 1
      const node = await turns.next()
      const answer = node === null ? null : await turns.query(node, question)
      underWay -= 1
      if (node === null || answer === null) return
      if (answer.ok) voices.push({ node, value: answer.value })
    }
  }
  await Promise.all(Array.from({ length: missing([]) }, line))
  return voices
}

/**
 * What `quorum` nodes agree on. `spell` writes an answer so that two that mean the same read the same: it goes into the
 * alarm line by line. A minority that says otherwise is reported and comes last from then on; where no quorum is found
 * the nodes disagree, and nothing is believed.
 */
export async function agreeByQuorum<T>(
  pool: NodePool,
  turns: NodeSelector,
  about: string,
  question: (node: TronNode) => Promise<Result<T, NodeError>>,
  spell: (value: T) => string,
): ChainResult<T> {
  const ask = async (node: TronNode) => {
    const answer = await question(node)
    return answer.ok ? ok({ value: answer.value, spelt: spell(answer.value) }) : answer
  }
  const voices = await collectVotes(turns, ask, (heard) => pool.quorum - largest(heard).length)
  const winners = largest(voices)
  const [winner] = winners
  const isAgreed = winners.length >= pool.quorum
  if (winner !== undefined && winners.length < voices.length) {
    const others = voices.filter(({ value }) => value.spelt !== winner.value.spelt)
    const dissent = others.map(({ node, value }) => ({ node, spelt: value.spelt }))
    reportDisagreement(
      pool,
      about,
      { nodes: winners.map(({ node }) => node), spelt: winner.value.spelt },
      dissent,
      isAgreed,
    )
    if (!isAgreed) return err({ kind: 'disagreement', about })
  }
  return isAgreed && winner !== undefined ? ok(winner.value.value) : err(turns.failure())
}

function largest<T extends { readonly spelt: string }>(voices: readonly Vote<T>[]): readonly Vote<T>[] {
  let best: readonly Vote<T>[] = []
  for (const { value } of voices) {
    const same = voices.filter((voice) => voice.value.spelt === value.spelt)
    if (same.length > best.length) best = same
  }
  return best
}

/**
 * Writes the alarm that nodes differ, once for each thing they differ about, with both answers. Where a quorum agrees
 * against `others`, those come last from now on; without one nobody knows who is wrong.
 */
export function reportDisagreement(
  pool: NodePool,
  about: string,
  said: { readonly nodes: readonly TronNode[]; readonly spelt: string },
  others: readonly { readonly node: TronNode; readonly spelt: string }[],
  outvoted: boolean,
): void {
  const { clock } = pool.budget
  for (const other of others) {
    if (outvoted) recordOutvoted(other.node.health, clock)
    const nodes = said.nodes.map(({ number }) => number).join(',')
    if (!alarmIsDue(pool.health, `${about} ${nodes} ${other.node.number}`, clock)) continue
    const [one, another] = difference(said.spelt, other.spelt)
    pool.log.alarm('nodes-disagree', {
      about,
      nodes,
      answer: one,
      otherNode: other.node.number,
      otherAnswer: another,
      outcome: outvoted ? 'outvoted' : 'held',
    })
  }
}

/** The lines in which two answers differ, each cut to a length that fits a log line. */
function difference(a: string, b: string): readonly [string, string] {
  const linesA = a.split('\n')
  const linesB = b.split('\n')
  const only = (lines: readonly string[], others: readonly string[]) =>
    lines
      .filter((line) => !others.includes(line))
      .join('; ')
      .slice(0, alarmTextMax) || 'nothing'
  return [only(linesA, linesB), only(linesB, linesA)]
}
