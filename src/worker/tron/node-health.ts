import { type NodeQuestion, type NodeState, nodeQuestions } from '../common/node-states.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import { meanings, type NodeError, type NodeErrorKind } from './node-errors.ts'

/**
 * How a node has answered one question. What was got counts: an answer without the data that was
 * asked for is a failure.
 */
export interface QuestionHealth {
  /**
   * The newest results, at most `resultsMax`, the newest last: `+` or `-` each. Empty: never asked.
   */
  results: string
  /** Since when the question is in trouble: the first failure. Null if it is not. */
  since: UnixMs | null
  /** The newest failure. */
  failure: { readonly at: UnixMs; readonly why: string; readonly state: NodeState } | null
}

export type NodeHealth = Readonly<Record<NodeQuestion, QuestionHealth>>

const resultsMax = 8
/**
 * Trouble begins with this many failures, if they are at least half of the newest results: so
 * failures at every second answer are trouble.
 */
const failuresMin = 2
/**
 * Trouble ends with this many good results in a row, or with one that comes `calmMs` after the
 * newest failure.
 */
const goodMin = 3
const calmMs = 600_000
/** A trouble without a failure for this long may be over. */
const quietMs = 120_000
/** A failure counts for this long, if the question is not asked again. */
const keptMs = 3_600_000

export function createHealth(): NodeHealth {
  const of = (): QuestionHealth => ({ results: '', since: null, failure: null })
  return { heads: of(), blocks: of(), logs: of(), receipts: of(), broadcasting: of() }
}

/** Errors that are not the node's, or that have a memory and an alarm of their own. */
const notNoted: ReadonlySet<NodeErrorKind> = new Set(['limited', 'out-of-time', 'unfit', 'behind'])

/** The parts of a piece of work (`Session`) that are used here. */
interface Work {
  readonly pool: { readonly clock: Pick<Clock, 'now'>; readonly remember: () => void }
  readonly retried: { error: NodeError | null }
}

/**
 * Notes how a node has answered a question: its error, or null. If it has answered only the second
 * time, it has also failed once. Errors of `notNoted` are not noted.
 */
export function noteHealth(
  { pool, retried }: Work,
  { health }: { readonly health: NodeHealth },
  question: NodeQuestion,
  error: NodeError | null,
): void {
  const asked = health[question]
  const now = pool.clock.now()
  if (error === null && retried.error !== null) noteOne(asked, retried.error, now)
  retried.error = null
  if (error !== null && notNoted.has(error.kind)) return
  noteOne(asked, error, now)
  pool.remember()
}

function noteOne(asked: QuestionHealth, error: NodeError | null, now: UnixMs): void {
  const failedAt = asked.failure?.at ?? now
  const firstAt = asked.results.includes('-') ? failedAt : now
  const isCalm = error === null && now - failedAt >= calmMs
  if (error !== null) asked.failure = { at: now, why: error.detail, state: stateOfError(error) }
  const results = (asked.results + (error === null ? '+' : '-')).slice(-resultsMax)
  const isGood = isCalm || results.endsWith('+'.repeat(goodMin))
  asked.results = isGood ? '+'.repeat(goodMin) : results
  const judged = results.replace(/^\++/, '+') // how long all was well before the first failure says nothing
  const failures = judged.replaceAll('+', '').length
  if (isGood) asked.since = null
  else if (failures >= failuresMin && failures * 2 >= judged.length) asked.since ??= firstAt
}

/**
 * Forgets failures of a question that nobody has asked again for long, or whose cause is known to
 * be gone.
 */
export function forgetFailures(health: QuestionHealth): void {
  health.results = health.results.replaceAll('-', '')
  health.since = null
}

/** Forgets the failures that are too old to say anything. */
export function forgetOldFailures({ health }: { readonly health: NodeHealth }, now: UnixMs): void {
  for (const question of nodeQuestions) {
    const { failure, results } = health[question]
    if (failure !== null && results.includes('-') && now - failure.at > keptMs) forgetFailures(health[question])
  }
}

/** The word for an error of a node. */
export const stateOfError = (error: NodeError): NodeState => error.state ?? meanings[error.kind].state

/**
 * The state that a question's failures give the node: while it is in trouble, or if it was never
 * answered; else null.
 */
export function failingState({ results, since, failure }: QuestionHealth): NodeState | null {
  return since !== null || /^-+$/.test(results) ? (failure?.state ?? null) : null
}

/** The questions on which deposits depend. */
export const scanQuestions = nodeQuestions.filter((question) => question !== 'broadcasting')

/** Whether the node is in trouble with a question that the scan asks. */
export function isFailing({ health }: { readonly health: NodeHealth }): boolean {
  return scanQuestions.some((question) => health[question].since !== null)
}

/**
 * Whether the node is in trouble with a question of the scan, and has not failed at it lately:
 * perhaps because nobody has asked it.
 */
export function hasQuietTrouble({ health }: { readonly health: NodeHealth }, now: UnixMs): boolean {
  return scanQuestions.some((question) => {
    const { since, failure } = health[question]
    return since !== null && failure !== null && now - failure.at > quietMs
  })
}
