import { type BandwidthBudget, bandwidthOf, spendBytes } from './bandwidth.ts'
import type { AddressFacts, ChainPrices, CollectWishes, TokenHolding } from './facts.ts'
import { energyHeadroomPercent } from './limits.ts'
import type { LeftOut, PlanCurrency } from './plan.ts'

/** One transfer from an address, decided: what moves and the most that it burns of the address's own TRX. */
export interface DecidedTransfer {
  readonly currency: PlanCurrency
  readonly units: bigint
  /** With headroom. 0n for TRX. */
  readonly energy: bigint
  readonly bytes: number
  readonly fee: bigint
}

/** What one address contributes to a plan, before the gas address's own costs. */
export interface AddressDecision {
  readonly transfers: readonly DecidedTransfer[]
  /** Energy that the address does not have itself. */
  readonly missingEnergy: bigint
  /** Sun that it must be sent, above what it has. */
  readonly missingSun: bigint
  readonly leftOut: readonly LeftOut[]
}

/** The bytes of a transfer of this currency from this address. */
export type TransferBytes = (currency: PlanCurrency, units: bigint, energy: bigint) => number

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
  const leave = ({ symbol }: PlanCurrency, units: bigint, why: string) =>
    leftOut.push({ index: facts.index, address: facts.address, symbol, units: `${units}`, why })
  const fresh = { energy: 0, stakedBytes: 0, freeBytes: prices.freeBytes } // what a new account has
  const budget = bandwidthOf(facts.resources ?? fresh)
  let own = facts.sun ?? 0n
  let ownEnergy = BigInt(facts.resources?.energy ?? 0)
  let [missingEnergy, missingSun] = [0n, 0n]
  const transfers: DecidedTransfer[] = []
  for (const holding of collectable(facts, wishes, skip, leave)) {
    const { currency, units, energy } = holding
    const bytes = bytesOf(currency, units, energy)
    const needed = energy > ownEnergy ? energy - ownEnergy : 0n
    const burnt = wishes.mode === 'transfer' ? needed * prices.sunPerEnergy : 0n
    const before: BandwidthBudget = { ...budget }
    const fee = spendBytes(budget, bytes, prices) + burnt
    if (wishes.mode === 'delegate' && fee > own) {
      Object.assign(budget, before)
      leave(currency, units, 'its free bytes of today are used up, and it has no TRX to burn: collect it tomorrow')
      continue
    }
    ownEnergy = energy > ownEnergy ? 0n : ownEnergy - energy
    missingEnergy += needed
    if (fee > own) missingSun += fee - own
    own = fee > own ? 0n : own - fee
    transfers.push({ currency, units, energy, bytes, fee })
  }
  const trx = decideTrx(facts, wishes, prices, bytesOf, budget, own, leave)
  return { transfers: trx === null ? transfers : [...transfers, trx], missingEnergy, missingSun, leftOut }
}

interface CollectableToken extends Pick<TokenHolding, 'currency' | 'units'> {
  readonly energy: bigint
}

function* collectable(
  { tokens, hasOwnKey }: AddressFacts,
  { min }: CollectWishes,
  skip: ReadonlyMap<string, string>,
  leave: (currency: PlanCurrency, units: bigint, why: string) => void,
): Generator<CollectableToken, void> {
  for (const { currency, units, estimate } of tokens) {
    if (units === 0n) continue
    const why = skip.get(currency.symbol)
    if (units < (min.get(currency.symbol) ?? 0n)) leave(currency, units, 'less than --min')
    else if (!hasOwnKey) leave(currency, units, 'its owner permission names another key')
    else if (estimate.kind === 'refused') leave(currency, units, `the token's contract refuses it: ${estimate.why}`)
    else if (why !== undefined) leave(currency, units, why)
    else yield { currency, units, energy: withHeadroom(estimate.energy) }
  }
}

/** TRX is last: it pays for the transfers before it, and what is left goes with its own fee taken off. */
function decideTrx(
  { sun, hasOwnKey }: AddressFacts,
  { currencies, min }: CollectWishes,
  prices: ChainPrices,
  bytesOf: TransferBytes,
  budget: BandwidthBudget,
  own: bigint,
  leave: (currency: PlanCurrency, units: bigint, why: string) => void,
): DecidedTransfer | null {
  const currency = currencies.find(({ contract }) => contract === null)
  if (currency === undefined || sun === null || sun === 0n || own === 0n) return null
  const bytes = bytesOf(currency, own, 0n)
  const fee = spendBytes({ ...budget }, bytes, prices)
  const units = own - fee
  if (own < (min.get(currency.symbol) ?? 0n)) leave(currency, own, 'less than --min')
  else if (!hasOwnKey) leave(currency, own, 'its owner permission names another key')
  else if (units <= fee) leave(currency, own, 'it costs more than it brings')
  else return { currency, units, energy: 0n, bytes, fee }
  return null
}
