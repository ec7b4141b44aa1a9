import type { LeftOut, PlanCurrency } from './plan.ts'
import { chargedBytes, encodeStep, type TransactionHeader } from './transaction.ts'

/**
 * Energy planned above the measured amount, in percent. The price of a busy contract grows within hours, and a transfer that runs out of energy fails but is
 * charged all the same.
 */
const energyHeadroomPercent = 20n

/** Prices and limits of the chain, as a node reports them. Amounts are sun. */
export interface ChainPrices {
  readonly sunPerByte: bigint
  readonly sunPerEnergy: bigint
  /** For the bytes of a transaction that creates an account, if they are not covered by staked bandwidth. */
  readonly createAccountFee: bigint
  /** For the account itself. */
  readonly newAccountFee: bigint
  readonly feeLimitMax: bigint
  /** Free bytes of an account in a day. */
  readonly freeBytes: number
}

/** The unused resources of an account today: units of energy, bytes. */
export interface AccountResources {
  readonly energy: number
  /** From a stake or a delegation. */
  readonly stakedBytes: number
  readonly freeBytes: number
}

/** The energy of one transfer, measured by a constant call, or why the token's contract refuses the transfer. */
export type EnergyEstimate =
  | { readonly kind: 'energy'; readonly energy: number }
  | { readonly kind: 'refused'; readonly why: string }

/** A token that an address holds. */
export interface TokenHolding {
  readonly currency: PlanCurrency
  readonly units: bigint
  readonly estimate: EnergyEstimate
}

/** The facts about an address from which its part of a plan is decided. */
export interface AddressFacts {
  readonly index: number
  readonly address: string
  /** Null if the nodes do not agree. */
  readonly sun: bigint | null
  readonly tokens: readonly TokenHolding[]
  /** Null if the account does not exist. Such an address may hold tokens. */
  readonly resources: AccountResources | null
  /** Whether the key of the address can still sign. The owner permission may name another key. */
  readonly hasOwnKey: boolean
  /** Sun of the gas address's stake that an earlier collection delegated to it and has not taken back. */
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

/** The facts from which a plan is decided. */
export interface CollectFacts {
  readonly addresses: readonly AddressFacts[]
  /** Balances on which the nodes do not agree. */
  readonly leftOut: readonly LeftOut[]
  readonly prices: ChainPrices
  readonly gas: GasFacts
}

/** The operator's options about the worth of balances. */
export interface CollectWishes {
  /** Least balance by symbol, in smallest units. The operator says that such a balance is worth its fees. */
  readonly min: ReadonlyMap<string, bigint>
  /** The price of one TRX by symbol, in the token's smallest units, above 0. */
  readonly trxPrice: ReadonlyMap<string, bigint>
}

/** A decided transfer from an address: currency and amount, its step, and the most sun that it burns at the address. */
export interface PlannedTransfer extends ReturnType<typeof transferOf> {
  readonly fee: bigint
}

/** The contribution of one address to a plan, before the gas address's own costs. */
export interface AddressDecision {
  readonly transfers: readonly PlannedTransfer[]
  /** Energy that the address lacks. */
  readonly missingEnergy: bigint
  /** Sun that the address lacks and must be sent. */
  readonly missingSun: bigint
  readonly leftOut: readonly LeftOut[]
}

type Bandwidth = Pick<AccountResources, 'stakedBytes' | 'freeBytes'>

/** The sun that a transaction burns for its bytes. One kind of bandwidth must cover all of them, or all are burnt. */
export function burntForBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number, prices: ChainPrices): bigint {
  return stakedBytes >= bytes || freeBytes >= bytes ? 0n : BigInt(bytes) * prices.sunPerByte
}

/** The bandwidth after a transaction. */
function afterBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number): Bandwidth {
  if (stakedBytes >= bytes) return { stakedBytes: stakedBytes - bytes, freeBytes }
  return { stakedBytes, freeBytes: freeBytes >= bytes ? freeBytes - bytes : freeBytes }
}

/** A transfer from an address: the members of its step, and its bytes. `energy` includes the headroom; it is 0n for TRX. */
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

/** Decides which balances of an address can be collected, and what that needs. `skip` are tokens that were dropped because their fees exceed their worth. */
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
  const fresh = { energy: 0, stakedBytes: 0, freeBytes: prices.freeBytes } // the resources of a new account
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
    // TRX comes last: it pays for the transfers before it, and the rest is sent less the fee of that transfer.
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
