import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { signerOf } from '../../src/worker/chain/transaction.ts'
import { quantity, strip0x } from '../support/hex.ts'
import { type Accounts, chainPrices } from './accounts.ts'
import { loadBlockHash } from './blocks.ts'
import type { Evm } from './evm.ts'
import type { DevnetNode } from './node.ts'
import { oneByOne } from './one-by-one.ts'
import { parseTransaction, type RawTransaction, type Settlement } from './transaction.ts'

const expirationAheadMsMax = 86_400_000
const slotMs = 3_000
/**
 * Bytes that a node charges for the result of a transaction, although the broadcast message
 * contains none.
 */
const resultBytes = 64

/** Why a node does not take a transaction, with java-tron's code and text. */
class Refusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Makes the handler of `POST /wallet/broadcasthex`. It makes those checks of java-tron that a
 * tool's mistake can fail, in java-tron's order, and gives the transaction to the EVM chain. The
 * reply lacks the member `transaction`. `energyFactor` is the dynamic price of the contracts.
 */
export function createBroadcast(
  node: DevnetNode,
  energyFactor: () => number,
): (hex: string) => Promise<Record<string, unknown>> {
  // One at a time, so that each transaction is checked with the state that the one before it left.
  return oneByOne(async (hex) => {
    let parsed: ReturnType<typeof parseTransaction>
    try {
      parsed = parseTransaction(hexToBytes(strip0x(hex)))
    } catch {
      return { Error: 'class com.google.protobuf.InvalidProtocolBufferException : not a protocol message' }
    }
    const { txid } = parsed.raw
    try {
      await accept(node, energyFactor(), parsed, hex)
      return { result: true, code: 'SUCCESS', txid, message: '' }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { result: false, code: error.code, txid, message: error.message }
    }
  })
}

async function accept(
  node: DevnetNode,
  energyFactor: number,
  { raw, signatures }: ReturnType<typeof parseTransaction>,
  hex: string,
): Promise<void> {
  const { accounts, now } = await node.accounts()
  await requireReference(node, raw)
  const { expiration = 0 } = raw.json
  if (expiration < now + slotMs || expiration > now + expirationAheadMsMax) {
    throw new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired')
  }
  if ((await node.findTransaction(raw.txid)) !== null) throw new Refusal('DUP_TRANSACTION_ERROR', 'Dup transaction.')
  const { owner, target } = raw
  requireSignature(raw, signatures)
  const [balance, targetActive, ownerActive] = await Promise.all([
    node.balance(owner),
    isActive(node, target ?? owner),
    isActive(node, owner),
  ])
  if (!ownerActive) {
    const name = formatBase58(owner as Address) // safe: 20 bytes of the transaction
    throw new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : account [${name}] does not exist`)
  }
  const createsAccount = ['TransferContract', 'AccountCreateContract'].includes(raw.type) && !targetActive
  const payer = { address: owner, balance, accounts, now }
  const bandwidth = settleBandwidth(payer, strip0x(hex).length / 2 + resultBytes, createsAccount)
  if (bandwidth === null) throw new Refusal('BANDWITH_ERROR', 'Account resource insufficient error.')
  await validateContract(node, raw, payer, bandwidth.netFee, targetActive)
  const energy =
    raw.type === 'TriggerSmartContract' ? await settleCall(node, raw, energyFactor, payer, bandwidth.netFee) : noEnergy
  const settlement = { ...bandwidth, ...energy, activationFee: createsAccount ? chainPrices.newAccountFee : 0 }
  const signature = bytesToHex(signatures[0] ?? new Uint8Array(0))
  const fails = settlement.result === 'OUT_OF_ENERGY' ? settlement.result : undefined
  await node.submit({ rawHex: raw.rawHex, signature, settlement }, fails)
}

const noEnergy = { result: 'SUCCESS', energyTotal: 0, energyUsage: 0, energyFee: 0 } as const

async function settleCall(node: DevnetNode, raw: RawTransaction, factor: number, payer: FeePayer, netFee: number) {
  const { owner, target, code, amount } = raw
  const call = await traceCall(node.evm, { from: owner, to: target ?? '', data: code, value: amount }, factor)
  return settleEnergy(payer, raw, netFee, call)
}

/** An account exists once it received TRX, was created, or was used. */
export async function isActive(node: DevnetNode, address: string): Promise<boolean> {
  const { accounts } = await node.accounts()
  if (accounts.of(address).isActive) return true
  return (await node.evm.call<string>('eth_getBalance', `0x${address}`, 'pending')) !== '0x0'
}

/**
 * Checks the reference block: the newest block, among the last 65,536, whose height ends in these
 * two bytes must have this hash.
 */
async function requireReference(node: DevnetNode, { json }: RawTransaction): Promise<void> {
  const { ref_block_bytes: bytes = '', ref_block_hash: wanted } = json
  const { latest } = await node.heads()
  const low = Number.parseInt(bytes || '0', 16)
  const height = latest - ((latest - low) & 0xffff)
  const hash = bytes.length === 4 && height >= 0 ? await loadBlockHash(node.evm, height) : null
  if (hash?.slice(16, 32) !== wanted) throw new Refusal('TAPOS_ERROR', 'Tapos check error.')
}

function requireSignature({ rawHex, owner }: RawTransaction, [signature]: readonly Uint8Array[]): void {
  const signer = signature === undefined ? null : signerOf(hexToBytes(rawHex), signature)
  if (signature === undefined || signer === null) throw new Refusal('SIGERROR', 'Validate signature error: miss sig')
  if (signer === owner) return
  const why = `is signed by ${formatBase58(signer)} but it is not contained of permission.`
  throw new Refusal('SIGERROR', `Validate signature error: ${bytesToHex(signature)} ${why}`)
}

/** What a call of a contract needs and returns. */
interface CallResult {
  readonly energy: number
  readonly isReverted: boolean
  readonly output: string
}

interface Trace {
  readonly gasUsed: string
  readonly output?: string
  readonly error?: string
}

const transactionGas = 21_000

/**
 * Runs a call on the newest state. `factor` is the contract's dynamic price, 1 without a penalty.
 */
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
  return { energy, isReverted: trace.error !== undefined, output: strip0x(trace.output ?? '') }
}

/** Ethereum's measure of call data: 1 for a zero byte, 4 for another. */
function tokensOf(data: string): number {
  return hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? 1 : 4), 0)
}

/** The account that a transaction is charged to. */
interface FeePayer {
  readonly address: string
  readonly balance: bigint
  readonly accounts: Accounts
  /** The time in milliseconds since 1970. */
  readonly now: number
}

/**
 * How the bytes of a transaction are paid: all from free bandwidth, or all with TRX. Null if
 * neither is enough.
 */
function settleBandwidth(
  payer: FeePayer,
  bytes: number,
  createsAccount: boolean,
): Pick<Settlement, 'netUsage' | 'netFee'> | null {
  const { accounts, address, now, balance } = payer
  const freeLeft = chainPrices.freeNetLimit - accounts.freeNetUsed(address, now)
  if (!createsAccount && freeLeft >= bytes) return { netUsage: bytes, netFee: 0 }
  const netFee = createsAccount ? chainPrices.createAccountFee : bytes * chainPrices.sunPerByte
  return balance >= BigInt(netFee) ? { netUsage: 0, netFee } : null
}

/**
 * How the energy of a call is paid. If the stake and the TRX up to `fee_limit` are not enough, the
 * call fails, and both are used up.
 */
function settleEnergy(
  { accounts, address, now, balance }: FeePayer,
  { json, amount }: RawTransaction,
  netFee: number,
  call: CallResult,
): Pick<Settlement, 'result' | 'energyTotal' | 'energyUsage' | 'energyFee'> {
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
    energyUsage,
    energyFee: (energyTotal - energyUsage) * chainPrices.sunPerEnergy,
  }
}

const minimumStake = 1_000_000n

function invalid(why: string): never {
  throw new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${why}`)
}

/** Refuses a contract that its sender's account does not allow. `netFee` is sun for its bytes. */
async function validateContract(
  node: DevnetNode,
  raw: RawTransaction,
  payer: FeePayer,
  netFee: number,
  targetActive: boolean,
): Promise<void> {
  const { type, target, amount, json } = raw
  const available = payer.balance - BigInt(netFee)
  switch (type) {
    case 'TransferContract': {
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
      const code = await node.evm.call<string>('eth_getCode', `0x${target}`, 'pending')
      if (code === '0x') invalid('No contract or not a smart contract')
      return
    }
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
      return validateDelegation(raw, payer, targetActive)
    default:
      invalid(`the local chain takes no ${type}`)
  }
}

function validateDelegation(
  { type, owner, target, amount }: RawTransaction,
  { accounts, now }: FeePayer,
  targetActive: boolean,
): void {
  const receiver = target ?? ''
  if (type === 'DelegateResourceContract') {
    if (amount < minimumStake) invalid('delegateBalance must be greater than or equal to 1 TRX')
    if (accounts.delegatable(owner, now) < amount) {
      invalid('delegateBalance must be less than or equal to available FreezeEnergyV2 balance')
    }
    if (!targetActive) invalid(`Account[41${receiver}] not exists`)
    return
  }
  const delegated = accounts.delegation(owner, receiver)
  if (delegated === 0n) invalid('delegated Resource does not exist')
  if (delegated < amount) {
    invalid(`insufficient delegateFrozenBalance(Energy), request=${amount}, unlock_balance=${delegated}`)
  }
}
