import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../../src/chain/address.ts'
import { signerOf } from '../../src/tools/keys/account-key.ts'
import { strip0x } from '../support/hex.ts'
import { chainPrices } from './accounts.ts'
import { loadBlockHash } from './blocks.ts'
import { type DevnetNode, oneByOne } from './node.ts'
import { type Payer, Refusal, settleBandwidth, settleEnergy, traceCall, validateContract } from './settle.ts'
import { parseTransaction, type RawTransaction } from './transaction.ts'

const expirationAheadMsMax = 86_400_000
const slotMs = 3_000
/** Bytes of the result, which count although it is not broadcast. */
const resultBytes = 64
const transactionBytesMax = 512_000

/**
 * `POST /wallet/broadcasthex`: checks a transaction as java-tron does, in its order, and gives it to the EVM chain. The
 * reply's `transaction` is left out. `energyFactor` is the dynamic price of the contracts.
 */
export function createBroadcast(
  node: DevnetNode,
  energyFactor: () => number,
): (hex: string) => Promise<Record<string, unknown>> {
  // Each is checked with the state that the one before it left.
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
  requireSize(raw, hex)
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

const noEnergy = { result: 'SUCCESS', energyTotal: 0, energyPenalty: 0, energyUsage: 0, energyFee: 0 } as const

async function settleCall(node: DevnetNode, raw: RawTransaction, factor: number, payer: Payer, netFee: number) {
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

function requireSize({ txid }: RawTransaction, hex: string): void {
  const bytes = strip0x(hex).length / 2 + resultBytes
  if (bytes <= transactionBytesMax) return
  const sizes = `the size is ${bytes} bytes, maxTxSize ${transactionBytesMax}`
  throw new Refusal('TOO_BIG_TRANSACTION_ERROR', `Too big transaction with result, TxId ${txid}, ${sizes}`)
}

/** The newest block whose height ends in these two bytes must have this hash, among the last 65,536. */
async function requireReference(node: DevnetNode, { json }: RawTransaction): Promise<void> {
  const { ref_block_bytes: bytes = '', ref_block_hash: wanted } = json
  const { latest } = await node.heads()
  const low = Number.parseInt(bytes || '0', 16)
  const height = latest - ((latest - low) & 0xffff)
  const hash = bytes.length === 4 && height >= 0 ? await loadBlockHash(node.evm, height) : null
  if (hash?.slice(16, 32) !== wanted) throw new Refusal('TAPOS_ERROR', 'Tapos check error.')
}

function requireSignature(raw: RawTransaction, signatures: readonly Uint8Array[]): void {
  const fault = signatureFault(raw, signatures)
  if (fault !== null) throw new Refusal('SIGERROR', `Validate signature error: ${fault}`)
}

function signatureFault({ rawHex, owner }: RawTransaction, signatures: readonly Uint8Array[]): string | null {
  const [signature] = signatures
  if (signature === undefined) return 'miss sig or contract'
  if (signatures.length > 1) return `Signature count is ${signatures.length} more than key counts of permission : 1`
  if (signature.length !== 65) return `Signature size is ${signature.length}`
  const signer = signerOf(hexToBytes(rawHex), signature)
  if (signer === null) return 'java.security.SignatureException: Header byte out of range'
  if (signer === owner) return null
  const name = formatBase58(signer)
  return `${bytesToHex(signature)} is signed by ${name} but it is not contained of permission.`
}
