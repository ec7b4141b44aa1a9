import type { Settlement, TronTransaction } from './transaction.ts'

/** Prices and limits of the chain, as on the main network (`getchainparameters`). */
export const chainPrices = {
  sunPerByte: 1_000,
  sunPerEnergy: 100,
  /** Sun for the bytes of a transaction that creates an account, without staked bandwidth. */
  createAccountFee: 100_000,
  newAccountFee: 1_000_000,
  feeLimitMax: 15_000_000_000,
  freeNetLimit: 600,
} as const

/** What all stakes together give in a day, and their sum in TRX: about 10 energy for one TRX. */
export const totalEnergy = { limit: 50_000_000_000, weight: 5_001_000_000 }

const recoveryMs = 86_400_000
const sunPerTrx = 1_000_000n

/** Used energy or free bandwidth, which recovers evenly within a day. */
interface Usage {
  readonly used: number
  readonly at: number
}

/** The state of an account that the EVM does not have. Amounts are sun; stakes are for energy. */
interface AccountState {
  isActive: boolean
  /** Sun burnt as fees. They are counted here, because the EVM charges no fees. */
  burnt: bigint
  stake: bigint
  delegated: bigint
  acquired: bigint
  energy: Usage
  freeNet: Usage
}

const unused: Usage = { used: 0, at: 0 }

/**
 * Accounts and resources, computed from all transactions of the chain in their order, so that they
 * need not be stored. Addresses are 40 hex digits, times milliseconds.
 */
export class Accounts {
  private readonly accounts: Map<string, AccountState>
  private readonly delegations: Map<string, bigint>

  constructor(from?: Accounts) {
    this.accounts = structuredClone(from?.accounts ?? new Map())
    this.delegations = new Map(from?.delegations)
  }

  /** The state of an account. An account that was never used has one, too. */
  of(address: string): AccountState {
    const known = this.accounts.get(address)
    if (known !== undefined) return known
    const amounts = { burnt: 0n, stake: 0n, delegated: 0n, acquired: 0n }
    const account = { isActive: false, ...amounts, energy: unused, freeNet: unused }
    this.accounts.set(address, account)
    return account
  }

  delegation(from: string, to: string): bigint {
    return this.delegations.get(`${from} ${to}`) ?? 0n
  }

  /** The accounts that `from` delegates to. */
  receivers(from: string): readonly string[] {
    const own = [...this.delegations].filter(([name, sun]) => sun > 0n && name.startsWith(`${from} `))
    return own.flatMap(([name]) => name.split(' ')[1] ?? [])
  }

  /** Units of energy that the account may use in a day. */
  energyLimit(address: string): number {
    const { limit, weight } = totalEnergy
    return Math.floor((Number(usableOf(this.of(address)) / sunPerTrx) * limit) / weight)
  }

  energyUsed(address: string, now: number): number {
    return recovered(this.of(address).energy, now)
  }

  freeNetUsed(address: string, now: number): number {
    return recovered(this.of(address).freeNet, now)
  }

  /** Sun of the stake that can be delegated: neither delegated nor in use. */
  delegatable(address: string, now: number): bigint {
    const { stake, delegated } = this.of(address)
    const { limit, weight } = totalEnergy
    const inUse = (BigInt(this.energyUsed(address, now)) * BigInt(weight) * sunPerTrx) / BigInt(limit)
    const left = stake - delegated - inUse
    return left > 0n ? left : 0n
  }

  /**
   * Applies a transaction. `now` is the time of its block, or, before it is in a block, the time of
   * the newest block.
   */
  apply({ type, owner, target, amount, settlement }: TronTransaction, now: number): void {
    this.of(owner).isActive = true
    // the test control `stake` sends such a transaction
    if (type === 'FreezeBalanceV2Contract') this.of(owner).stake += amount
    const isPaid = type === 'TransferContract' || type === 'AccountCreateContract'
    if (isPaid && target !== null) this.of(target).isActive = true
    if (settlement === null) return
    this.charge(owner, settlement, now)
    if (type === 'DelegateResourceContract') this.delegate(owner, target ?? '', amount)
    if (type === 'UnDelegateResourceContract') this.undelegate(owner, target ?? '', amount, now)
  }

  private charge(owner: string, { netFee, energyFee, activationFee, netUsage, energyUsage }: Settlement, now: number) {
    const account = this.of(owner)
    account.burnt += BigInt(netFee + energyFee + activationFee)
    account.energy = { used: recovered(account.energy, now) + energyUsage, at: now }
    account.freeNet = { used: recovered(account.freeNet, now) + netUsage, at: now }
  }

  private delegate(owner: string, target: string, amount: bigint): void {
    this.of(owner).delegated += amount
    this.of(target).acquired += amount
    this.delegations.set(`${owner} ${target}`, this.delegation(owner, target) + amount)
  }

  /**
   * Takes a delegation back. The energy that the receiver has used of it moves to the delegator,
   * and recovers there.
   */
  private undelegate(owner: string, target: string, amount: bigint, now: number): void {
    const [delegator, receiver] = [this.of(owner), this.of(target)]
    const used = recovered(receiver.energy, now)
    const total = usableOf(receiver)
    const moved = total === 0n ? 0 : Math.min(used, Number((BigInt(used) * amount) / total))
    receiver.energy = { used: used - moved, at: now }
    delegator.energy = { used: recovered(delegator.energy, now) + moved, at: now }
    delegator.delegated -= amount
    receiver.acquired -= amount
    this.delegations.set(`${owner} ${target}`, this.delegation(owner, target) - amount)
  }
}

const usableOf = ({ stake, delegated, acquired }: AccountState) => stake - delegated + acquired

function recovered({ used, at }: Usage, now: number): number {
  return Math.floor(used * Math.max(0, 1 - Math.max(0, now - at) / recoveryMs))
}
