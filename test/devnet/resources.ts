import type { Settlement } from './embedded.ts'
import type { Resource } from './parse-transaction.ts'
import type { TronTransaction } from './transaction.ts'

/** Prices and limits of the chain, as on the main network (`getchainparameters`). */
export const chainPrices = {
  sunPerByte: 1_000,
  sunPerEnergy: 100,
  /** Without staked bandwidth. */
  createAccountFee: 100_000,
  newAccountFee: 1_000_000,
  feeLimitMax: 15_000_000_000,
  freeNetLimit: 600,
} as const

/** What all stakes together give in a day, and their sum in TRX: about 10 energy and 2 bytes for one TRX. */
export const totals = {
  ENERGY: { limit: 50_000_000_000, weight: 5_001_000_000 },
  BANDWIDTH: { limit: 43_200_000_000, weight: 20_002_020_000 },
} as const satisfies Record<Resource, { limit: number; weight: number }>

const recoveryMs = 86_400_000
const sunPerTrx = 1_000_000n

/** A usage that recovers evenly within a day. */
interface Usage {
  readonly used: number
  readonly at: number
}

/** What the EVM does not know of an account. Amounts are sun. */
interface AccountState {
  isActive: boolean
  createdAt: number
  /** Burnt fees: the EVM charges none. */
  burnt: bigint
  stake: Record<Resource, bigint>
  /** Staked from the balance; a stake that a control gave is not. */
  frozenFromBalance: bigint
  delegated: Record<Resource, bigint>
  acquired: Record<Resource, bigint>
  usage: Record<Resource, Usage>
  freeNet: Usage
}

const unused: Usage = { used: 0, at: 0 }

/**
 * Accounts and resources: a fold over the transactions of the chain, in their order, so nothing of it is stored. Addresses
 * are 40 hex digits, times milliseconds.
 */
export class Resources {
  private readonly accounts: Map<string, AccountState>
  private readonly delegations: Map<string, bigint>

  constructor(from?: Resources) {
    this.accounts = structuredClone(from?.accounts ?? new Map())
    this.delegations = new Map(from?.delegations)
  }

  /** The account; a never used one has a state too. */
  of(address: string): AccountState {
    const known = this.accounts.get(address)
    if (known !== undefined) return known
    const zero = () => ({ ENERGY: 0n, BANDWIDTH: 0n })
    const account: AccountState = {
      isActive: false,
      createdAt: 0,
      burnt: 0n,
      stake: zero(),
      frozenFromBalance: 0n,
      delegated: zero(),
      acquired: zero(),
      usage: { ENERGY: unused, BANDWIDTH: unused },
      freeNet: unused,
    }
    this.accounts.set(address, account)
    return account
  }

  /** Sun that the EVM still counts, and that are burnt or staked. */
  spent(address: string): bigint {
    const { burnt, frozenFromBalance } = this.of(address)
    return burnt + frozenFromBalance
  }

  delegation(from: string, to: string, resource: Resource): bigint {
    return this.delegations.get(`${from} ${to} ${resource}`) ?? 0n
  }

  /** The accounts that `from` delegates to, for energy or bandwidth. */
  receivers(from: string): readonly string[] {
    const own = [...this.delegations].filter(([name, sun]) => sun > 0n && name.startsWith(`${from} `))
    return [...new Set(own.flatMap(([name]) => name.split(' ')[1] ?? []))]
  }

  /** Units of a resource in a day. */
  limit(address: string, resource: Resource): number {
    const { stake, delegated, acquired } = this.of(address)
    return unitsOf(stake[resource] - delegated[resource] + acquired[resource], resource)
  }

  used(address: string, resource: Resource, now: number): number {
    return recovered(this.of(address).usage[resource], now)
  }

  available(address: string, resource: Resource, now: number): number {
    return Math.max(0, this.limit(address, resource) - this.used(address, resource, now))
  }

  freeNetUsed(address: string, now: number): number {
    return recovered(this.of(address).freeNet, now)
  }

  /** Sun of the stake that can be delegated: neither delegated nor in use. */
  delegatable(address: string, resource: Resource, now: number): bigint {
    const { stake, delegated } = this.of(address)
    const { limit, weight } = totals[resource]
    const inUse = (BigInt(this.used(address, resource, now)) * BigInt(weight) * sunPerTrx) / BigInt(limit)
    const left = stake[resource] - delegated[resource] - inUse
    return left > 0n ? left : 0n
  }

  /** Applies a transaction that is mined, or (`now` is the newest block's time) will be. */
  apply(tron: TronTransaction, now: number): void {
    const { owner, target, amount } = tron.parameters
    this.of(owner).isActive = true
    const { settlement, resource } = tron
    if (tron.type === 'FreezeBalanceV2Contract') this.of(owner).stake[resource] += amount // a control can give a stake
    if (tron.type === 'TransferContract') this.activate(target, now)
    if (settlement === null) return
    this.charge(owner, settlement, now)
    if (tron.type === 'FreezeBalanceV2Contract') this.of(owner).frozenFromBalance += amount
    if (tron.type === 'AccountCreateContract') this.activate(target, now)
    if (tron.type === 'DelegateResourceContract') this.delegate(owner, target ?? '', resource, amount)
    if (tron.type === 'UnDelegateResourceContract') this.undelegate(owner, target ?? '', resource, amount, now)
  }

  private activate(address: string | null, now: number): void {
    if (address === null) return
    const account = this.of(address)
    if (!account.isActive) account.createdAt = now
    account.isActive = true
  }

  private charge(owner: string, settlement: Settlement, now: number): void {
    const account = this.of(owner)
    const { netFee, energyFee, activationFee, netUsage, energyUsage, isFreeNet } = settlement
    account.burnt += BigInt(netFee + energyFee + activationFee)
    account.usage.ENERGY = { used: recovered(account.usage.ENERGY, now) + energyUsage, at: now }
    if (isFreeNet) account.freeNet = { used: recovered(account.freeNet, now) + netUsage, at: now }
    else account.usage.BANDWIDTH = { used: recovered(account.usage.BANDWIDTH, now) + netUsage, at: now }
  }

  private delegate(owner: string, target: string, resource: Resource, amount: bigint): void {
    this.of(owner).delegated[resource] += amount
    this.of(target).acquired[resource] += amount
    this.delegations.set(`${owner} ${target} ${resource}`, this.delegation(owner, target, resource) + amount)
  }

  /** What the receiver used of it moves to the delegator, and recovers there. */
  private undelegate(owner: string, target: string, resource: Resource, amount: bigint, now: number): void {
    const [delegator, receiver] = [this.of(owner), this.of(target)]
    const used = recovered(receiver.usage[resource], now)
    const total = receiver.stake[resource] - receiver.delegated[resource] + receiver.acquired[resource]
    const moved = total === 0n ? 0 : Math.min(used, Number((BigInt(used) * amount) / total))
    receiver.usage[resource] = { used: used - moved, at: now }
    delegator.usage[resource] = { used: recovered(delegator.usage[resource], now) + moved, at: now }
    delegator.delegated[resource] -= amount
    receiver.acquired[resource] -= amount
    this.delegations.set(`${owner} ${target} ${resource}`, this.delegation(owner, target, resource) - amount)
  }
}

function recovered({ used, at }: Usage, now: number): number {
  return Math.floor(used * Math.max(0, 1 - Math.max(0, now - at) / recoveryMs))
}

function unitsOf(sun: bigint, resource: Resource): number {
  const { limit, weight } = totals[resource]
  return Math.floor((Number(sun / sunPerTrx) * limit) / weight)
}
