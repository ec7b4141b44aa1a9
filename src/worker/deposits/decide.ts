import * as z from 'zod/mini'
import { parsePosition, parseTxid } from '../chain/block.ts'
import type { DeciderName } from '../common/ids.ts'
import type { DecideReason } from '../common/reasons.ts'
import { isReadableRemark, remarkCharsMax } from '../common/remark.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { type DecisionKind, decisionKinds } from '../d1/tables.ts'
import type { WriteContext } from '../ledger/context.ts'
import { configured } from '../ledger/currencies.ts'
import { findStop, type Stopper } from '../ledger/stops.ts'
import type { Deposit } from './deposit.ts'
import { type ReviewStep, selectDecisionFacts, storeDecisions } from './store/decisions.ts'
import { selectDeposits } from './store/lists.ts'
import { type CreditKey, judgeReviewed, knownOf } from './transfer.ts'
import { decideReview } from './transitions.ts'

/** Most decisions in one request. All of them are stored, or none. */
export const decisionsMax = 20
/** Most attempts if concurrent requests or scans keep changing the transfers. */
const triesMax = 3

/**
 * Why the whole request was refused. `deposit` counts the decisions of the request from 1 and names
 * the faulty one. `why` is one sentence for people.
 */
export type DecideFailure =
  | { readonly kind: 'bad-input'; readonly deposit?: number; readonly member: string; readonly why: string }
  /** No stored transfer to a user has this txid and position. */
  | { readonly kind: 'not-found'; readonly deposit: number; readonly why: string }
  /**
   * The transfer is not held for review, or it was decided to credit it. Or the chain is forked:
   * then `deposit` is absent.
   */
  | { readonly kind: 'conflict'; readonly deposit?: number; readonly reason: DecideReason; readonly why: string }

/** The transfers of a request as they are now, in the order of the request. */
export interface Decided {
  readonly deposits: readonly Deposit[]
  /** Whether every decision in the request had been made before. */
  readonly replayed: boolean
}

interface Decision extends CreditKey {
  readonly decision: DecisionKind
  readonly why: string
}

const listExpected = `an array of 1 to ${decisionsMax} decisions`
const decisionExpected = 'an object with txid, position, decision and why, and nothing else'
const txidExpected = '64 hex digits, optionally prefixed with 0x'
const positionExpected = 'the position of the transfer, as it is listed'
const whyExpected = `1 to ${remarkCharsMax} characters that can be read, without control characters or those that turn the direction of text`

/** The schema of one decision in a request; its messages are for the backend. */
export const decisionToMake = z.strictObject(
  {
    txid: z.string(txidExpected),
    position: z.union([z.int(), z.string()], positionExpected),
    decision: z.enum(decisionKinds, `one of ${decisionKinds.join(', ')}`),
    /** Why the person or backend decided this, for people. */
    why: z.string(whyExpected).check(z.refine(isReadableRemark, whyExpected)),
  },
  decisionExpected,
)

const decisionList = z
  .array(decisionToMake, listExpected)
  .check(z.minLength(1, listExpected), z.maxLength(decisionsMax, listExpected))

/**
 * Stores decisions about transfers that are held for review, all or none. `list` is unchecked, as
 * the backend sent it. Repeating a decision changes nothing and succeeds. A transfer that was
 * refused in its review can still be credited. A decision to credit is final.
 */
export async function decideDeposits(
  context: WriteContext,
  list: unknown,
  by: DeciderName,
): Promise<Result<Decided, DecideFailure>> {
  const parsed = parseDecisions(list)
  if (!parsed.ok) return parsed
  const { db, clock } = context
  for (let tries = 1; ; tries += 1) {
    const known = await selectDeposits(db, parsed.value)
    const open = openDecisions(parsed.value, known)
    if (!open.ok) return open
    const isReplay = open.value.length === 0
    const result = isReplay ? ok('stored' as const) : await applyDecisions(context, open.value, by, clock.now())
    if (!result.ok) return result
    if (result.value === 'changed' && tries < triesMax) continue
    if (result.value === 'changed') throw new Error('the transfers change faster than they are decided')
    const deposits = isReplay ? known : await selectDeposits(db, parsed.value)
    return ok({ deposits: deposits.filter((one) => one !== null), replayed: isReplay })
  }
}

/** What people and programs are told about each fact that stops a decision. */
const stopWords = {
  forked: {
    reason: 'chain-forked',
    why: 'the nodes show another chain than before: nothing is decided or credited until an operator has checked it',
  },
  'from-operator': {
    reason: 'from-operator',
    why: "its sender is an operator's wallet or the payout address: it is a movement, and no deposit",
  },
} as const satisfies Record<Stopper<'decide' | 'refuse'>, { readonly reason: DecideReason; readonly why: string }>

function parseDecisions(list: unknown): Result<readonly Decision[], DecideFailure> {
  const parsed = decisionList.safeParse(list)
  if (!parsed.success) {
    const { path: [index, member] = [], message = listExpected } = parsed.error.issues[0] ?? {}
    if (index === undefined) return err({ kind: 'bad-input', member: 'deposits', why: message })
    return err(fault(Number(index), String(member ?? 'deposit'), message))
  }
  const decided: Decision[] = []
  const places = new Map<string, number>()
  for (const [i, { txid: text, position: shown, ...rest }] of parsed.data.entries()) {
    const txid = parseTxid(text)
    if (!txid.ok) return err(fault(i, 'txid', txidExpected))
    const position = parsePosition(shown)
    if (position === null) return err(fault(i, 'position', positionExpected))
    const key = `${txid.value} ${position}`
    const first = places.get(key)
    if (first !== undefined) return err(fault(i, 'position', `another transfer than deposit ${first + 1}`))
    places.set(key, i)
    decided.push({ ...rest, position, txid: txid.value })
  }
  return ok(decided)
}

function fault(index: number, member: string, why: string): DecideFailure {
  return { kind: 'bad-input', deposit: index + 1, member, why }
}

/** A decision that is not stored yet, with its transfer. */
interface OpenDecision extends Decision {
  readonly deposit: Deposit
  /** The index of the decision in the request. */
  readonly index: number
}

/**
 * Leaves out decisions that are stored already. Fails if a transfer does not exist, or is neither
 * held for review nor refused in its review.
 */
function openDecisions(
  asked: readonly Decision[],
  known: readonly (Deposit | null)[],
): Result<readonly OpenDecision[], DecideFailure> {
  const open: OpenDecision[] = []
  for (const [i, one] of asked.entries()) {
    const deposit = known[i] ?? null
    if (deposit === null) return err({ kind: 'not-found', deposit: i + 1, why: 'no such transfer' })
    const { review, state } = deposit
    // this decision is stored already, even if the transfer is `seen` or `dropped` by now
    if (review === one.decision) continue
    if (deposit.reason === 'review') open.push({ ...one, deposit, index: i })
    else if (review === 'credit') return err(conflict(i, 'decided-otherwise', 'it was decided to credit it'))
    else return err(conflict(i, 'not-in-review', `it is ${state}, not held for review`))
  }
  return ok(open)
}

function conflict(index: number, reason: DecideReason, why: string): DecideFailure {
  return { kind: 'conflict', deposit: index + 1, reason, why }
}

/**
 * Stores decisions and what their transfers become by the configuration of now, all or none. Fails
 * if something that is known stops one of them. `changed`: one of the transfers has changed since
 * it was read, so nothing was stored.
 */
async function applyDecisions(
  { db, currencies, operators }: WriteContext,
  open: readonly OpenDecision[],
  by: DeciderName,
  at: UnixMs,
): Promise<Result<'stored' | 'changed', DecideFailure>> {
  const facts = await selectDecisionFacts(
    db,
    open.map(({ deposit }) => deposit),
  )
  const { decimals, operators: since, otherPayers } = facts
  const rules = { decimals, operators: { listed: operators, since, otherPayers } }
  const balances = new Map(facts.balances)
  const steps: ReviewStep[] = []
  for (const { decision, why, deposit, index } of open) {
    const currency = configured(deposit.cuy, currencies)
    const known = knownOf(deposit, currency, rules)
    const step = decision === 'credit' ? 'decide' : 'refuse'
    const stop = findStop(step, { ...known, forked: facts.isHalted })
    if (stop === 'forked') return err({ kind: 'conflict', ...stopWords.forked })
    if (stop !== null) return err(conflict(index, stopWords[stop].reason, stopWords[stop].why))
    steps.push({ change: decideReview(deposit, decision, judgeReviewed(deposit, currency, known), balances), why })
  }
  return ok(await storeDecisions(db, steps, by, at))
}
