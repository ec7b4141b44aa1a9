import { err, ok, type Result } from '../../common/result.ts'
import { formatUnits } from '../../common/amount.ts'
import { type AddressDecision, decideAddress, type TransferBytes } from './collect-address.ts'
import { createEnergyPool, type EnergyPool } from './energy-pool.ts'
import type { AddressFacts, ChainPrices, CollectWishes, GasFacts } from './facts.ts'
import type { CollectPlan, CollectStep, LeftOut, PlanCurrency } from './plan.ts'
import { chargedBytes, encodeStep, type StepContent, type TransactionHeader, txidOf } from './transaction.ts'

/** The parts of a plan that are decided. */
export type DecidedPlan = Pick<CollectPlan, 'steps' | 'leftOut'>

/** What the steps of one address are made with. */
interface PlanState {
  readonly header: TransactionHeader
  readonly wishes: CollectWishes
  readonly prices: ChainPrices
  readonly gas: GasFacts
  /** Whether the gas address has bandwidth for all of its steps. If not, all of them count as burnt: their order can change. */
  readonly hasBandwidth: boolean
  readonly pool: EnergyPool
  readonly steps: CollectStep[]
  readonly leftOut: LeftOut[]
  /** Sun that leaves the gas address. */
  spent: bigint
  /** Bytes of its steps. */
  bytes: number
  activations: number
}

/**
 * Decides the steps for these addresses, in their order. The error is one sentence for the operator: nothing of the plan
 * could work.
 */
export function decideSteps(
  header: TransactionHeader,
  addresses: readonly AddressFacts[],
  wishes: CollectWishes,
  prices: ChainPrices,
  gas: GasFacts,
): Result<DecidedPlan, string> {
  const decide = (hasBandwidth: boolean) => {
    const lists = { steps: [], leftOut: [] }
    const counts = { spent: 0n, bytes: 0, activations: 0 }
    const pool = createEnergyPool(gas)
    const state: PlanState = { header, wishes, prices, gas, hasBandwidth, pool, ...lists, ...counts }
    for (const facts of addresses) planAddress(state, facts)
    return state
  }
  const covered = decide(true)
  const { stakedBytes, freeBytes } = gas.resources
  const isEnough = covered.bytes <= stakedBytes || (covered.bytes <= freeBytes && covered.activations === 0)
  const state = isEnough ? covered : decide(false)
  const { steps, leftOut, spent } = state
  if (spent > gas.sun) {
    const [needed, has] = [formatUnits(spent, 6), formatUnits(gas.sun, 6)]
    return err(
      `the gas address ${gas.address} has ${has} TRX and the plan needs ${needed}: send it more, or narrow the plan`,
    )
  }
  return ok({ steps, leftOut })
}

function planAddress(state: PlanState, facts: AddressFacts): void {
  const skip = new Map<string, string>()
  const decide = () => decideAddress(facts, state.wishes, state.prices, bytesFrom(state, facts), skip)
  let decision = decide()
  for (let costly = costlyToken(state, facts, decision); costly; costly = costlyToken(state, facts, decision)) {
    skip.set(costly.symbol, costly.why)
    decision = decide()
  }
  addSteps(state, facts, decision)
}

/** The bytes of a transfer from an address. */
function bytesFrom({ header, prices }: PlanState, { index, address }: AddressFacts): TransferBytes {
  return ({ symbol }, units, energy) => {
    const place = { id: 1, index, address, after: [] }
    return chargedBytes(encodeStep(header, { ...place, ...transferDetail(prices, symbol, units, energy) }))
  }
}

function transferDetail({ sunPerEnergy, feeLimitMax }: ChainPrices, symbol: string, units: bigint, energy: bigint) {
  const all = energy * sunPerEnergy
  const feeLimit = `${all < feeLimitMax ? all : feeLimitMax}`
  return { kind: 'transfer', symbol, units: `${units}`, energy: Number(energy), feeLimit } as const
}

/**
 * A token that must stay, because the fees for the address are more than its tokens bring: the one with the least value.
 * Where the operator set neither a price nor a least balance for a token, its worth is unknown: it may cost nothing
 * then. Null where none must stay.
 */
function costlyToken(
  state: PlanState,
  facts: AddressFacts,
  decision: AddressDecision,
): { readonly symbol: string; readonly why: string } | null {
  const { trxPrice, min } = state.wishes
  const tokens = decision.transfers.filter(({ currency }) => currency.contract !== null)
  if (tokens.length === 0) return null
  const fees = tokens.reduce((sum, { fee }) => sum + fee, 0n)
  const cost = fees + gasCost(state, facts, decision)
  const costs = (sun: bigint) => `it costs up to ${formatUnits(sun, 6)} TRX`
  const unnamed = tokens.find(({ currency: { symbol } }) => !trxPrice.has(symbol) && !min.has(symbol))
  if (unnamed !== undefined && cost > 0n) {
    const { symbol } = unnamed.currency
    const most = fees + gasCost({ ...state, hasBandwidth: false }, facts, decision) // with it, bandwidth may not be enough
    const remedy = `set its price with --trx-price ${symbol}=..., or its least balance with --min ${symbol}=...`
    return { symbol, why: `${costs(most)}; ${remedy}` }
  }
  const priced = tokens.flatMap(({ currency: { symbol }, units }) => {
    const price = trxPrice.get(symbol)
    return price === undefined ? [] : [{ symbol, sun: (units * 1_000_000n) / price }]
  })
  if (priced.length < tokens.length || priced.reduce((sum, { sun }) => sum + sun, 0n) > cost) return null
  const [least] = priced.sort((a, b) => (a.sun < b.sun ? -1 : 1))
  return least === undefined ? null : { symbol: least.symbol, why: `${costs(cost)}, more than it brings` }
}

/** What the gas address burns for an address. It changes nothing. */
function gasCost(state: PlanState, facts: AddressFacts, decision: AddressDecision): bigint {
  const trial: PlanState = { ...state, pool: createEnergyPool(state.gas), steps: [], leftOut: [], spent: 0n }
  addSteps(trial, facts, decision)
  const sent = trial.steps.reduce((sum, step) => sum + (step.kind === 'gas' ? BigInt(step.sun) : 0n), 0n)
  return trial.spent - sent
}

function addSteps(state: PlanState, facts: AddressFacts, decision: AddressDecision): void {
  const { wishes, pool, gas } = state
  const tokens = decision.transfers.filter(({ currency }) => currency.contract !== null)
  state.leftOut.push(...decision.leftOut)
  let last: number[] = []
  let stake = 0n
  const canCollectTokens = () => {
    if (wishes.mode === 'transfer' || decision.missingEnergy === 0n) return true
    const taken = pool.take(decision.missingEnergy)
    if (taken === null) return false
    stake = taken.sun
    last = [...taken.after]
    return true
  }
  if (tokens.length > 0 && canCollectTokens()) {
    last = prepare(state, facts, decision, stake, last)
    for (const { currency, units, energy, bytes, fee } of tokens) {
      const detail = transferDetail(state.prices, currency.symbol, units, energy)
      last = [add(state, facts, detail, last, () => fee, bytes)]
    }
  } else {
    const why = `the stake of ${gas.address} has too little energy left today: stake more, or collect it tomorrow`
    for (const { currency, units } of tokens) state.leftOut.push(leftOutOf(facts, currency, units, why))
  }
  const back = stake + facts.delegatedBefore
  if (back > 0n) {
    const id = add(state, facts, { kind: 'undelegate', sun: `${back}` }, last, (bytes) => burn(state, bytes))
    if (stake > 0n) pool.giveBack(id, stake, decision.missingEnergy)
  }
  for (const { currency, units, bytes, fee } of decision.transfers.slice(tokens.length)) {
    add(state, facts, transferDetail(state.prices, currency.symbol, units, 0n), last, () => fee, bytes)
  }
}

/** Everything that the gas address does before the first token can move. Returns the step that it ends with. */
function prepare(
  state: PlanState,
  facts: AddressFacts,
  { missingSun }: AddressDecision,
  stake: bigint,
  after: number[],
): number[] {
  let last = after
  const isNew = facts.resources === null
  if (missingSun > 0n || (isNew && state.wishes.mode === 'transfer')) {
    const sun = missingSun > 0n ? missingSun : 1n // any amount creates the account
    state.spent += sun
    const fee = (bytes: number) => (isNew ? burnActivation(state, bytes) : burn(state, bytes))
    return [add(state, facts, { kind: 'gas', sun: `${sun}` }, last, fee)]
  }
  if (isNew) last = [add(state, facts, { kind: 'activate' }, last, (bytes) => burnActivation(state, bytes))]
  if (stake > 0n) last = [add(state, facts, { kind: 'delegate', sun: `${stake}` }, last, (bytes) => burn(state, bytes))]
  return last
}

/** What the gas address burns for the bytes of a step. */
function burn(state: PlanState, bytes: number): bigint {
  const fee = state.hasBandwidth ? 0n : BigInt(bytes) * state.prices.sunPerByte
  state.bytes += bytes
  state.spent += fee
  return fee
}

/** As `burn`, for a transaction that creates an account: the bytes have a fixed price, and the account has one. */
function burnActivation(state: PlanState, bytes: number): bigint {
  const { createAccountFee, newAccountFee } = state.prices
  const fee = (state.hasBandwidth ? 0n : createAccountFee) + newAccountFee
  state.bytes += bytes
  state.activations += 1
  state.spent += fee
  return fee
}

/** The members of a step that its kind decides. */
type StepDetail = StepContent extends infer Step
  ? Step extends unknown
    ? Omit<Step, 'id' | 'address' | 'index' | 'after'>
    : never
  : never

/** Adds a step with its transaction. Returns its id. `charged` are its bytes where they were counted before. */
function add(
  { header, steps }: PlanState,
  { index, address }: AddressFacts,
  detail: StepDetail,
  after: readonly number[],
  feeOf: (bytes: number) => bigint,
  charged?: number,
): number {
  const id = steps.length + 1
  const content = { ...detail, id, index, address, after: [...after] } as StepContent // safe: the parts of one kind
  const rawData = encodeStep(header, content)
  const bytes = charged ?? chargedBytes(rawData)
  steps.push({ ...content, bytes, fee: `${feeOf(bytes)}`, txid: txidOf(rawData) } as CollectStep)
  return id
}

function leftOutOf({ index, address }: AddressFacts, { symbol }: PlanCurrency, units: bigint, why: string): LeftOut {
  return { index, address, symbol, units: `${units}`, why }
}
