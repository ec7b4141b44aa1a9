import { transferArguments } from '../../worker/chain/transaction.ts'
import { formatTrx } from '../../worker/common/amount.ts'
import type { ChainPrices, EnergyEstimate, MinedInfo } from '../node-replies.ts'
import type { AgreedNodes } from '../nodes.ts'
import { burntForBytes } from './collect-address.ts'
import type { StopOf } from './issuer-stops.ts'
import { estimateTransfer, readAccount, readResources } from './node-api.ts'
import type { CollectPlan, CollectStep } from './plan.ts'
import { accountOf } from './transaction.ts'

export type SendOutcome =
  /**
   * This run has nothing more to do. `isExpired`: a final block is later than the plan's
   * expiration, so no new block can contain its transactions.
   */
  | { readonly kind: 'settled'; readonly isExpired: boolean }
  /**
   * The run ended before all steps were done. The same command goes on. `why` is one sentence for
   * the operator.
   */
  | { readonly kind: 'interrupted'; readonly why: string }

/**
 * The state of a step in this run. No state is stored, because the next run asks the chain again.
 */
export type StepState =
  /** The chain was not asked about the step yet. */
  | { readonly kind: 'unasked' }
  /** No block contains the step; it can be sent, or sent again. */
  | { readonly kind: 'waiting' }
  /** A node has accepted the step, but no block contains it yet. */
  | { readonly kind: 'sent'; readonly height: number }
  /**
   * A block contains the step; `isFinal` once that block is final. The step may have failed there.
   */
  | { readonly kind: 'mined'; readonly info: MinedInfo; readonly isFinal: boolean }
  /** The effect of the step exists already. */
  | { readonly kind: 'unneeded'; readonly why: string }
  /** Nodes refuse the step's transaction, or it has expired. It has burnt nothing. */
  | { readonly kind: 'refused'; readonly why: string }
  /**
   * This run does not send the step. If an earlier run has sent it, a block may still take it until
   * the plan expires.
   */
  | { readonly kind: 'unknown'; readonly why: string }
  /**
   * The step was not sent, and will not be, because a step before it did not succeed or the plan
   * has expired.
   */
  | { readonly kind: 'skipped'; readonly why: string }

/** The states of a plan's steps, by id. */
export type StepStates = Map<number, StepState>

/** Whether a waiting step can be sent. */
export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-yet' }
  | { readonly kind: 'never'; readonly why: string }
  | { readonly kind: 'unneeded'; readonly why: string }

/** The state of the step with this id; `unasked` if none was set. */
export function stateOf(states: StepStates, id: number): StepState {
  return states.get(id) ?? { kind: 'unasked' }
}

/** Whether this run has nothing more to do for a step, unless a fork removes its block. */
export function isSettled({ kind }: StepState): boolean {
  return kind !== 'unasked' && kind !== 'waiting' && kind !== 'sent'
}

/**
 * Whether the steps that wait for this one may be sent: it succeeded in a block, or its effect
 * existed already.
 */
export function isDone(state: StepState): boolean {
  return state.kind === 'unneeded' || (state.kind === 'mined' && state.info.isSuccess)
}

/**
 * Whether a waiting step can be sent. A step waits until all steps in its `after` are done. Only
 * `undelegate`, which takes energy back, does not need their success: it waits until they are
 * settled.
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
    // `not-yet` while the delegation is not settled: for example a fork has removed it from its
    // block, and another block may take it.
    return isSettled(stateOf(states, lent.id)) ? { kind: 'never', why: 'nothing was delegated' } : { kind: 'not-yet' }
  }
  if (step.kind !== 'transfer' && areTokensDone(plan, states, step)) {
    // a fork has removed this step from its block, but not the token transfers after it
    return { kind: 'unneeded', why: 'what it prepares is done' }
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

/** The result of measuring a step just before it is sent. */
export type Measured =
  | { readonly kind: 'as-planned' }
  /** The step would have no effect. */
  | { readonly kind: 'unneeded'; readonly why: string }
  /** The step would fail, because its address has changed since the plan. */
  | { readonly kind: 'differs'; readonly why: string }
  /**
   * The step would burn more than the plan says. The steps of other addresses would, too, so this
   * run begins no other address.
   */
  | { readonly kind: 'costlier'; readonly why: string }

type Transfer = CollectStep & { readonly kind: 'transfer' }

interface Measure {
  readonly prices: ChainPrices
  readonly stopOf: StopOf
}

const asPlanned: Measured = { kind: 'as-planned' }
const differs = (why: string): Measured => ({ kind: 'differs', why })
const costlier = (why: string): Measured => ({ kind: 'costlier', why })

/**
 * Measures a step on the newest state: since the plan, balances, energy and bandwidth may have
 * changed, and a busy contract's energy price may have grown.
 */
export async function measureStep(
  nodes: AgreedNodes,
  plan: CollectPlan,
  step: CollectStep,
  by: Measure,
): Promise<Measured> {
  const { prices } = by
  if (step.kind === 'transfer') return measureTransfer(nodes, plan, step, by)
  if (step.kind === 'undelegate') return asPlanned // brings back the operator's stake, whatever it costs
  const isNew = (await readAccount(nodes, accountOf(step.address))) === null
  if (step.kind === 'activate' && !isNew) return { kind: 'unneeded', why: 'the account exists by now' }
  const useless = await findUseless(nodes, plan, step, by)
  if (useless !== null) return differs(`nothing can be collected there by now: ${useless}`)
  // Compute again what the gas address burns for this step: other transactions may have used its
  // bandwidth since the plan.
  const left = await readResources(nodes, accountOf(plan.gas.address))
  const createsAccount = isNew && step.kind !== 'delegate'
  const isStaked = left.stakedBytes >= step.bytes
  const forNewAccount = (isStaked ? 0n : prices.createAccountFee) + prices.newAccountFee
  const burnt = createsAccount ? forNewAccount : burntForBytes(left, step.bytes, prices)
  if (burnt <= BigInt(step.fee)) return asPlanned
  return costlier(burnsMore(burnt, step, 'the gas address has less bandwidth than it had'))
}

/**
 * For a step that prepares an address: why no token of the address can be collected, or null if one
 * can be.
 */
async function findUseless(
  nodes: AgreedNodes,
  plan: CollectPlan,
  { address }: CollectStep,
  { stopOf }: Measure,
): Promise<string | null> {
  let why: string | null = null
  for (const step of plan.steps) {
    if (step.kind !== 'transfer' || step.address !== address) continue
    const stop = stopOf(step.symbol, address)
    const estimate = stop === null ? await estimateStep(nodes, plan, step) : null
    if (estimate?.kind === 'energy') return null
    why = stop ?? estimate?.why ?? why
  }
  return why
}

/**
 * Estimates the energy that a token's transfer takes; null for a transfer of TRX, which takes none.
 */
async function estimateStep(
  nodes: AgreedNodes,
  { to, currencies }: CollectPlan,
  { address, symbol, units }: Transfer,
): Promise<EnergyEstimate | null> {
  const contract = currencies.find((one) => one.symbol === symbol)?.contract ?? null
  if (contract === null) return null
  const parameter = transferArguments(accountOf(to), BigInt(units))
  return estimateTransfer(nodes, { from: accountOf(address), contract: accountOf(contract), parameter })
}

async function measureTransfer(
  nodes: AgreedNodes,
  plan: CollectPlan,
  step: Transfer,
  { prices, stopOf }: Measure,
): Promise<Measured> {
  const stop = stopOf(step.symbol, step.address)
  if (stop !== null) return differs(stop)
  const address = accountOf(step.address)
  const account = await readAccount(nodes, address)
  if (account === null) return differs('the account does not exist')
  const left = await readResources(nodes, address)
  const forBytes = burntForBytes(left, step.bytes, prices)
  const estimate = await estimateStep(nodes, plan, step)
  if (estimate === null) {
    if (forBytes > BigInt(step.fee)) return differs(burnsMore(forBytes, step, 'its free bytes of today are used up'))
    if (account.sun >= BigInt(step.units) + forBytes) return asPlanned
    return differs(`it holds only ${formatTrx(account.sun)} TRX by now`)
  }
  if (estimate.kind === 'refused') return differs(`the token's contract refuses it by now: ${estimate.why}`)
  const { energy } = estimate
  const burnt = forBytes + BigInt(Math.max(0, energy - left.energy)) * prices.sunPerEnergy
  const reason = `it needs ${energy} energy by now, and has ${left.energy}`
  if (burnt > BigInt(step.fee)) return costlier(burnsMore(burnt, step, reason))
  if (burnt > account.sun) return differs(`${reason}; it has too little TRX to burn`)
  if (BigInt(energy) * prices.sunPerEnergy > BigInt(step.feeLimit)) return costlier(`${reason}; its fee limit is lower`)
  return asPlanned
}

function burnsMore(sun: bigint, { fee }: CollectStep, why: string): string {
  return `it would burn ${formatTrx(sun)} TRX, and the plan says at most ${formatTrx(fee)}: ${why}`
}
