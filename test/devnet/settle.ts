import { hexToBytes } from '@noble/hashes/utils.js'
import { quantity, strip0x } from '../support/hex.ts'
import type { Settlement } from './embedded.ts'
import type { Evm } from './evm.ts'
import type { RawTransaction } from './parse-transaction.ts'
import { chainPrices, type Resources } from './resources.ts'

/** What a call of a contract needs and returns. `reason` is the text of a revert, or empty. */
export interface CallResult {
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
  const transaction = { from: `0x${call.from}`, to: `0x${call.to}`, data: `0x${call.data}` }
  const value = call.value === undefined ? {} : { value: quantity(call.value) }
  const trace = await evm.call<Trace>('debug_traceCall', { ...transaction, ...value }, 'pending', {
    tracer: 'callTracer',
  })
  const base = Math.max(0, Number(trace.gasUsed) - transactionGas - 4 * tokensOf(call.data))
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
  readonly resources: Resources
  /** Milliseconds. */
  readonly now: number
}

/** How the bytes of a transaction are paid, or null where neither bandwidth nor TRX is enough: all of them or none. */
export function settleBandwidth(
  payer: Payer,
  bytes: number,
  createsAccount: boolean,
): Pick<Settlement, 'netUsage' | 'isFreeNet' | 'netFee'> | null {
  const { resources, address, now, balance } = payer
  if (resources.available(address, 'BANDWIDTH', now) >= bytes) return { netUsage: bytes, isFreeNet: false, netFee: 0 }
  const freeLeft = chainPrices.freeNetLimit - resources.freeNetUsed(address, now)
  if (!createsAccount && freeLeft >= bytes) return { netUsage: bytes, isFreeNet: true, netFee: 0 }
  const netFee = createsAccount ? chainPrices.createAccountFee : bytes * chainPrices.sunPerByte
  return balance >= BigInt(netFee) ? { netUsage: 0, isFreeNet: false, netFee } : null
}

/** How the energy of a call is paid. Where the stake and the TRX up to `fee_limit` are not enough, all of it is gone. */
export function settleEnergy(
  { resources, address, now, balance }: Payer,
  { feeLimit, contract }: RawTransaction,
  netFee: number,
  call: CallResult,
): Pick<Settlement, 'result' | 'energyTotal' | 'energyPenalty' | 'energyUsage' | 'energyFee'> {
  const staked = resources.available(address, 'ENERGY', now)
  const payable = Number(
    (balance - BigInt(netFee) - (contract?.parameters.amount ?? 0n)) / BigInt(chainPrices.sunPerEnergy),
  )
  const limit = Math.min(Math.floor(feeLimit / chainPrices.sunPerEnergy), staked + Math.max(0, payable))
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
