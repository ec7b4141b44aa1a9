import type { GasMode, LeftOut, PlanCurrency } from './plan.ts'

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
  /** Null where the nodes do not agree. */
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
  readonly unknown: readonly LeftOut[]
  readonly prices: ChainPrices
  readonly gas: GasFacts
}

/** What the operator wants. */
export interface CollectWishes {
  readonly to: string
  readonly mode: GasMode
  /** The currencies to collect, TRX among them or not. */
  readonly currencies: readonly PlanCurrency[]
  /** Least balance by symbol, in smallest units. It is the operator's word that such a balance is worth its fees. */
  readonly min: ReadonlyMap<string, bigint>
  /** What one TRX costs by symbol, in the token's smallest units, above 0. */
  readonly trxPrice: ReadonlyMap<string, bigint>
}
