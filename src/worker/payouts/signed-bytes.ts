import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../chain/address.ts'
import { type BlockHeight, type Header, nativeAsset, type Txid, trc20Asset } from '../chain/block.ts'
import { accountIn, bytesOf, type Fields, fieldNumbers, numberOf, readFields } from '../chain/contract.ts'
import {
  callType,
  callUrl,
  encodeSigned,
  encodeTransfer,
  recoveryOf,
  referenceOf,
  signatureBytes,
  signatureBytesMax,
  signedDigitsMax,
  signerOf,
  transferCallData,
  transferEnergyMin,
  transferType,
  transferUrl,
  txidOf,
} from '../chain/transaction.ts'
import type { BytesReason } from '../common/payout-reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import { dayMs, hourMs, type UnixMs } from '../common/time.ts'

/** The newest agreed final block. A signer's transactions name it as their reference block. */
export type Head = Pick<Header, 'height' | 'hash' | 'timestamp'>

/** The transfer that the bytes of a payout must contain. */
export interface ExpectedTransfer {
  readonly from: Address
  readonly to: Address
  /** Empty for TRX. */
  readonly contract: Address | ''
  /** Chain units. */
  readonly amount: bigint
  /** The most sun that a token transfer may burn. */
  readonly feeLimit: bigint
}

/** A signed transaction that makes the expected transfer and nothing else. */
export interface SignedTransfer {
  /** The whole signed message, in hex digits. */
  readonly bytes: string
  readonly txid: Txid
  readonly expiresAt: UnixMs
  /**
   * The newest block at or below the head to which the transaction can refer. Only a later block
   * can contain the transaction.
   */
  readonly reference: BlockHeight
}

/** The fault of signed bytes: a reason for programs, and the difference for people. */
export interface BytesFault {
  readonly reason: BytesReason
  readonly why: string
}

/**
 * A token's transaction with a lower `fee_limit`, in sun, can never pay: an energy costs at least 1
 * sun. `fee_limit` limits staked energy, too.
 */
const feeLimitMin = transferEnergyMin

/** The expiration of a transaction may be this far after the newest final block. */
export const expirationAheadMsMax = hourMs
/**
 * A signer may hand in a transaction that expired at most this long ago. The service does not send
 * such a transaction, and only looks for it in blocks.
 */
export const expiredMsMax = dayMs
/**
 * A message names its reference block by two bytes of the height, so heights repeat after this many
 * blocks.
 */
export const referenceBlocks = 65_536

/**
 * Parses a signed message as java-tron does, and compares it with the transaction that a node would
 * write for this transfer, with the same times, fee limit and reference. `head` is the newest
 * agreed final block. `newest` is null for a new transaction. For a known transaction (stored, or
 * found in a block), which may be of any age, `newest` is the newest block to which the transaction
 * can refer.
 */
export function readSigned(
  text: string,
  expected: ExpectedTransfer,
  head: Pick<Header, 'height' | 'hash' | 'timestamp'>,
  newest: BlockHeight | null,
): Result<SignedTransfer, BytesFault> {
  const digits = digitsOf(text)
  if (digits === null) {
    return fault('not-a-transaction', `not the whole signed message in hex, of at most ${signedDigitsMax} digits`)
  }
  const parts = parseMessage(hexToBytes(digits))
  if (parts === null) return fault('not-a-transaction', 'the bytes are malformed')
  const wrong =
    findStrange(parts) ?? findDifferent(parts, expected) ?? findWrongTimes(parts, expected, head, newest === null)
  if (wrong !== null) return err(wrong)
  const { rawData, signature, raw } = parts
  const reference = heightOf(raw, newest ?? head.height)
  const isOfChain = reference !== head.height || referenceOf(head).hash === hexOf(raw, 4)
  if (reference < 0 || !isOfChain) return fault('reference', 'it refers to no block of this chain')
  const content = { ...referredTo(expected), reference: { bytes: hexOf(raw, 1), hash: hexOf(raw, 4) }, ...timesOf(raw) }
  if (bytesToHex(encodeTransfer(content)) !== bytesToHex(rawData) || encodeSigned(rawData, signature) !== digits) {
    return fault('not-canonical', 'the bytes are not those that a node would write')
  }
  const unsigned = whyNotSigned(parts, expected.from)
  if (unsigned !== null) return fault('wrong-signature', unsigned)
  const expiresAt = Number(content.expiration) as UnixMs // safe: at most an hour after the time of the head
  return ok({ bytes: digits, txid: txidOf(rawData), expiresAt, reference })
}

/** The txid of a signed message, or null if the text is not a message. */
export function txidIn(text: string): Txid | null {
  const digits = digitsOf(text)
  const parts = digits === null ? null : parseMessage(hexToBytes(digits))
  return parts === null ? null : txidOf(parts.rawData)
}

/**
 * The newest height at or below `head` to which a signed message can refer; below 0 if the chain is
 * too short. Null if the text is not a message, or has no reference.
 */
export function referenceIn(text: string, { height }: Pick<Header, 'height'>): BlockHeight | null {
  const digits = digitsOf(text)
  const parts = digits === null ? null : parseMessage(hexToBytes(digits))
  return parts === null || bytesOf(parts.raw, 1).length !== 2 ? null : heightOf(parts.raw, height)
}

/** The hex digits of a message, or null if the text is not hex or is too long. */
function digitsOf(text: string): string | null {
  const digits = text.replace(/^0x/i, '').toLowerCase()
  return /^(?:[0-9a-f]{2})+$/.test(digits) && digits.length <= signedDigitsMax ? digits : null
}

const fault = (reason: BytesReason, why: string) => err<BytesFault>({ reason, why })

/** The parts of a message, parsed by the rules of protobuf. */
interface Parts {
  readonly rawData: Uint8Array
  readonly signature: Uint8Array
  readonly raw: Fields
  readonly contract: Fields
  readonly any: Fields
  readonly call: Fields
  /** The field numbers that each part contains. */
  readonly members: Readonly<Record<keyof typeof allowed, readonly number[]>>
}

/** The fields that each part may contain (java-tron protocol/core/Tron.proto). */
const allowed = {
  message: [1, 2],
  raw: [1, 4, 8, 11, 14, 18],
  contract: [1, 2],
  any: [1, 2],
  call: [1, 2, 3, 4],
} as const
/** Fields for which `BytesReason` has its own reason. */
const named: Readonly<Partial<Record<keyof typeof allowed, Readonly<Record<number, BytesReason>>>>> = {
  raw: { 10: 'memo' },
  contract: { 5: 'permission' },
  call: { 5: 'call-value', 6: 'call-value' },
}

function parseMessage(bytes: Uint8Array): Parts | null {
  try {
    const message = readFields(bytes, { 1: 'bytes', 2: 'bytes' })
    const rawData = bytesOf(message, 1)
    const raw = readFields(rawData, { 1: 'bytes', 4: 'bytes', 8: 'number', 11: 'bytes', 14: 'number', 18: 'number' })
    const contract = readFields(bytesOf(raw, 11), { 1: 'number', 2: 'bytes' })
    const any = readFields(bytesOf(contract, 2), { 1: 'bytes', 2: 'bytes' })
    const isCall = numberOf(contract, 1) === BigInt(callType)
    const shape = isCall ? ({ 1: 'bytes', 2: 'bytes', 3: 'number', 4: 'bytes' } as const) : transferShape
    const members = {
      message: fieldNumbers(bytes),
      raw: fieldNumbers(rawData),
      contract: fieldNumbers(bytesOf(raw, 11)),
      any: fieldNumbers(bytesOf(contract, 2)),
      call: fieldNumbers(bytesOf(any, 2)),
    }
    const call = readFields(bytesOf(any, 2), shape)
    return { rawData, signature: bytesOf(message, 2), raw, contract, any, call, members }
  } catch {
    return null // the reader throws on what is malformed
  }
}

const transferShape = { 1: 'bytes', 2: 'bytes', 3: 'number' } as const

/** Returns a fault if the message has a field that no payout has, or a field twice; else null. */
function findStrange({ members }: Parts): BytesFault | null {
  for (const [message, numbers] of Object.entries(members) as [keyof typeof allowed, readonly number[]][]) {
    for (const [i, number] of numbers.entries()) {
      const reason = named[message]?.[number]
      if (reason !== undefined) return { reason, why: `a payout has no ${reason.replace('-', ' ')}` }
      const isAllowed = (allowed[message] as readonly number[]).includes(number)
      if (!isAllowed) return { reason: 'unknown-member', why: `a payout has no member ${number} of its ${message}` }
      if (numbers.indexOf(number) < i) {
        return { reason: 'repeated-member', why: `member ${number} of its ${message} comes twice` }
      }
    }
  }
  return null
}

/** Returns a fault if the message does not make the expected transfer; else null. */
function findDifferent(
  { contract, any, call }: Parts,
  { from, to, contract: token, amount }: ExpectedTransfer,
): BytesFault | null {
  const [type, url] = token === '' ? [transferType, transferUrl] : [callType, callUrl]
  if (numberOf(contract, 1) !== BigInt(type) || new TextDecoder().decode(bytesOf(any, 1)) !== url) {
    return { reason: 'wrong-type', why: `it is no ${token === '' ? 'transfer of TRX' : 'call of a contract'}` }
  }
  if (accountIn(call, 1) !== from) return { reason: 'wrong-owner', why: `it is not from ${formatBase58(from)}` }
  const target = accountIn(call, 2)
  if (token === '') {
    if (target !== to) return wrongRecipient(to)
    return numberOf(call, 3) === amount ? null : wrongAmount(amount)
  }
  if (target !== token) return { reason: 'wrong-contract', why: `it does not call ${formatBase58(token)}` }
  if (numberOf(call, 3) !== 0n) return { reason: 'call-value', why: 'a payout has no call value' }
  return findWrongCall(hexOf(call, 4), to, amount)
}

const [selectorDigits, recipientAt, amountAt] = [8, 32, 72]
const noPadding = '0'.repeat(recipientAt - selectorDigits)
/** Some libraries write the prefix 41 of a Tron address before its 20 bytes. */
const tronPrefix = '41'.padStart(noPadding.length, '0')

/**
 * Returns a fault if the call data is not `transfer(to, units)`; else null. If the padding before
 * the recipient contains the prefix 41, contracts differ: some ignore the prefix and pay the
 * recipient, others refuse the call (decision note 60).
 */
function findWrongCall(data: string, to: Address, amount: bigint): BytesFault | null {
  const wanted = transferCallData(to, amount)
  if (data === wanted) return null
  const wrong = (why: string): BytesFault => ({ reason: 'wrong-call-data', why })
  if (data.length !== wanted.length || data.slice(0, selectorDigits) !== wanted.slice(0, selectorDigits)) {
    return wrong('its call data is not that of transfer(to, units)')
  }
  if (data.slice(recipientAt, amountAt) !== to) return wrongRecipient(to)
  const padding = data.slice(selectorDigits, recipientAt)
  if (padding === noPadding) return wrongAmount(amount)
  const found = padding === tronPrefix ? '41 before its 20 bytes' : 'other bytes than zeros before it'
  return wrong(`the recipient in its call data has ${found}, which some contracts refuse: write 12 bytes of zero there`)
}

const wrongRecipient = (to: Address): BytesFault => {
  return { reason: 'wrong-recipient', why: `it is not to ${formatBase58(to)}` }
}
const wrongAmount = (amount: bigint): BytesFault => {
  return { reason: 'wrong-amount', why: `it is not of ${amount} units of the chain` }
}

/**
 * Why the key of this address has not made the signature, verified as a node does; null if it has.
 */
function whyNotSigned({ rawData, signature }: Parts, from: Address): string | null {
  const { length } = signature
  if (length === 0) return 'it has no signature'
  if (length < signatureBytes || length > signatureBytesMax) {
    return `its signature has ${length} bytes, and a node takes ${signatureBytes} to ${signatureBytesMax}`
  }
  if (recoveryOf(signature) === null) {
    return `the last byte of its signature is ${signature[signatureBytes - 1]}, and a node reads 0 to 7 and 27 to 34`
  }
  const signer = signerOf(rawData, signature)
  if (signer === from) return null
  if (signer === null) return 'its signature is none: it leads to no key'
  return `it is signed by ${formatBase58(signer)}, not by ${formatBase58(from)}`
}

/**
 * Returns a fault if the fee limit or the expiration is out of bounds, or the reference block is
 * missing; else null.
 */
function findWrongTimes(
  { raw }: Parts,
  { feeLimit: most, contract }: ExpectedTransfer,
  { timestamp }: Pick<Header, 'timestamp'>,
  isNew: boolean,
): BytesFault | null {
  const { expiration, feeLimit } = timesOf(raw)
  // A known transaction may have burnt its fee already, so the present limits do not apply to it.
  const least = isNew && contract !== '' ? feeLimitMin : 0n
  if (feeLimit < least || (isNew && feeLimit > most)) {
    const never = feeLimit < least ? `: ${feeLimit} sun pay for no transfer of a token` : ''
    return { reason: 'fee-limit', why: `its fee_limit is not between ${least} and ${most} sun${never}` }
  }
  if (expiration > BigInt(timestamp + expirationAheadMsMax)) {
    return { reason: 'expiration', why: 'it expires more than 60 minutes after the newest final block' }
  }
  const isOver = isNew && expiration < BigInt(timestamp - expiredMsMax)
  if (isOver) return { reason: 'expiration', why: 'it has expired more than a day before the newest final block' }
  const hasReference = bytesOf(raw, 1).length === 2 && bytesOf(raw, 4).length === 8
  return hasReference ? null : { reason: 'reference', why: 'it has no reference block' }
}

const timesOf = (raw: Fields) => ({
  expiration: numberOf(raw, 8),
  timestamp: numberOf(raw, 14),
  feeLimit: numberOf(raw, 18),
})
const hexOf = (fields: Fields, field: number) => bytesToHex(bytesOf(fields, field))
const referredTo = ({ from, to, contract, amount }: ExpectedTransfer) => {
  return { asset: contract === '' ? nativeAsset : trc20Asset(contract), from, to, amount }
}

/**
 * The highest height at or below `highest` that ends with the two bytes of the reference; below 0
 * if there is none.
 */
function heightOf(raw: Fields, highest: BlockHeight): BlockHeight {
  const low = Number.parseInt(hexOf(raw, 1), 16)
  // safe: callers expect one below 0
  return (highest - ((((highest - low) % referenceBlocks) + referenceBlocks) % referenceBlocks)) as BlockHeight
}
