import { type Address, parseAddress } from '../../chain/address.ts'
import { ok, type Result } from '../../common/result.ts'
import type { ChainPrices, EnergyEstimate } from './facts.ts'
import type { CollectNodes } from './node-access.ts'
import { estimateTransfer, readAccount, readResources } from './node-api.ts'
import type { CollectPlan, CollectStep } from './plan.ts'
import { formatTrx } from './plan-table.ts'
import { transferParameters } from './transaction.ts'

/** What is known of a step just before it is sent. */
export type Measured =
  | { readonly kind: 'as-planned' }
  /** It would do nothing. */
  | { readonly kind: 'unneeded'; readonly why: string }
  /** It would fail: its address changed since the plan. */
  | { readonly kind: 'differs'; readonly why: string }
  /** It would burn more than the plan says, as others will: nothing new is begun. */
  | { readonly kind: 'costlier'; readonly why: string }

const asPlanned: Result<Measured, string> = ok({ kind: 'as-planned' })
const differs = (why: string): Result<Measured, string> => ok({ kind: 'differs', why })
const costlier = (why: string): Result<Measured, string> => ok({ kind: 'costlier', why })

/**
 * Measures a step on the newest state: balances, energy and bandwidth can have changed since the plan, and a busy contract's
 * price grows. The error is one sentence: no node answered.
 */
export async function measureStep(
  nodes: CollectNodes,
  plan: CollectPlan,
  step: CollectStep,
  prices: ChainPrices,
): Promise<Result<Measured, string>> {
  const address = accountOf(step.address)
  if (step.kind === 'transfer') return measureTransfer(nodes, plan, step, address, prices)
  if (step.kind === 'undelegate') return asPlanned // brings back the operator's own, whatever it costs
  const answer = await readAccount(nodes, address)
  if (!answer.ok) return answer
  const isNew = answer.value.account === null
  if (step.kind === 'activate' && !isNew) return ok({ kind: 'unneeded', why: 'the account exists by now' })
  const useless = await findUseless(nodes, plan, step, address)
  if (!useless.ok) return useless
  if (useless.value !== null) return differs(`nothing can be collected there by now: ${useless.value}`)
  return measureGas(nodes, plan, step, isNew, prices)
}

/** Why none of the tokens can be collected for which a step prepares their address, or null where one can. */
async function findUseless(
  nodes: CollectNodes,
  plan: CollectPlan,
  step: CollectStep,
  from: Address,
): Promise<Result<string | null, string>> {
  let why: string | null = null
  for (const transfer of plan.steps) {
    if (transfer.kind !== 'transfer' || transfer.address !== step.address) continue
    const contract = contractOf(plan, transfer)
    if (contract === null) continue
    const estimate = await estimateStep(nodes, plan, transfer, from, contract)
    if (!estimate.ok) return estimate
    if (estimate.value.kind === 'energy') return ok(null)
    why = estimate.value.why
  }
  return ok(why)
}

type Transfer = CollectStep & { readonly kind: 'transfer' }

/** The contract of a token, null for TRX. */
function contractOf({ currencies }: CollectPlan, { symbol }: Transfer): Address | null {
  const contract = currencies.find((one) => one.symbol === symbol)?.contract ?? null
  return contract === null ? null : accountOf(contract)
}

function estimateStep(
  nodes: CollectNodes,
  { to }: CollectPlan,
  { units }: Transfer,
  from: Address,
  contract: Address,
): Promise<Result<EnergyEstimate, string>> {
  return estimateTransfer(nodes, { from, contract, parameter: transferParameters(accountOf(to), BigInt(units)) })
}

/** What the gas address burns for a step: its bandwidth can have been used for something else since the plan. */
async function measureGas(
  nodes: CollectNodes,
  plan: CollectPlan,
  step: CollectStep,
  isNew: boolean,
  prices: ChainPrices,
): Promise<Result<Measured, string>> {
  const resources = await readResources(nodes, accountOf(plan.gas.address))
  if (!resources.ok) return resources
  const { stakedBytes, freeBytes } = resources.value
  const createsAccount = isNew && (step.kind === 'activate' || step.kind === 'gas')
  const isFree = stakedBytes >= step.bytes || (!createsAccount && freeBytes >= step.bytes)
  const forBytes = createsAccount ? prices.createAccountFee : BigInt(step.bytes) * prices.sunPerByte
  const burnt = (isFree ? 0n : forBytes) + (createsAccount ? prices.newAccountFee : 0n)
  if (burnt <= BigInt(step.fee)) return asPlanned
  return costlier(burnsMore(burnt, step, 'the gas address has less bandwidth than it had'))
}

async function measureTransfer(
  nodes: CollectNodes,
  plan: CollectPlan,
  step: Transfer,
  address: Address,
  prices: ChainPrices,
): Promise<Result<Measured, string>> {
  const answer = await readAccount(nodes, address)
  if (!answer.ok) return answer
  const { account } = answer.value
  if (account === null) return differs('the account does not exist')
  const resources = await readResources(nodes, address)
  if (!resources.ok) return resources
  const { stakedBytes, freeBytes, energy: own } = resources.value
  const isFree = stakedBytes >= step.bytes || freeBytes >= step.bytes
  const forBytes = isFree ? 0n : BigInt(step.bytes) * prices.sunPerByte
  const contract = contractOf(plan, step)
  if (contract === null) {
    if (forBytes > BigInt(step.fee)) return differs(burnsMore(forBytes, step, 'its free bytes of today are used up'))
    if (account.sun >= BigInt(step.units) + forBytes) return asPlanned
    return differs(`it holds only ${formatTrx(account.sun)} TRX by now`)
  }
  const estimate = await estimateStep(nodes, plan, step, address, contract)
  if (!estimate.ok) return estimate
  if (estimate.value.kind === 'refused') return differs(`the token's contract refuses it by now: ${estimate.value.why}`)
  const { energy } = estimate.value
  const burnt = forBytes + BigInt(Math.max(0, energy - own)) * prices.sunPerEnergy
  const reason = `it needs ${energy} energy by now, and has ${own}`
  if (burnt > BigInt(step.fee)) return costlier(burnsMore(burnt, step, reason))
  if (burnt > account.sun) return differs(`${reason}; it has too little TRX to burn`)
  if (BigInt(energy) * prices.sunPerEnergy > BigInt(step.feeLimit)) return costlier(`${reason}; its fee limit is lower`)
  return asPlanned
}

function burnsMore(sun: bigint, { fee }: CollectStep, why: string): string {
  return `it would burn ${formatTrx(sun)} TRX, and the plan says at most ${formatTrx(fee)}: ${why}`
}

function accountOf(base58: string): Address {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error(`not an address: ${base58}`) // a plan is parsed before
  return parsed.value
}
