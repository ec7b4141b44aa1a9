import type { MinedInfo } from './node-api.ts'
import type { CollectPlan, CollectStep } from './plan.ts'

/** How far a step is. Nothing of it is stored: the chain knows. */
export type StepState =
  | { readonly kind: 'waiting' }
  /** A node has it, or says so; it is in no block. */
  | { readonly kind: 'sent'; readonly height: number }
  /** In a block; `isFinal` once that block is. It can have failed there. */
  | { readonly kind: 'mined'; readonly info: MinedInfo; readonly isFinal: boolean }
  /** What it would do is done already. */
  | { readonly kind: 'unneeded'; readonly why: string }
  /** Nodes do not take it, or it expired. It burnt nothing. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It was not sent. */
  | { readonly kind: 'skipped'; readonly why: string }

/** The states of a plan's steps, by id. */
export type StepStates = Map<number, StepState>

/** What is to be done with a step that waits. */
export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-yet' }
  | { readonly kind: 'never'; readonly why: string }
  | { readonly kind: 'unneeded'; readonly why: string }

/** The state of a step. */
export function stateOf(states: StepStates, id: number): StepState {
  return states.get(id) ?? { kind: 'waiting' }
}

/** Whether nothing more can happen to a step, other than by a fork. */
export function isSettled({ kind }: StepState): boolean {
  return kind !== 'waiting' && kind !== 'sent'
}

/** Whether a step has done what the steps after it need. */
export function isDone(state: StepState): boolean {
  return state.kind === 'unneeded' || (state.kind === 'mined' && state.info.isSuccess)
}

/**
 * Whether a waiting step can be sent. Energy is taken back as soon as its address has no use for it, whatever happened there;
 * everything else needs what comes before it.
 */
export function readinessOf(plan: CollectPlan, states: StepStates, step: CollectStep): Readiness {
  const before = step.after.map((id) => stateOf(states, id))
  if (step.kind === 'undelegate') {
    if (!before.every(isSettled)) return { kind: 'not-yet' }
    const lent = plan.steps.find((one) => one.kind === 'delegate' && one.address === step.address)
    if (lent !== undefined && stateOf(states, lent.id).kind === 'unneeded') {
      return { kind: 'unneeded', why: 'nothing was delegated' }
    }
    if (lent === undefined || isDone(stateOf(states, lent.id))) return { kind: 'ready' }
    // After a fork the delegation can come again.
    return isSettled(stateOf(states, lent.id)) ? { kind: 'never', why: 'nothing was delegated' } : { kind: 'not-yet' }
  }
  if (step.kind !== 'transfer' && areTokensDone(plan, states, step)) {
    return { kind: 'unneeded', why: 'what it prepares is done' } // a fork has removed it, and not what came after it
  }
  const failed = step.after.find((id) => isSettled(stateOf(states, id)) && !isDone(stateOf(states, id)))
  if (failed !== undefined) return { kind: 'never', why: `step ${failed} did not succeed` }
  return before.every(isDone) ? { kind: 'ready' } : { kind: 'not-yet' }
}

function areTokensDone({ steps, currencies }: CollectPlan, states: StepStates, { address }: CollectStep): boolean {
  const isToken = (symbol: string) => currencies.some((one) => one.symbol === symbol && one.contract !== null)
  const tokens = steps.filter((one) => one.kind === 'transfer' && one.address === address && isToken(one.symbol))
  return tokens.length > 0 && tokens.every(({ id }) => isDone(stateOf(states, id)))
}
