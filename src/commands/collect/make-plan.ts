import { txidOf } from '../../worker/chain/transaction.ts'
import { formatTrx } from '../../worker/common/amount.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import type { ChainPrices } from '../node-replies.ts'
import {
  type AddressDecision,
  type AddressFacts,
  type CollectWishes,
  decideAddress,
  type GasFacts,
} from './collect-address.ts'
import type { CollectPlan, CollectStep, LeftOut, PlanCurrency } from './plan.ts'
import { chargedBytes, encodeStep, type StepContent, type TransactionHeader } from './transaction.ts'

export type DecidedPlan = Pick<CollectPlan, 'steps' | 'leftOut'>

/** The state of a plan while it is made. Planning the steps of an address changes this state. */
interface PlanState {
  readonly header: TransactionHeader
  readonly wishes: CollectWishes
  readonly prices: ChainPrices
  readonly gas: GasFacts
  /**
   * Whether the gas address has bandwidth for all of its steps. If not, the plan counts burnt sun
   * for the bytes of every step, because the order of the steps may change.
   */
  readonly hasBandwidth: boolean
  readonly steps: CollectStep[]
  readonly leftOut: LeftOut[]
  /**
   * Sun of the stake that no step has delegated yet. A stake that is taken back is not delegated a
   * second time: its energy is used up, and recovers only within a day.
   */
  stakeLeft: bigint
  /** Sun that the gas address sends and burns. */
  spent: bigint
  /** Bytes of the gas address's steps. */
  bytes: number
  activations: number
}

/**
 * Decides the steps for these addresses, in their order. The error is one sentence for the
 * operator, which says that the gas address has too little TRX.
 */
export function decideSteps(
  header: TransactionHeader,
  addresses: readonly AddressFacts[],
  wishes: CollectWishes,
  prices: ChainPrices,
  gas: GasFacts,
): Result<DecidedPlan, string> {
  const decide = (hasBandwidth: boolean) => {
    const nothing = { steps: [], leftOut: [], spent: 0n, bytes: 0, activations: 0 }
    const state: PlanState = { header, wishes, prices, gas, hasBandwidth, stakeLeft: gas.delegatable, ...nothing }
    for (const facts of addresses) planAddress(state, facts)
    return state
  }
  const covered = decide(true)
  const { stakedBytes, freeBytes } = gas.resources
  const isEnough = covered.bytes <= stakedBytes || (covered.bytes <= freeBytes && covered.activations === 0)
  const state = isEnough ? covered : decide(false)
  const { steps, leftOut, spent } = state
  if (spent > gas.sun) {
    return err(`the gas address ${gas.address} has ${formatTrx(gas.sun)} TRX and the plan needs ${formatTrx(spent)}`)
  }
  return ok({ steps, leftOut })
}

function planAddress(state: PlanState, facts: AddressFacts): void {
  const skip = new Map<string, string>()
  for (let costly = findCostly(state, facts, skip); costly !== null; costly = findCostly(state, facts, skip)) {
    skip.set(costly.symbol, costly.why)
  }
  addSteps(state, facts, decide(state, facts, skip))
}

function decide({ header, wishes, prices }: PlanState, facts: AddressFacts, skip: ReadonlyMap<string, string>) {
  return decideAddress(header, facts, wishes, prices, skip)
}

/**
 * Finds the next token that is not worth collecting from an address, or null. Such a token costs at
 * least as much in fees as it is worth. If no single token does, but all tokens of the address
 * together do, it is the token of least worth. Without `--trx-price` and `--min` the worth of a
 * token is unknown and counts as 0.
 */
function findCostly(
  state: PlanState,
  facts: AddressFacts,
  skip: ReadonlyMap<string, string>,
): { readonly symbol: string; readonly why: string } | null {
  const { trxPrice, min } = state.wishes
  const total = costWithout(state, facts, skip)
  const tokens = tokensOf(decide(state, facts, skip)).map(({ currency: { symbol }, units }) => {
    const price = trxPrice.get(symbol)
    const unpriced = min.has(symbol) ? null : 0n // null: with --min the operator says that the token is worth its fees
    const cost = total - costWithout(state, facts, new Map([...skip, [symbol, '']]))
    return { symbol, cost, worth: price === undefined ? unpriced : (units * 1_000_000n) / price }
  })
  const isCostly = (worth: bigint | null, cost: bigint) => worth !== null && cost > 0n && worth <= cost
  const single = tokens.filter(({ worth, cost }) => isCostly(worth, cost))
  const sum = tokens.reduce<bigint | null>(
    (all, { worth }) => (worth === null || all === null ? null : all + worth),
    0n,
  )
  const found = single.length > 0 ? single : isCostly(sum, total) ? tokens : []
  const [least] = found.toSorted((a, b) => ((a.worth ?? 0n) < (b.worth ?? 0n) ? -1 : 1))
  if (least === undefined) return null
  const { symbol } = least
  const costs = `it costs up to ${formatTrx(single.length > 0 ? least.cost : total)} TRX`
  if (trxPrice.has(symbol)) return { symbol, why: `${costs}, more than it brings` }
  const remedy = `set its price with --trx-price ${symbol}=..., or its least balance with --min ${symbol}=...`
  return { symbol, why: `${costs}; ${remedy}` }
}

const tokensOf = ({ transfers }: AddressDecision) => transfers.filter(({ currency }) => currency.contract !== null)

/**
 * The sun that the address and the gas address burn to collect the address's tokens, except those
 * in `skip`. Does not change `state`.
 */
function costWithout(state: PlanState, facts: AddressFacts, skip: ReadonlyMap<string, string>): bigint {
  const decision = decide(state, facts, skip)
  const trial: PlanState = { ...state, steps: [], leftOut: [], spent: 0n }
  addSteps(trial, facts, decision)
  const sent = trial.steps.reduce((sum, step) => sum + (step.kind === 'gas' ? BigInt(step.sun) : 0n), 0n)
  return tokensOf(decision).reduce((sum, { fee }) => sum + fee, trial.spent - sent)
}

function addSteps(state: PlanState, facts: AddressFacts, decision: AddressDecision): void {
  const { header, gas } = state
  const tokens = tokensOf(decision)
  state.leftOut.push(...decision.leftOut)
  const needed = header.gas.mode === 'transfer' ? 0n : stakeFor(gas, decision.missingEnergy)
  const stake = needed > state.stakeLeft ? 0n : needed
  let last: number[] = []
  if (needed > state.stakeLeft) {
    const why = `the stake of ${gas.address} has too little energy left today: stake more, or collect it tomorrow`
    for (const { currency, units } of tokens) state.leftOut.push(leftOutOf(facts, currency, units, why))
  } else if (tokens.length > 0) {
    last = prepare(state, facts, decision, stake)
    for (const { detail, bytes, fee } of tokens) last = [add(state, facts, detail, last, () => fee, bytes)]
  }
  state.stakeLeft -= stake
  const back = stake + facts.delegatedBefore
  if (back > 0n) add(state, facts, { kind: 'undelegate', sun: `${back}` }, last, (bytes) => burn(state, bytes))
  for (const { detail, bytes, fee } of decision.transfers.slice(tokens.length)) {
    add(state, facts, detail, last, () => fee, bytes)
  }
}

/**
 * The stake, in sun, that gives this much energy in a day. Rounded up to whole TRX, because the
 * chain rounds the energy down.
 */
function stakeFor({ perTrx }: GasFacts, energy: bigint): bigint {
  // so never below 1 TRX, the least that can be delegated
  return energy === 0n ? 0n : ((energy * perTrx.trx) / perTrx.energy + 2n) * 1_000_000n
}

/**
 * Adds the steps by which the gas address prepares an address for its token transfers. Returns a
 * list with the id of the last such step; an empty list if no step is needed.
 */
function prepare(state: PlanState, facts: AddressFacts, { missingSun }: AddressDecision, stake: bigint): number[] {
  let last: number[] = []
  const isNew = facts.resources === null
  if (missingSun > 0n || (isNew && state.header.gas.mode === 'transfer')) {
    const sun = missingSun > 0n ? missingSun : 1n // any amount creates the account
    state.spent += sun
    const fee = (bytes: number) => (isNew ? burnActivation(state, bytes) : burn(state, bytes))
    return [add(state, facts, { kind: 'gas', sun: `${sun}` }, last, fee)]
  }
  if (isNew) last = [add(state, facts, { kind: 'activate' }, last, (bytes) => burnActivation(state, bytes))]
  if (stake > 0n) last = [add(state, facts, { kind: 'delegate', sun: `${stake}` }, last, (bytes) => burn(state, bytes))]
  return last
}

/** Counts the bytes of a step of the gas address, and returns the sun that it burns for them. */
function burn(state: PlanState, bytes: number): bigint {
  const fee = state.hasBandwidth ? 0n : BigInt(bytes) * state.prices.sunPerByte
  state.bytes += bytes
  state.spent += fee
  return fee
}

/**
 * Counts a transaction that creates an account, and returns the sun that it burns: a fixed price
 * for its bytes, and one for the account.
 */
function burnActivation(state: PlanState, bytes: number): bigint {
  const { createAccountFee, newAccountFee } = state.prices
  const fee = (state.hasBandwidth ? 0n : createAccountFee) + newAccountFee
  state.bytes += bytes
  state.activations += 1
  state.spent += fee
  return fee
}

/** The members of a step that depend on its kind. */
type StepDetail = StepContent extends infer Step
  ? Step extends unknown
    ? Omit<Step, 'id' | 'address' | 'index' | 'after'>
    : never
  : never

/**
 * Adds a step with its transaction, and returns the step's id. `charged` is the transaction's size
 * in bytes if the caller has already computed it.
 */
function add(
  { header, steps }: PlanState,
  { index, address }: AddressFacts,
  detail: StepDetail,
  after: readonly number[],
  feeOf: (bytes: number) => bigint,
  charged?: number,
): number {
  const id = steps.length + 1
  // safe: `detail` has all members of one kind
  const content = { ...detail, id, index, address, after: [...after] } as StepContent
  const rawData = encodeStep(header, content)
  const bytes = charged ?? chargedBytes(rawData)
  steps.push({ ...content, bytes, fee: `${feeOf(bytes)}`, txid: txidOf(rawData) } as CollectStep)
  return id
}

function leftOutOf({ index, address }: AddressFacts, { symbol }: PlanCurrency, units: bigint, why: string): LeftOut {
  return { index, address, symbol, units: `${units}`, why }
}
