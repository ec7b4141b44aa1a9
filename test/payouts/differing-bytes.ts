import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/worker/chain/address.ts'
import { type BlockHash, type BlockHeight, trc20Asset } from '../../src/worker/chain/block.ts'
import { encodeTransfer, type TransferContent, transferCallData } from '../../src/worker/chain/transaction.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { type ExpectedTransfer, expirationAheadMsMax, expiredMsMax } from '../../src/worker/payouts/signed-bytes.ts'
import { payoutAddress, signatureOf, signBytes, signTransfer } from '../support/payouts.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { contentOf, recipient, trxContent } from './harness.ts'

/** The newest final block at the time of all these transactions. */
export const head = {
  height: 70_000_019 as BlockHeight,
  hash: `${(70_000_019).toString(16).padStart(16, '0')}9ab280cc3a38bbaa${'7'.repeat(32)}` as BlockHash,
  timestamp: 1_790_000_003_000 as UnixMs,
}
const expected = { from: payoutAddress, to: recipient, amount: 5_000_000n, feeLimit: 100_000_000n }
/** The payout with which signed bytes are compared: 5 USDT to `recipient`. */
export const token: ExpectedTransfer = { ...expected, contract: usdtAddress }
/** The payout with which signed bytes are compared: 5 TRX to `recipient`. */
export const trx: ExpectedTransfer = { ...expected, contract: '' }

/**
 * The signed message of a payout of 5 USDT as hex digits; `changes` replace parts of the transfer.
 */
export const usdt = (changes: Partial<TransferContent> = {}) => signTransfer(contentOf(head, changes)).transaction
/**
 * The signed message of a payout of 5 TRX as hex digits; `changes` replace parts of the transfer.
 */
export const sun = (changes: Partial<TransferContent> = {}) => signTransfer(trxContent(head, changes)).transaction

/** A protobuf field of bytes: its tag, its length and the bytes. */
export const bytesField = (field: number, bytes: Uint8Array) => new BinaryWriter().tag(field, 2).bytes(bytes).finish()
const numberField = (field: number, value: bigint) => new BinaryWriter().tag(field, 0).int64(value).finish()
const account = (address: Address) => hexToBytes(`41${address}`)

/**
 * How the nested protobuf messages of a payout are built, from the inside to the outside. The order
 * in a list is the order of the fields.
 */
interface Fields {
  readonly call: readonly Uint8Array[]
  readonly any: (call: Uint8Array) => readonly Uint8Array[]
  readonly contract: (any: Uint8Array) => readonly Uint8Array[]
  readonly raw: (contract: Uint8Array) => readonly Uint8Array[]
  readonly message: (raw: Uint8Array) => readonly Uint8Array[]
}

const { reference, expiration, timestamp } = contentOf(head)
const call = hexToBytes(transferCallData(recipient, 5_000_000n))
const url = new TextEncoder().encode('type.googleapis.com/protocol.TriggerSmartContract')
const [refBytes, refHash] = [bytesField(1, hexToBytes(reference.bytes)), bytesField(4, hexToBytes(reference.hash))]
const [expires, made, burns] = [numberField(8, expiration), numberField(14, timestamp), numberField(18, 100_000_000n)]
const [callFrom, callOf, callData] = [
  bytesField(1, account(payoutAddress)),
  bytesField(2, account(usdtAddress)),
  bytesField(4, call),
]

/**
 * The signed message of a payout of 5 USDT as hex digits, with one step of its building replaced.
 */
export function build(changes: Partial<Fields> = {}): string {
  const fields: Fields = {
    call: [callFrom, callOf, callData],
    any: (inner) => [bytesField(1, url), bytesField(2, inner)],
    contract: (any) => [numberField(1, 31n), bytesField(2, any)],
    raw: (contract) => [refBytes, refHash, expires, bytesField(11, contract), made, burns],
    message: (raw) => [bytesField(1, raw), bytesField(2, signatureOf(raw))],
    ...changes,
  }
  const contract = concatBytes(...fields.contract(concatBytes(...fields.any(concatBytes(...fields.call)))))
  return bytesToHex(concatBytes(...fields.message(concatBytes(...fields.raw(contract)))))
}

/** A message whose signature has this last byte, in place of 27 or 28. */
export const endingWith = (last: number): string =>
  build({ message: (data) => [bytesField(1, data), bytesField(2, signatureOf(data).with(64, last))] })
/** A message with zeros behind its signature, as some wallets once wrote them. */
export const padded = (bytes: number): string =>
  build({
    message: (data) => [bytesField(1, data), bytesField(2, concatBytes(signatureOf(data), new Uint8Array(bytes)))],
  })
/**
 * A message whose call data has the recipient in 21 bytes, with the chain's 0x41 first, as
 * wallet-core and anychain-tron write it.
 */
export const prefixed = build({ call: [callFrom, callOf, bytesField(4, call.with(15, 0x41))] })

/** Replaces `raw` in `build`: the usual fields, with `more` in front of the contract. */
const raw = (...more: Uint8Array[]) => ({
  raw: (contract: Uint8Array) => [refBytes, refHash, expires, ...more, bytesField(11, contract), made, burns],
})

/**
 * Each row's bytes differ from a payout's in one way; `word` is the reason with which they are
 * refused.
 */
const rows: readonly (readonly [word: string, how: string, transaction: string, of?: ExpectedTransfer])[] = [
  ['not-a-transaction', 'no hex', 'zz'],
  ['not-a-transaction', 'half a byte', usdt().slice(1)],
  ['not-a-transaction', 'nothing', ''],
  ['not-a-transaction', 'an end that is missing', usdt().slice(0, -2)],
  ['not-a-transaction', 'more digits than any payout has', usdt() + '00'.repeat(1_000)],
  [
    'unknown-member',
    'a result beside the signature',
    build({
      message: (data) => [bytesField(1, data), bytesField(2, signatureOf(data)), bytesField(5, Uint8Array.of(8, 1))],
    }),
  ],
  [
    'unknown-member',
    'a member that no version has, at the end',
    build({
      raw: (contract) => [refBytes, refHash, expires, bytesField(11, contract), made, burns, numberField(99, 1n)],
    }),
  ],
  ['unknown-member', 'an authority', build(raw(bytesField(9, new Uint8Array(1))))],
  [
    'unknown-member',
    'a script',
    build({
      raw: (contract) => [
        refBytes,
        refHash,
        expires,
        bytesField(11, contract),
        bytesField(12, new Uint8Array(1)),
        made,
        burns,
      ],
    }),
  ],
  [
    'unknown-member',
    'a number of the reference block',
    build({
      raw: (contract) => [refBytes, numberField(3, 5n), refHash, expires, bytesField(11, contract), made, burns],
    }),
  ],
  [
    'unknown-member',
    'a provider of the contract',
    build({ contract: (any) => [numberField(1, 31n), bytesField(2, any), bytesField(3, new Uint8Array(1))] }),
  ],
  [
    'unknown-member',
    'a member beside the parameter',
    build({ any: (inner) => [bytesField(1, url), bytesField(2, inner), numberField(3, 1n)] }),
  ],
  ['unknown-member', 'a member of the call', build({ call: [callFrom, callOf, callData, numberField(9, 1n)] })],
  [
    'repeated-member',
    'two contracts',
    build({
      raw: (contract) => [refBytes, refHash, expires, bytesField(11, contract), bytesField(11, contract), made, burns],
    }),
  ],
  [
    'repeated-member',
    'two signatures',
    build({
      message: (data) => [bytesField(1, data), bytesField(2, signatureOf(data)), bytesField(2, signatureOf(data))],
    }),
  ],
  [
    'repeated-member',
    'two raw data, of which the last one is right',
    build({
      message: (data) => [bytesField(1, new Uint8Array(0)), bytesField(1, data), bytesField(2, signatureOf(data))],
    }),
  ],
  ['repeated-member', 'two expirations', build(raw(expires))],
  ['repeated-member', 'two recipients', build({ call: [callFrom, callOf, bytesField(4, call.with(40, 1)), callData] })],
  [
    'repeated-member',
    'two type URLs',
    build({ any: (inner) => [bytesField(1, url), bytesField(1, url), bytesField(2, inner)] }),
  ],
  [
    'not-canonical',
    'fields in another order',
    build({ raw: (contract) => [refHash, refBytes, expires, bytesField(11, contract), made, burns] }),
  ],
  [
    'not-canonical',
    'a padded number',
    build({
      raw: (contract) => [
        refBytes,
        refHash,
        concatBytes(Uint8Array.of(0x40), paddedNumber(expires.subarray(1))),
        bytesField(11, contract),
        made,
        burns,
      ],
    }),
  ],
  [
    'not-canonical',
    'a padded tag',
    build({
      raw: (contract) => [
        concatBytes(Uint8Array.of(0x8a, 0), refBytes.subarray(1)),
        refHash,
        expires,
        bytesField(11, contract),
        made,
        burns,
      ],
    }),
  ],
  ['not-canonical', 'an explicit zero in the call', build({ call: [callFrom, callOf, numberField(3, 0n), callData] })],
  [
    'not-canonical',
    'an explicit zero as the timestamp',
    build({ raw: (contract) => [refBytes, refHash, expires, bytesField(11, contract), numberField(14, 0n), burns] }),
  ],
  [
    'not-canonical',
    'the signature before the data',
    build({ message: (data) => [bytesField(2, signatureOf(data)), bytesField(1, data)] }),
  ],
  [
    'wrong-signature',
    'another key',
    signBytes(encodeTransfer({ ...contentOf(head), from: payoutAddress }), new Uint8Array(32).fill(7)).transaction,
  ],
  [
    'wrong-signature',
    'a signature of other bytes',
    build({ message: (data) => [bytesField(1, data), bytesField(2, signatureOf(data.with(9, 1)))] }),
  ],
  [
    'wrong-signature',
    '64 bytes',
    build({ message: (data) => [bytesField(1, data), bytesField(2, signatureOf(data).subarray(0, 64))] }),
  ],
  [
    'wrong-signature',
    '69 bytes',
    build({
      message: (data) => [bytesField(1, data), bytesField(2, concatBytes(signatureOf(data), new Uint8Array(4)))],
    }),
  ],
  ['wrong-signature', 'a last byte that no node reads', endingWith(8)],
  ['wrong-signature', 'no signature', build({ message: (data) => [bytesField(1, data)] })],
  ['wrong-type', 'TRX in place of a token', sun()],
  ['wrong-type', 'a token in place of TRX', usdt(), trx],
  [
    'wrong-type',
    'another type with the same message',
    build({ contract: (any) => [numberField(1, 30n), bytesField(2, any)] }),
  ],
  [
    'wrong-type',
    'a type of more than 32 bits',
    build({ contract: (any) => [numberField(1, 2n ** 32n + 31n), bytesField(2, any)] }),
  ],
  [
    'wrong-type',
    'the name of another message',
    build({
      any: (inner) => [
        bytesField(1, new TextEncoder().encode('type.googleapis.com/protocol.TransferContract')),
        bytesField(2, inner),
      ],
    }),
  ],
  [
    'wrong-type',
    'a type URL of another host',
    build({
      any: (inner) => [
        bytesField(1, new TextEncoder().encode('x/protocol.TriggerSmartContract')),
        bytesField(2, inner),
      ],
    }),
  ],
  ['wrong-owner', 'somebody else', build({ call: [bytesField(1, account(addressOf(9))), callOf, callData] })],
  [
    'wrong-owner',
    'an address of 20 bytes',
    build({ call: [bytesField(1, hexToBytes(payoutAddress)), callOf, callData] }),
  ],
  ['wrong-recipient', 'somebody else, of a token', usdt({ to: addressOf(61) })],
  ['wrong-recipient', 'somebody else, of TRX', sun({ to: addressOf(61) }), trx],
  ['wrong-call-data', 'dirt before the address', build({ call: [callFrom, callOf, bytesField(4, call.with(5, 1))] })],
  ['wrong-call-data', "Tron's prefix before the address", prefixed],
  [
    'wrong-recipient',
    "Tron's prefix before another address",
    build({ call: [callFrom, callOf, bytesField(4, call.with(15, 0x41).with(20, 1))] }),
  ],
  ['wrong-amount', 'one unit more of a token', usdt({ amount: 5_000_001n })],
  ['wrong-amount', 'one unit less of TRX', sun({ amount: 4_999_999n }), trx],
  ['wrong-contract', 'another token', usdt({ asset: trc20Asset(addressOf(33)) })],
  [
    'wrong-call-data',
    'approve(address,uint256)',
    build({ call: [callFrom, callOf, bytesField(4, concatBytes(hexToBytes('095ea7b3'), call.subarray(4)))] }),
  ],
  [
    'wrong-call-data',
    'a byte behind it',
    build({ call: [callFrom, callOf, bytesField(4, concatBytes(call, new Uint8Array(1)))] }),
  ],
  ['wrong-call-data', 'no call data', build({ call: [callFrom, callOf] })],
  ['call-value', 'TRX with the call', build({ call: [callFrom, callOf, numberField(3, 1n), callData] })],
  ['call-value', 'a TRC-10 token with the call', build({ call: [callFrom, callOf, callData, numberField(5, 1n)] })],
  ['call-value', 'the id of a TRC-10 token', build({ call: [callFrom, callOf, callData, numberField(6, 1n)] })],
  [
    'memo',
    'a memo',
    build({
      raw: (contract) => [
        refBytes,
        refHash,
        expires,
        bytesField(10, new Uint8Array(3)),
        bytesField(11, contract),
        made,
        burns,
      ],
    }),
  ],
  [
    'permission',
    'a permission',
    build({ contract: (any) => [numberField(1, 31n), bytesField(2, any), numberField(5, 2n)] }),
  ],
  ['fee-limit', 'one sun more than it may burn', usdt({ feeLimit: 100_000_001n })],
  ['fee-limit', 'a negative one', usdt({ feeLimit: -1n })],
  ['fee-limit', 'none', usdt({ feeLimit: 0n })],
  ['fee-limit', 'one sun', usdt({ feeLimit: 1n })],
  ['fee-limit', 'one sun less than the cheapest transfer takes', usdt({ feeLimit: 11_755n })],
  [
    'expiration',
    'a millisecond more than an hour',
    usdt({ expiration: BigInt(head.timestamp + expirationAheadMsMax + 1) }),
  ],
  ['expiration', 'a millisecond more than a day ago', usdt({ expiration: BigInt(head.timestamp - expiredMsMax - 1) })],
  ['expiration', 'none', usdt({ expiration: 0n })],
  ['reference', 'another hash of the head', usdt({ reference: { ...reference, hash: '0'.repeat(16) } })],
  ['reference', 'no bytes', build({ raw: (contract) => [refHash, expires, bytesField(11, contract), made, burns] })],
  [
    'reference',
    'three bytes',
    build({
      raw: (contract) => [bytesField(1, new Uint8Array(3)), refHash, expires, bytesField(11, contract), made, burns],
    }),
  ],
  [
    'reference',
    'seven bytes of a hash',
    build({
      raw: (contract) => [refBytes, bytesField(4, new Uint8Array(7)), expires, bytesField(11, contract), made, burns],
    }),
  ],
]

/** The same number in a varint that is one byte longer than necessary. */
function paddedNumber(varint: Uint8Array): Uint8Array {
  const last = varint.length - 1
  return concatBytes(varint.with(last, (varint[last] ?? 0) | 0x80), new Uint8Array(1))
}

/** The rows as objects. `of` is the payout that the bytes should pay. */
export const differing = rows.map(([word, how, transaction, of = token]) => ({ word, how, transaction, of }))
