import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../../src/chain/address.ts'
import { signerOf } from '../../src/tools/keys/account-key.ts'
import { strip0x } from '../support/hex.ts'
import { loadBlockHash } from './blocks.ts'
import type { DevnetNode } from './node.ts'
import { parseTransaction, type RawTransaction } from './parse-transaction.ts'
import { settleBandwidth, settleEnergy, traceCall } from './settle.ts'
import type { Submit } from './submit.ts'
import { Refusal, validateContract } from './validate-contract.ts'

const expirationAheadMsMax = 86_400_000
const slotMs = 3_000
/** Bytes of the result, which count although it is not broadcast. */
const resultBytes = 64
const transactionBytesMax = 512_000

type Contract = NonNullable<RawTransaction['contract']>

/**
 * `POST /wallet/broadcasthex`: checks a transaction as java-tron does, in its order, and gives it to the EVM chain. The
 * reply's `transaction` is left out. `energyFactor` is the dynamic price of a contract.
 */
export function createBroadcast(
  node: DevnetNode,
  submit: Submit,
  energyFactor: (contract: string) => number,
): (hex: string) => Promise<Record<string, unknown>> {
  let last: Promise<unknown> = Promise.resolve()
  const broadcastOne = async (hex: string): Promise<Record<string, unknown>> => {
    let parsed: ReturnType<typeof parseTransaction>
    try {
      parsed = parseTransaction(hexToBytes(strip0x(hex)))
    } catch {
      return { Error: 'class com.google.protobuf.InvalidProtocolBufferException : not a protocol message' }
    }
    const { raw, signatures } = parsed
    try {
      await accept(node, submit, energyFactor, raw, signatures, hex)
      return { result: true, code: 'SUCCESS', txid: raw.txid, message: '' }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { result: false, code: error.code, txid: raw.txid, message: error.message }
    }
  }
  return (hex) => {
    const answer = last.then(() => broadcastOne(hex)) // each is checked with the state that the one before it left
    last = answer.catch(() => undefined)
    return answer
  }
}

async function accept(
  node: DevnetNode,
  submit: Submit,
  energyFactor: (contract: string) => number,
  raw: RawTransaction,
  signatures: readonly Uint8Array[],
  hex: string,
): Promise<void> {
  const { contract } = raw
  if (contract === null) throw new Refusal('CONTRACT_VALIDATE_ERROR', 'Contract validate error : No contract!')
  requireSize(raw, hex)
  const { resources, now } = await node.resources()
  await requireReference(node, raw)
  if (raw.expiration < now + slotMs || raw.expiration > now + expirationAheadMsMax) {
    throw new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired')
  }
  if ((await node.findTransaction(raw.txid)) !== null) throw new Refusal('DUP_TRANSACTION_ERROR', 'Dup transaction.')
  const owner = contract.parameters.owner
  requireSignature(raw, signatures, owner)
  const [balance, targetActive, ownerActive] = await Promise.all([
    node.balance(owner),
    isActive(node, contract.parameters.target ?? owner),
    isActive(node, owner),
  ])
  if (!ownerActive) {
    const name = formatBase58(owner as Address) // safe: 20 bytes of the transaction
    throw new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : account [${name}] does not exist`)
  }
  const createsAccount = ['TransferContract', 'AccountCreateContract'].includes(contract.type) && !targetActive
  const payer = { address: owner, balance, resources, now }
  const bandwidth = settleBandwidth(payer, strip0x(hex).length / 2 + resultBytes, createsAccount)
  if (bandwidth === null) throw new Refusal('BANDWITH_ERROR', 'Account resource insufficient error.')
  await validateContract(node, raw, payer, bandwidth.netFee, targetActive)
  const call = contract.type === 'TriggerSmartContract' ? await runCall(node, contract, energyFactor) : null
  const energy = call === null ? noEnergy : settleEnergy(payer, raw, bandwidth.netFee, call)
  const activationFee = createsAccount ? 1_000_000 : 0
  const settlement = { ...bandwidth, ...energy, activationFee }
  const signature = bytesToHex(signatures[0] ?? new Uint8Array(0))
  const fails = settlement.result === 'OUT_OF_ENERGY' ? settlement.result : undefined
  await submit({ rawHex: raw.rawHex, signature, settlement }, fails)
}

const noEnergy = { result: 'SUCCESS', energyTotal: 0, energyPenalty: 0, energyUsage: 0, energyFee: 0 } as const

function runCall(node: DevnetNode, { parameters }: Contract, energyFactor: (contract: string) => number) {
  const { owner, target, code, amount } = parameters
  const to = target ?? ''
  return traceCall(node.evm, { from: owner, to, data: code, value: amount }, energyFactor(to))
}

/** An account exists once it received TRX, was created, or was used. */
export async function isActive(node: DevnetNode, address: string): Promise<boolean> {
  const { resources } = await node.resources()
  if (resources.of(address).isActive) return true
  return (await node.evm.call<string>('eth_getBalance', `0x${address}`, 'pending')) !== '0x0'
}

function requireSize({ txid }: RawTransaction, hex: string): void {
  const bytes = strip0x(hex).length / 2 + resultBytes
  if (bytes <= transactionBytesMax) return
  const sizes = `the size is ${bytes} bytes, maxTxSize ${transactionBytesMax}`
  throw new Refusal('TOO_BIG_TRANSACTION_ERROR', `Too big transaction with result, TxId ${txid}, ${sizes}`)
}

/** The newest block whose height ends in these two bytes must have this hash, among the last 65,536. */
async function requireReference(node: DevnetNode, { refBlockBytes, refBlockHash }: RawTransaction): Promise<void> {
  const { latest } = await node.heads()
  const low = Number.parseInt(refBlockBytes || '0', 16)
  const height = latest - ((latest - low) & 0xffff)
  const hash = refBlockBytes.length === 4 && height >= 0 ? await loadBlockHash(node.evm, height) : null
  if (hash?.slice(16, 32) !== refBlockHash) throw new Refusal('TAPOS_ERROR', 'Tapos check error.')
}

function requireSignature(raw: RawTransaction, signatures: readonly Uint8Array[], owner: string): void {
  const fault = signatureFault(raw, signatures, owner)
  if (fault !== null) throw new Refusal('SIGERROR', `Validate signature error: ${fault}`)
}

function signatureFault(raw: RawTransaction, signatures: readonly Uint8Array[], owner: string): string | null {
  const [signature] = signatures
  if (signature === undefined) return 'miss sig or contract'
  if (signatures.length > 1) return `Signature count is ${signatures.length} more than key counts of permission : 1`
  if (signature.length !== 65) return `Signature size is ${signature.length}`
  const signer = signerOf(hexToBytes(raw.rawHex), signature)
  if (signer === null) return 'java.security.SignatureException: Header byte out of range'
  if (signer === owner) return null
  const name = formatBase58(signer)
  return `${bytesToHex(signature)} is signed by ${name} but it is not contained of permission.`
}
