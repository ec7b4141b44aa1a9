import type { CollectPlan, CollectStep } from './plan.ts'
import { alignColumns, describeStep, formatTrx } from './plan-table.ts'
import type { SendOutcome } from './send-plan.ts'
import { isDone, isSettled, type StepState, type StepStates, stateOf } from './step-state.ts'

/** What happened to each step, what it really cost, and what to do about the rest. */
export function reportLines(plan: CollectPlan, states: StepStates, outcome: SendOutcome): readonly string[] {
  const rows = plan.steps.map((step) => {
    const state = stateOf(states, step.id)
    const info = state.kind === 'mined' ? state.info : null
    const cost = info === null ? ['', ''] : [`${info.energy}`, formatTrx(info.fee)]
    return [`${step.id}`, step.address, describeStep(plan, step), describeState(state), ...cost, step.txid]
  })
  const header = ['step', 'address', 'what', 'result', 'energy', 'burnt, TRX', 'txid']
  const mined = plan.steps.flatMap(({ id }) => {
    const state = stateOf(states, id)
    return state.kind === 'mined' ? [state.info] : []
  })
  const fee = mined.reduce((sum, info) => sum + info.fee, 0n)
  const energy = mined.reduce((sum, info) => sum + info.energy, 0)
  return [
    ...alignColumns([header, ...rows]),
    '',
    ...plan.steps.flatMap((step) => whyLine(step, stateOf(states, step.id))),
    `${plan.steps.filter(({ id }) => isDone(stateOf(states, id))).length} of ${plan.steps.length} transactions succeeded: ` +
      `${energy} energy used, ${formatTrx(fee)} TRX burnt (the plan said at most ${formatTrx(plannedFee(plan))}).`,
    closing(plan, states, outcome),
  ]
}

/** Whether everything that the plan says was done. */
export function isComplete(plan: CollectPlan, states: StepStates): boolean {
  return plan.steps.every(({ id }) => isDone(stateOf(states, id)))
}

function describeState(state: StepState): string {
  switch (state.kind) {
    case 'waiting':
      return 'not sent'
    case 'sent':
      return 'sent, in no block'
    case 'mined':
      return `${state.info.isSuccess ? 'done' : 'FAILED'} in block ${state.info.height}${state.isFinal ? '' : ', not final'}`
    case 'unneeded':
      return 'not needed'
    case 'refused':
      return 'REFUSED'
    case 'skipped':
      return 'not sent'
  }
}

function whyLine({ id }: CollectStep, state: StepState): string[] {
  if (state.kind === 'mined' && !state.info.isSuccess) return [`Step ${id}: ${state.info.message}`]
  return 'why' in state ? [`Step ${id}: ${state.why}`] : []
}

function closing(plan: CollectPlan, states: StepStates, outcome: SendOutcome): string {
  if (outcome.kind === 'interrupted')
    return `Interrupted: ${outcome.why}. Run the same command again: nothing is sent twice.`
  if (isComplete(plan, states)) return 'Complete, and final.'
  const isLent = plan.steps.some((step) => {
    if (step.kind !== 'delegate' || !isDone(stateOf(states, step.id))) return false
    const back = plan.steps.find((one) => one.kind === 'undelegate' && one.address === step.address)
    return back === undefined || !isDone(stateOf(states, back.id))
  })
  const lent = isLent ? ' Energy is still delegated: a new plan takes it back.' : ''
  const isAllSettled = plan.steps.every(({ id }) => isSettled(stateOf(states, id)))
  return `${isAllSettled ? 'Ended' : 'Unfinished'}: make a new plan for the rest.${lent}`
}

const plannedFee = ({ steps }: CollectPlan) => steps.reduce((sum, { fee }) => sum + BigInt(fee), 0n)
