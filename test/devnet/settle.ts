import { hexToBytes } from '@noble/hashes/utils.js'
import { quantity, strip0x } from '../support/hex.ts'
import { type Accounts, chainPrices } from './accounts.ts'
import type { Evm } from './anvil.ts'
import type { DevnetNode } from './node.ts'
import type { RawTransaction, Settlement } from './transaction.ts'

/** What a call of a contract needs and returns. */
interface CallResult {
  readonly energy: number
  readonly penalty: number
  readonly isReverted: boolean
  readonly output: string
}

interface Trace {
  readonly gasUsed: string
  readonly output?: string
  readonly error?: string
}

const transactionGas = 21_000

/** Runs a call on the newest state. `factor` is the contract's dynamic price, 1 without a penalty. */
export async function traceCall(
  evm: Evm,
  call: { readonly from: string; readonly to: string; readonly data: string; readonly value?: bigint },
  factor: number,
): Promise<CallResult> {
  const { from, to, data, value = 0n } = call
  const transaction = { from: `0x${from}`, to: `0x${to}`, data: `0x${data}`, value: quantity(value) }
  const trace = await evm.call<Trace>('debug_traceCall', transaction, 'pending', { tracer: 'callTracer' })
  const base = Math.max(0, Number(trace.gasUsed) - transactionGas - 4 * tokensOf(data))
  const energy = Math.floor(base * factor)
  return {
    energy,
    penalty: energy - base,
    isReverted: trace.error !== undefined,
    output: strip0x(trace.output ?? ''),
  }
}

/** Ethereum's measure of call data: 1 for a zero byte, 4 for another. */
function tokensOf(data: string): number {
  return hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? 1 : 4), 0)
}

/** The account that a transaction is charged to. */
export interface Payer {
  readonly address: string
  readonly balance: bigint
  readonly accounts: Accounts
  /** Milliseconds. */
  readonly now: number
}

/** How the bytes of a transaction are paid, or null where neither free bandwidth nor TRX is enough: all of them or none. */
export function settleBandwidth(
  payer: Payer,
  bytes: number,
  createsAccount: boolean,
): Pick<Settlement, 'netUsage' | 'netFee'> | null {
  const { accounts, address, now, balance } = payer
  const freeLeft = chainPrices.freeNetLimit - accounts.freeNetUsed(address, now)
  if (!createsAccount && freeLeft >= bytes) return { netUsage: bytes, netFee: 0 }
  const netFee = createsAccount ? chainPrices.createAccountFee : bytes * chainPrices.sunPerByte
  return balance >= BigInt(netFee) ? { netUsage: 0, netFee } : null
}

/** How the energy of a call is paid. Where the stake and the TRX up to `fee_limit` are not enough, all of it is gone. */
export function settleEnergy(
  { accounts, address, now, balance }: Payer,
  { json, amount }: RawTransaction,
  netFee: number,
  call: CallResult,
): Pick<Settlement, 'result' | 'energyTotal' | 'energyPenalty' | 'energyUsage' | 'energyFee'> {
  const staked = Math.max(0, accounts.energyLimit(address) - accounts.energyUsed(address, now))
  const payable = Number((balance - BigInt(netFee) - amount) / BigInt(chainPrices.sunPerEnergy))
  const allowed = Math.floor((json.fee_limit ?? 0) / chainPrices.sunPerEnergy)
  const limit = Math.min(allowed, staked + Math.max(0, payable))
  const isEnough = call.energy <= limit
  const energyTotal = isEnough ? call.energy : limit
  const energyUsage = Math.min(energyTotal, staked)
  return {
    result: isEnough ? (call.isReverted ? 'REVERT' : 'SUCCESS') : 'OUT_OF_ENERGY',
    energyTotal,
    energyPenalty: isEnough ? call.penalty : 0,
    energyUsage,
    energyFee: (energyTotal - energyUsage) * chainPrices.sunPerEnergy,
  }
}

/** Why a node does not take a transaction, with java-tron's code and text. */
export class Refusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const minimumStake = 1_000_000n

function invalid(why: string): never {
  throw new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${why}`)
}

/** Refuses a contract that its sender's account does not allow. `netFee` is sun for its bytes. */
export async function validateContract(
  node: DevnetNode,
  raw: RawTransaction,
  payer: Payer,
  netFee: number,
  targetActive: boolean,
): Promise<void> {
  const { type, owner, target, amount, json } = raw
  const available = payer.balance - BigInt(netFee)
  const isContract = target !== null && (await node.evm.call<string>('eth_getCode', `0x${target}`, 'pending')) !== '0x'
  switch (type) {
    case 'TransferContract': {
      if (owner === target) invalid('Cannot transfer TRX to yourself.')
      if (amount <= 0n) invalid('Amount must be greater than 0.')
      if (isContract) invalid('Cannot transfer TRX to a smartContract.')
      const fee = targetActive ? 0n : BigInt(chainPrices.newAccountFee)
      if (available < amount + fee) invalid('Validate TransferContract error, balance is not sufficient.')
      return
    }
    case 'AccountCreateContract':
      if (targetActive) invalid('Account has existed')
      if (available < BigInt(chainPrices.newAccountFee))
        invalid('Validate CreateAccountActuator error, insufficient fee.')
      return
    case 'TriggerSmartContract': {
      const feeLimit = json.fee_limit ?? 0
      if (feeLimit < 0 || feeLimit > chainPrices.feeLimitMax) {
        invalid(`feeLimit must be >= 0 and <= ${chainPrices.feeLimitMax}`)
      }
      if (!isContract) invalid('No contract or not a smart contract')
      if (available < amount) invalid('Validate InternalTransfer error, balance is not sufficient.')
      return
    }
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
      return validateDelegation(raw, payer, targetActive, isContract)
    default:
      invalid(`the local chain takes no ${type}`)
  }
}

function validateDelegation(
  { type, owner, target, amount, json }: RawTransaction,
  { accounts, now }: Payer,
  targetActive: boolean,
  isContract: boolean,
): void {
  if (json.contract[0].parameter.value.resource !== 'ENERGY') invalid('the local chain has no stakes for bandwidth')
  const receiver = target ?? ''
  if (type === 'DelegateResourceContract') {
    if (amount < minimumStake) invalid('delegateBalance must be greater than or equal to 1 TRX')
    if (accounts.delegatable(owner, now) < amount) {
      invalid('delegateBalance must be less than or equal to available FreezeEnergyV2 balance')
    }
    if (!targetActive) invalid(`Account[41${receiver}] not exists`)
    if (isContract) invalid('Do not allow delegate resources to contract addresses')
    return
  }
  const delegated = accounts.delegation(owner, receiver)
  if (delegated === 0n) invalid('delegated Resource does not exist')
  if (delegated < amount) {
    invalid(`insufficient delegateFrozenBalance(Energy), request=${amount}, unlock_balance=${delegated}`)
  }
}
