import { type Address, parseAddress } from '../../chain/address.ts'
import { burntForBytes } from './collect-address.ts'
import type { ChainPrices, EnergyEstimate } from './facts.ts'
import { estimateTransfer, readAccount, readResources } from './node-api.ts'
import type { CollectNodes } from './nodes.ts'
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

type Transfer = CollectStep & { readonly kind: 'transfer' }

const asPlanned: Measured = { kind: 'as-planned' }
const differs = (why: string): Measured => ({ kind: 'differs', why })
const costlier = (why: string): Measured => ({ kind: 'costlier', why })

/**
 * Measures a step on the newest state: balances, energy and bandwidth can have changed since the plan, and a busy contract's
 * price grows.
 */
export async function measureStep(
  nodes: CollectNodes,
  plan: CollectPlan,
  step: CollectStep,
  prices: ChainPrices,
): Promise<Measured> {
  if (step.kind === 'transfer') return measureTransfer(nodes, plan, step, prices)
  if (step.kind === 'undelegate') return asPlanned // brings back the operator's own, whatever it costs
  const isNew = (await readAccount(nodes, accountOf(step.address))) === null
  if (step.kind === 'activate' && !isNew) return { kind: 'unneeded', why: 'the account exists by now' }
  const useless = await findUseless(nodes, plan, step)
  if (useless !== null) return differs(`nothing can be collected there by now: ${useless}`)
  // What the gas address burns: its bandwidth can have been used for something else since the plan.
  const left = await readResources(nodes, accountOf(plan.gas.address))
  const createsAccount = isNew && step.kind !== 'delegate'
  const isStaked = left.stakedBytes >= step.bytes
  const forNewAccount = (isStaked ? 0n : prices.createAccountFee) + prices.newAccountFee
  const burnt = createsAccount ? forNewAccount : burntForBytes(left, step.bytes, prices)
  if (burnt <= BigInt(step.fee)) return asPlanned
  return costlier(burnsMore(burnt, step, 'the gas address has less bandwidth than it had'))
}

/** Why none of the tokens can be collected for which a step prepares their address, or null where one can. */
async function findUseless(nodes: CollectNodes, plan: CollectPlan, { address }: CollectStep): Promise<string | null> {
  let why: string | null = null
  for (const step of plan.steps) {
    if (step.kind !== 'transfer' || step.address !== address) continue
    const estimate = await estimateStep(nodes, plan, step)
    if (estimate?.kind === 'energy') return null
    why = estimate?.why ?? why
  }
  return why
}

/** The energy of a token's transfer; null for TRX. */
async function estimateStep(
  nodes: CollectNodes,
  { to, currencies }: CollectPlan,
  { address, symbol, units }: Transfer,
): Promise<EnergyEstimate | null> {
  const contract = currencies.find((one) => one.symbol === symbol)?.contract ?? null
  if (contract === null) return null
  const parameter = transferParameters(accountOf(to), BigInt(units))
  return estimateTransfer(nodes, { from: accountOf(address), contract: accountOf(contract), parameter })
}

async function measureTransfer(
  nodes: CollectNodes,
  plan: CollectPlan,
  step: Transfer,
  prices: ChainPrices,
): Promise<Measured> {
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

function accountOf(base58: string): Address {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error(`not an address: ${base58}`) // a plan is parsed before
  return parsed.value
}
