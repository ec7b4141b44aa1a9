import type { GasFacts } from './facts.ts'
import { energyHeadroomPercent } from './limits.ts'

/** A part of the stake for one address. */
export interface StakePart {
  readonly sun: bigint
  /** Steps that give parts back which this one needs. */
  readonly after: readonly number[]
}

/** The stake of the gas address while a plan is made: parts are lent to addresses, and come back without what was used. */
export interface EnergyPool {
  /** A part that gives `energy`, or null where the stake is too small even with everything back. */
  take(energy: bigint): StakePart | null
  /** Step `id` takes `sun` back. `energy` was asked for; without the headroom it will have been used. */
  giveBack(id: number, sun: bigint, energy: bigint): void
}

const sunPerTrx = 1_000_000n

/** The pool of a stake as it is now. Used energy recovers within a day: a plan does not count on it. */
export function createEnergyPool({ delegatable, perTrx }: GasFacts): EnergyPool {
  /** Sun of the stake whose energy of a day this is, rounded up to whole TRX as the chain rounds down. */
  const stakeFor = (energy: bigint) => ((energy * perTrx.trx) / perTrx.energy + 2n) * sunPerTrx
  const lent: { readonly id: number; readonly left: bigint }[] = []
  let free = delegatable
  return {
    take(energy) {
      const sun = stakeFor(energy) // more than 1 TRX, the least that can be delegated
      if (free + lent.reduce((sum, { left }) => sum + left, 0n) < sun) return null
      const after: number[] = []
      while (free < sun) {
        const oldest = lent.shift()
        if (oldest === undefined) return null
        free += oldest.left
        after.push(oldest.id)
      }
      free -= sun
      return { sun, after }
    },
    giveBack(id, sun, energy) {
      const used = stakeFor((energy * 100n) / (100n + energyHeadroomPercent))
      lent.push({ id, left: sun > used ? sun - used : 0n })
    },
  }
}
