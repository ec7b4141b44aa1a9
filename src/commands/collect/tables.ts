import { formatTrx, formatUnits } from '../../worker/common/amount.ts'
import type { CollectPlan, CollectStep, LeftOut, PlanCurrency } from './plan.ts'
import { isDone, type SendOutcome, type StepState, type StepStates, stateOf } from './step-state.ts'

const stepNames: Readonly<Record<CollectStep['kind'], string>> = {
  activate: 'create account',
  gas: 'send TRX for gas',
  delegate: 'delegate energy',
  undelegate: 'take energy back',
  transfer: 'transfer',
}

/** A step's name and amount, for people. */
export function describeStep(plan: Pick<CollectPlan, 'currencies'>, step: CollectStep): string {
  const name = stepNames[step.kind]
  switch (step.kind) {
    case 'activate':
      return name
    case 'gas':
      return `${name}: ${formatTrx(step.sun)} TRX`
    case 'delegate':
    case 'undelegate':
      return `${name}: ${formatTrx(step.sun)} TRX of stake`
    case 'transfer':
      return `${name} ${formatAmount(plan.currencies, step.symbol, step.units)}`
  }
}

/** The lines of a plan: one for each transaction, then the balances that stay. */
export function planTable(plan: CollectPlan): readonly string[] {
  const rows = plan.steps.map((step) => [
    `${step.id}`,
    `${step.index}`,
    step.address,
    describeStep(plan, step),
    formatTrx(step.fee),
    step.after.join(', '),
  ])
  const header = ['step', 'index', 'address', 'what', 'fee up to, TRX', 'after step']
  const leftOut = plan.leftOut.map((one) => {
    return `  index ${one.index}  ${one.address}  ${describeLeftOut(plan.currencies, one)}: ${one.why}`
  })
  const table = rows.length === 0 ? [] : [...alignColumns([header, ...rows]), '']
  return [...table, ...(leftOut.length === 0 ? [] : ['Left out:', ...leftOut, ''])]
}

/** The lines that a person reads before signing: destination, sums, fees, expiry. */
export function planSummary(plan: CollectPlan): readonly string[] {
  const { steps, gas } = plan
  const sumOf = (part: readonly CollectStep[], amount: (step: CollectStep) => bigint) =>
    part.reduce((sum, step) => sum + amount(step), 0n)
  const feeOf = (step: CollectStep) => BigInt(step.fee)
  const sunOf = (step: CollectStep) => ('sun' in step ? BigInt(step.sun) : 0n)
  const feeLimitOf = (step: CollectStep) => ('feeLimit' in step ? BigInt(step.feeLimit) : 0n)
  const of = (kind: CollectStep['kind']) => steps.filter((step) => step.kind === kind)
  const transfers = of('transfer')
  const others = steps.filter(({ kind }) => kind !== 'transfer')
  const counts = (Object.keys(stepNames) as CollectStep['kind'][]).flatMap((kind) => {
    return of(kind).length === 0 ? [] : [`${of(kind).length} × ${stepNames[kind]}`]
  })
  const gasText =
    gas.mode === 'delegate'
      ? `energy of the stake of ${gas.address}, taken back`
      : `${formatTrx(sumOf(of('gas'), sunOf))} TRX, sent by ${gas.address}`
  return [
    `Destination   ${plan.to}`,
    ...collected(plan).map((line, i) => `${i === 0 ? 'Collects' : ''}`.padEnd(14) + line),
    `Transactions  ${steps.length}: ${counts.join(', ') || 'none'}`,
    `Gas           ${gasText}`,
    `Fees          at most ${formatTrx(sumOf(steps, feeOf))} TRX: ${formatTrx(sumOf(others, feeOf))} by the gas address, ` +
      `${formatTrx(sumOf(transfers, feeOf))} by the collected addresses`,
    `Fee limits    ${formatTrx(sumOf(transfers, feeLimitOf))} TRX: what the contracts of tokens could burn, were the plan wrong`,
    `Valid until   ${plan.expiresAt}, on chain ${plan.chainId} with block ${plan.reference.height}`,
    ...(plan.leftOut.length === 0 ? [] : [`Left out      ${plan.leftOut.length}`]),
  ]
}

function collected({ steps, currencies }: CollectPlan): readonly string[] {
  const lines = currencies.flatMap((currency) => {
    const transfers = steps.flatMap((step) =>
      step.kind === 'transfer' && step.symbol === currency.symbol ? [step] : [],
    )
    const sum = transfers.reduce((total, { units }) => total + BigInt(units), 0n)
    const count = transfers.length === 1 ? '1 transfer' : `${transfers.length} transfers`
    const from = currency.contract === null ? '' : `, contract ${currency.contract}`
    return transfers.length === 0
      ? []
      : [`${formatUnits(sum, currency.decimals)} ${currency.symbol} in ${count}${from}`]
  })
  return lines.length === 0 ? ['nothing'] : lines
}

function formatAmount(currencies: readonly PlanCurrency[], symbol: string, units: string): string {
  const decimals = currencies.find((one) => one.symbol === symbol)?.decimals ?? 0
  return `${formatUnits(BigInt(units), decimals)} ${symbol}`
}

function describeLeftOut(currencies: readonly PlanCurrency[], { symbol, units }: LeftOut): string {
  return units === '0' ? symbol : formatAmount(currencies, symbol, units)
}

/** Columns of equal width, separated by two spaces. */
function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/**
 * The lines printed at the end of `collect -- send`: the result and real cost of each step, and
 * what to do about steps that did not succeed.
 */
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

/** Whether every step has succeeded or was not needed. */
export function isComplete(plan: CollectPlan, states: StepStates): boolean {
  return plan.steps.every(({ id }) => isDone(stateOf(states, id)))
}

function describeState(state: StepState): string {
  switch (state.kind) {
    case 'unasked':
    case 'unknown':
      return 'not known'
    case 'waiting':
      return 'in no block'
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
  const isOpen = plan.steps.some(({ id }) => ['unknown', 'refused'].includes(stateOf(states, id).kind))
  if (outcome.isExpired || !isOpen) return `Ended: make a new plan for the rest.${lent}`
  const until = `Until ${plan.expiresAt} the rest can still come into a block, if an earlier run has sent it.`
  return `Ended. ${until} Run the same command again after that: it says then what a new plan is needed for.`
}

const plannedFee = ({ steps }: CollectPlan) => steps.reduce((sum, { fee }) => sum + BigInt(fee), 0n)
