import type { LeftOut, PlanCurrency } from './plan.ts'
import { chargedBytes, encodeStep, type TransactionHeader } from './transaction.ts'

/**
 * Energy that is planned above what was measured, in percent: the price of a busy contract grows within hours, and a
 * transfer that runs out of energy fails and pays all the same.
 */
const energyHeadroomPercent = 20n

/** Prices and limits of the chain, as a node reports them. Amounts are sun. */
export interface ChainPrices {
  readonly sunPerByte: bigint
  readonly sunPerEnergy: bigint
  /** For the bytes of a transaction that creates an account, without staked bandwidth. */
  readonly createAccountFee: bigint
  /** For the account itself. */
  readonly newAccountFee: bigint
  readonly feeLimitMax: bigint
  /** Free bytes of an account in a day. */
  readonly freeBytes: number
}

/** What an account has left today. Units of energy, bytes. */
export interface AccountResources {
  readonly energy: number
  /** From a stake or a delegation. */
  readonly stakedBytes: number
  readonly freeBytes: number
}

/** The energy of one transfer, measured by a constant call, or why the token's contract refuses it. */
export type EnergyEstimate =
  | { readonly kind: 'energy'; readonly energy: number }
  | { readonly kind: 'refused'; readonly why: string }

/** A token that an address holds. */
export interface TokenHolding {
  readonly currency: PlanCurrency
  readonly units: bigint
  readonly estimate: EnergyEstimate
}

/** What is known of an address before a plan is made. */
export interface AddressFacts {
  readonly index: number
  readonly address: string
  /** Null if the nodes do not agree. */
  readonly sun: bigint | null
  readonly tokens: readonly TokenHolding[]
  /** Null: the account does not exist, though it can hold tokens. */
  readonly resources: AccountResources | null
  /** Whether its own key can still sign: an owner permission can name another one. */
  readonly hasOwnKey: boolean
  /** Sun of the gas address's stake that an earlier collection delegated to it and did not take back. */
  readonly delegatedBefore: bigint
}

/** The operator's address that pays for gas. */
export interface GasFacts {
  readonly address: string
  readonly sun: bigint
  readonly resources: AccountResources
  /** Sun of its stake that can be delegated now. */
  readonly delegatable: bigint
  /** Units of energy that `perTrx.trx` staked TRX give. */
  readonly perTrx: { readonly energy: bigint; readonly trx: bigint }
}

/** Everything that a plan is decided from. */
export interface CollectFacts {
  readonly addresses: readonly AddressFacts[]
  /** Balances that the nodes do not agree on. */
  readonly leftOut: readonly LeftOut[]
  readonly prices: ChainPrices
  readonly gas: GasFacts
}

/** What the balances are worth to the operator. */
export interface CollectWishes {
  /** Least balance by symbol, in smallest units. It is the operator's word that such a balance is worth its fees. */
  readonly min: ReadonlyMap<string, bigint>
  /** What one TRX costs by symbol, in the token's smallest units, above 0. */
  readonly trxPrice: ReadonlyMap<string, bigint>
}

/** One transfer from an address, decided: what moves, its step, and the most that it burns of the address's own TRX. */
export interface PlannedTransfer extends ReturnType<typeof transferOf> {
  readonly fee: bigint
}

/** What one address contributes to a plan, before the gas address's own costs. */
export interface AddressDecision {
  readonly transfers: readonly PlannedTransfer[]
  /** Energy that the address does not have itself. */
  readonly missingEnergy: bigint
  /** Sun that it must be sent, above what it has. */
  readonly missingSun: bigint
  readonly leftOut: readonly LeftOut[]
}

type Bandwidth = Pick<AccountResources, 'stakedBytes' | 'freeBytes'>

/** The sun that a transaction burns for its bytes: all of them are covered by one kind of bandwidth, or none is. */
export function burntForBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number, prices: ChainPrices): bigint {
  return stakedBytes >= bytes || freeBytes >= bytes ? 0n : BigInt(bytes) * prices.sunPerByte
}

/** The bandwidth after a transaction. */
function afterBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number): Bandwidth {
  if (stakedBytes >= bytes) return { stakedBytes: stakedBytes - bytes, freeBytes }
  return { stakedBytes, freeBytes: freeBytes >= bytes ? freeBytes - bytes : freeBytes }
}

/** A transfer from an address: the members of its step, and its bytes. `energy` has the headroom; 0n for TRX. */
function transferOf(
  header: TransactionHeader,
  { index, address }: AddressFacts,
  { sunPerEnergy, feeLimitMax }: ChainPrices,
  { currency, units, energy }: { currency: PlanCurrency; units: bigint; energy: bigint },
) {
  const all = energy * sunPerEnergy
  const feeLimit = `${all < feeLimitMax ? all : feeLimitMax}`
  const amounts = { symbol: currency.symbol, units: `${units}`, energy: Number(energy), feeLimit }
  const detail = { kind: 'transfer', ...amounts } as const
  const bytes = chargedBytes(encodeStep(header, { id: 1, index, address, after: [], ...detail }))
  return { currency, units, detail, bytes }
}

/**
 * Which balances of an address can be collected, and what that needs. `skip` are tokens that were dropped because their
 * fees are more than they bring.
 */
export function decideAddress(
  header: TransactionHeader,
  facts: AddressFacts,
  wishes: CollectWishes,
  prices: ChainPrices,
  skip: ReadonlyMap<string, string>,
): AddressDecision {
  const { index, address } = facts
  const { mode } = header.gas
  const leftOut: LeftOut[] = []
  const leave = ({ symbol }: PlanCurrency, units: bigint, why: string) =>
    leftOut.push({ index, address, symbol, units: `${units}`, why })
  const fresh = { energy: 0, stakedBytes: 0, freeBytes: prices.freeBytes } // what a new account has
  let bandwidth: Bandwidth = facts.resources ?? fresh
  let sunLeft = facts.sun ?? 0n
  let energyLeft = BigInt(facts.resources?.energy ?? 0)
  let [missingEnergy, missingSun] = [0n, 0n]
  const transfers: PlannedTransfer[] = []
  for (const { currency, units, estimate } of facts.tokens.filter((one) => one.units > 0n)) {
    const refusal = estimate.kind === 'refused' ? `the token's contract refuses it: ${estimate.why}` : null
    const why = findObstacle(facts, wishes, currency, units) ?? refusal ?? skip.get(currency.symbol)
    const measured = estimate.kind === 'energy' ? BigInt(estimate.energy) : 0n
    const energy = (measured * (100n + energyHeadroomPercent) + 99n) / 100n
    const transfer = transferOf(header, facts, prices, { currency, units, energy })
    const needed = energy > energyLeft ? energy - energyLeft : 0n
    const burnt = mode === 'transfer' ? needed * prices.sunPerEnergy : 0n
    const fee = burntForBytes(bandwidth, transfer.bytes, prices) + burnt
    const tomorrow = 'its free bytes of today are used up, and it has no TRX to burn: collect it tomorrow'
    if (why !== undefined || (mode === 'delegate' && fee > sunLeft)) {
      leave(currency, units, why ?? tomorrow)
      continue
    }
    bandwidth = afterBytes(bandwidth, transfer.bytes)
    energyLeft = energy > energyLeft ? 0n : energyLeft - energy
    missingEnergy += needed
    if (fee > sunLeft) missingSun += fee - sunLeft
    sunLeft = fee > sunLeft ? 0n : sunLeft - fee
    transfers.push({ ...transfer, fee })
  }
  const currency = header.currencies.find(({ contract }) => contract === null)
  if (currency !== undefined && facts.sun !== null && sunLeft > 0n) {
    // TRX is last: it pays for the transfers before it, and what is left goes with its own fee taken off.
    const { bytes } = transferOf(header, facts, prices, { currency, units: sunLeft, energy: 0n })
    const fee = burntForBytes(bandwidth, bytes, prices)
    const units = sunLeft - fee
    const why = findObstacle(facts, wishes, currency, sunLeft) ?? (units <= fee ? 'it costs more than it brings' : null)
    if (why !== null) leave(currency, sunLeft, why)
    else transfers.push({ ...transferOf(header, facts, prices, { currency, units, energy: 0n }), bytes, fee })
  }
  return { transfers, missingEnergy, missingSun, leftOut }
}

function findObstacle(
  { hasOwnKey }: AddressFacts,
  { min }: CollectWishes,
  { symbol }: PlanCurrency,
  units: bigint,
): string | null {
  if (units < (min.get(symbol) ?? 0n)) return 'less than --min'
  return hasOwnKey ? null : 'its owner permission names another key'
}
