import type { Address } from '../../src/worker/chain/address.ts'

/** A change of what an address has on the chain, in chain units. `contract` null is TRX. */
export interface BalanceChange {
  readonly address: Address
  readonly contract: Address | null
  /** Negative if the address loses money. */
  readonly amount: bigint
  /**
   * No log that the service reads shows the change, which is an internal transaction or something
   * else that a token's contract does.
   */
  readonly hidden?: boolean
  /**
   * The token's issuer makes the change, and an event of the token shows it. The address sends
   * nothing.
   */
  readonly byIssuer?: boolean
}

/** What addresses have after each block of one branch of the chain. */
export interface ChainBalances {
  /** Adds changes of the block at `height`. Heights never decrease. */
  apply(height: number, changes: readonly BalanceChange[]): void
  /** The balance after the block at `height`, in chain units. */
  at(height: number, address: Address, contract: Address | null): bigint
  /** The balances of a branch that shares the blocks below `from`. */
  fork(from: number): ChainBalances
}

/** The balances of a chain on which no address has anything. */
export function createChainBalances(): ChainBalances {
  return createBranch(() => 0n)
}

function createBranch(inherited: ChainBalances['at']): ChainBalances {
  /** By address and contract: the sum of all changes of this branch up to a height. */
  const sums = new Map<string, { readonly height: number; readonly sum: bigint }[]>()
  const own = (height: number, key: string) => sums.get(key)?.findLast((entry) => entry.height <= height)?.sum ?? 0n
  const branch: ChainBalances = {
    apply(height, changes) {
      for (const { address, contract, amount } of changes) {
        const key = `${contract} ${address}`
        const entry = { height, sum: own(height, key) + amount }
        const entries = sums.get(key)
        if (entries === undefined) sums.set(key, [entry])
        else entries.push(entry)
      }
    },
    at: (height, address, contract) => inherited(height, address, contract) + own(height, `${contract} ${address}`),
    fork: (from) =>
      createBranch((height, address, contract) => branch.at(Math.min(height, from - 1), address, contract)),
  }
  return branch
}
