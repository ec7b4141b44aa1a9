import type { AccountResources, AddressFacts, ChainPrices, CollectWishes, TokenHolding } from './facts.ts'
import { energyHeadroomPercent } from './limits.ts'
import type { LeftOut, PlanCurrency } from './plan.ts'

/** One transfer from an address, decided: what moves and the most that it burns of the address's own TRX. */
export interface PlannedTransfer {
  readonly currency: PlanCurrency
  readonly units: bigint
  /** With headroom. 0n for TRX. */
  readonly energy: bigint
  readonly bytes: number
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

/** The bytes of a transfer of this currency from this address. */
export type TransferBytes = (currency: PlanCurrency, units: bigint, energy: bigint) => number

type Bandwidth = Pick<AccountResources, 'stakedBytes' | 'freeBytes'>
type Leave = (currency: PlanCurrency, units: bigint, why: string) => void

/** The sun that a transaction burns for its bytes: all of them are covered by one kind of bandwidth, or none is. */
export function burntForBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number, prices: ChainPrices): bigint {
  return stakedBytes >= bytes || freeBytes >= bytes ? 0n : BigInt(bytes) * prices.sunPerByte
}

/** The bandwidth after a transaction. */
function afterBytes({ stakedBytes, freeBytes }: Bandwidth, bytes: number): Bandwidth {
  if (stakedBytes >= bytes) return { stakedBytes: stakedBytes - bytes, freeBytes }
  return { stakedBytes, freeBytes: freeBytes >= bytes ? freeBytes - bytes : freeBytes }
}

/** Measured energy with headroom. */
function withHeadroom(energy: number): bigint {
  return (BigInt(energy) * (100n + energyHeadroomPercent) + 99n) / 100n
}

/**
 * Which balances of an address can be collected, and what that needs. `skip` are tokens that were dropped because their
 * fees are more than they bring.
 */
export function decideAddress(
  facts: AddressFacts,
  wishes: CollectWishes,
  prices: ChainPrices,
  bytesOf: TransferBytes,
  skip: ReadonlyMap<string, string>,
): AddressDecision {
  const leftOut: LeftOut[] = []
  const leave: Leave = ({ symbol }, units, why) =>
    leftOut.push({ index: facts.index, address: facts.address, symbol, units: `${units}`, why })
  const fresh = { energy: 0, stakedBytes: 0, freeBytes: prices.freeBytes } // what a new account has
  let bandwidth: Bandwidth = facts.resources ?? fresh
  let own = facts.sun ?? 0n
  let ownEnergy = BigInt(facts.resources?.energy ?? 0)
  let [missingEnergy, missingSun] = [0n, 0n]
  const transfers: PlannedTransfer[] = []
  for (const { currency, units, energy } of collectable(facts, wishes, skip, leave)) {
    const bytes = bytesOf(currency, units, energy)
    const needed = energy > ownEnergy ? energy - ownEnergy : 0n
    const burnt = wishes.mode === 'transfer' ? needed * prices.sunPerEnergy : 0n
    const fee = burntForBytes(bandwidth, bytes, prices) + burnt
    if (wishes.mode === 'delegate' && fee > own) {
      leave(currency, units, 'its free bytes of today are used up, and it has no TRX to burn: collect it tomorrow')
      continue
    }
    bandwidth = afterBytes(bandwidth, bytes)
    ownEnergy = energy > ownEnergy ? 0n : ownEnergy - energy
    missingEnergy += needed
    if (fee > own) missingSun += fee - own
    own = fee > own ? 0n : own - fee
    transfers.push({ currency, units, energy, bytes, fee })
  }
  const trx = wishes.currencies.find(({ contract }) => contract === null)
  if (trx !== undefined && facts.sun !== null && own > 0n) {
    // TRX is last: it pays for the transfers before it, and what is left goes with its own fee taken off.
    const bytes = bytesOf(trx, own, 0n)
    const fee = burntForBytes(bandwidth, bytes, prices)
    const units = own - fee
    if (own < (wishes.min.get(trx.symbol) ?? 0n)) leave(trx, own, 'less than --min')
    else if (!facts.hasOwnKey) leave(trx, own, otherKey)
    else if (units <= fee) leave(trx, own, 'it costs more than it brings')
    else transfers.push({ currency: trx, units, energy: 0n, bytes, fee })
  }
  return { transfers, missingEnergy, missingSun, leftOut }
}

const otherKey = 'its owner permission names another key'

interface CollectableToken extends Pick<TokenHolding, 'currency' | 'units'> {
  readonly energy: bigint
}

function* collectable(
  { tokens, hasOwnKey }: AddressFacts,
  { min }: CollectWishes,
  skip: ReadonlyMap<string, string>,
  leave: Leave,
): Generator<CollectableToken, void> {
  for (const { currency, units, estimate } of tokens) {
    if (units === 0n) continue
    const why = skip.get(currency.symbol)
    if (units < (min.get(currency.symbol) ?? 0n)) leave(currency, units, 'less than --min')
    else if (!hasOwnKey) leave(currency, units, otherKey)
    else if (estimate.kind === 'refused') leave(currency, units, `the token's contract refuses it: ${estimate.why}`)
    else if (why !== undefined) leave(currency, units, why)
    else yield { currency, units, energy: withHeadroom(estimate.energy) }
  }
}
