import type { ChainPrices, EnergyEstimate } from '../node-replies.ts'
import type { LeftOut, PlanCurrency } from './plan.ts'
import { chargedBytes, encodeStep, type TransactionHeader } from './transaction.ts'

/**
 * Energy planned above the measured amount, in percent. The price of a busy contract grows within
 * hours, and a transfer that runs out of energy fails but is charged all the same.
 */
const energyHeadroomPercent = 20n

/** The unused resources of an account today: units of energy, bytes. */
export interface AccountResources {
  readonly energy: number
  /** Bandwidth from the account's own stake, or from stake that another account delegates to it. */
  readonly stakedBytes: number
  readonly freeBytes: number
}

export interface TokenHolding {
  readonly currency: PlanCurrency
  readonly units: bigint
  readonly estimate: EnergyEstimate
}

/** What the nodes say about one address, from which `decideAddress` decides what is collected. */
export interface AddressFacts {
  readonly index: number
  readonly address: string
  /** The TRX of the address in sun; null if the nodes do not agree on it. */
  readonly sun: bigint | null
  readonly tokens: readonly TokenHolding[]
  /** Null if the account does not exist. Such an address may hold tokens. */
  readonly resources: AccountResources | null
  /** Whether the key of the address can still sign. The owner permission may name another key. */
  readonly hasOwnKey: boolean
  /**
   * Sun of the gas address's stake that an earlier collection delegated to this address and has not
   * taken back.
   */
  readonly delegatedBefore: bigint
}

/** The operator's address that pays for gas. */
export interface GasFacts {
  readonly address: string
  readonly sun: bigint
  readonly resources: AccountResources
  /** Sun of the gas address's stake that can be delegated now. */
  readonly delegatable: bigint
  /** Units of energy that `perTrx.trx` staked TRX give. */
  readonly perTrx: { readonly energy: bigint; readonly trx: bigint }
}

export interface CollectFacts {
  readonly addresses: readonly AddressFacts[]
  /**
   * Balances that are not collected: the nodes do not agree on them, or the token's issuer has
   * frozen the address, paused the token or set a fee that nobody has confirmed.
   */
  readonly leftOut: readonly LeftOut[]
  readonly prices: ChainPrices
  readonly gas: GasFacts
}

/** The operator's options about the worth of balances. */
export interface CollectWishes {
  /**
   * `--min` by symbol, in smallest units. A smaller balance is not collected. A larger one is,
   * because the operator says that it is worth its fees.
   */
  readonly min: ReadonlyMap<string, bigint>
  /** `--trx-price` by symbol: what one TRX costs in the smallest units of this token, above 0. */
  readonly trxPrice: ReadonlyMap<string, bigint>
}

/**
 * A transfer that the plan will contain. `fee` is the most sun that the transfer burns at the
 * address that sends it.
 */
export interface PlannedTransfer extends ReturnType<typeof transferOf> {
  readonly fee: bigint
}

/** What one address adds to a plan, without the costs of the gas address. */
export interface AddressDecision {
  readonly transfers: readonly PlannedTransfer[]
  /** Units of energy that the address lacks for its transfers. */
  readonly missingEnergy: bigint
  /** Sun that the address lacks for its fees, and that the gas address must send it. */
  readonly missingSun: bigint
  readonly leftOut: readonly LeftOut[]
}

type Bandwidth = Pick<AccountResources, 'stakedBytes' | 'freeBytes'>

/**
 * The sun that a transaction burns for its bytes. It is none if the staked bandwidth or the free
 * bandwidth covers all of the bytes; otherwise the transaction pays for all of them.
 */
export function burntForBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number, prices: ChainPrices): bigint {
  return stakedBytes >= bytes || freeBytes >= bytes ? 0n : BigInt(bytes) * prices.sunPerByte
}

/**
 * The bandwidth that is left after a transaction of this many bytes. If neither kind of bandwidth
 * covers all of the bytes, the transaction burns sun and uses no bandwidth.
 */
function afterBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number): Bandwidth {
  if (stakedBytes >= bytes) return { stakedBytes: stakedBytes - bytes, freeBytes }
  return { stakedBytes, freeBytes: freeBytes >= bytes ? freeBytes - bytes : freeBytes }
}

/**
 * Makes the members of a transfer's step in the plan, and counts the bytes of its transaction.
 * `energy` includes the headroom; it is 0n for TRX.
 */
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
 * Decides which balances of an address can be collected, and what they need. `skip` has the symbols
 * of tokens whose fees exceed their worth, with the reason.
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
    // TRX comes last, because the token transfers burn some of it. The TRX that remains is sent,
    // less the fee of this last transfer.
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
