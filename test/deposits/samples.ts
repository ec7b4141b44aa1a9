import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { hexToBytes } from '@noble/hashes/utils.js'
import type { AddressOwner } from '../../src/addresses/address-book.ts'
import type { Address } from '../../src/chain/address.ts'
import type { Block, BlockHash, BlockHeight, BlockRef, Log, Receipt, Transaction, Txid } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { Uid } from '../../src/common/ids.ts'
import { ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import type { Candidate } from '../../src/deposits/deposit.ts'
import type { OwnedCandidate } from '../../src/deposits/detect-transfers.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { trx, usdt } from '../support/currencies.ts'
import { usdtAddress } from '../support/transaction-spec.ts'

export const alice = { uid: 1 as Uid, address: 'a1'.repeat(20) as Address }
export const bob = { uid: 2 as Uid, address: 'b0'.repeat(20) as Address }
export const stranger = '5e'.repeat(20) as Address
export const otherStranger = '5f'.repeat(20) as Address
/** Both addresses were issued when block 69 was final. */
export const owners: ReadonlyMap<Address, AddressOwner> = new Map(
  [alice, bob].map(({ uid, address }) => [address, { uid, issuedHeight: 69 as BlockHeight }]),
)

export const fakeContract = 'fa'.repeat(20) as Address

export const txid = (n: number) => n.toString(16).padStart(64, '0') as Txid
export const ref: BlockRef = { height: 70 as BlockHeight, hash: '70'.repeat(32) as BlockHash }

/** A transfer of 1 TRX from a stranger to Alice, with changes. */
export const transaction = (over: Partial<Transaction> = {}): Transaction => ({
  txid: txid(1),
  from: stranger,
  to: alice.address,
  value: '0xf4240',
  input: '0x',
  ...over,
})

/** A number as a word of 32 bytes. */
export const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
/** An address as a topic of a log. */
export const topic = (address: Address) => `0x${'0'.repeat(24)}${address}`

/** A Transfer event of 1 USDT from a stranger to Alice, with changes. */
export const log = (over: Partial<Log> & { from?: Address; to?: Address; raw?: bigint } = {}): Log => {
  const { from = stranger, to = alice.address, raw = 1_000_000n, ...rest } = over
  return {
    txid: txid(1),
    position: 0,
    contract: usdtAddress,
    topics: [transferTopic, topic(from), topic(to)],
    data: word(raw),
    ...rest,
  }
}

/** The block `ref` with these transactions and logs. */
export const block = (transactions: readonly Transaction[], logs: readonly Log[] = []): Block => ({
  ...ref,
  parentHash: '69'.repeat(32) as BlockHash,
  timestamp: 0 as UnixMs,
  transactions,
  logs,
})

/** The receipt of `transaction()` with these logs, with changes. */
export const receipt = (logs: readonly Log[] = [], over: Partial<Receipt> = {}): Receipt => ({
  txid: txid(1),
  block: ref,
  succeeded: true,
  logs,
  ...over,
})

/** `transaction()` as a candidate. */
export const trxCandidate: Candidate = {
  txid: txid(1),
  position: 0,
  block: ref,
  currency: trx,
  from: stranger,
  to: alice.address,
  raw: 1_000_000n,
}

/** `log({ position: 1 })` as a candidate. */
export const usdtCandidate: Candidate = { ...trxCandidate, position: 1, currency: usdt }

/** A candidate that pays Alice. */
export const toAlice = (candidate: Candidate): OwnedCandidate => ({ candidate, uid: alice.uid })

/** Nodes that have a receipt without logs of every transaction. */
export const receiptsWithoutLogs: Chain['receipts'] = async (transactions) =>
  ok(new Map(transactions.map((one) => [one.txid, receipt([], { txid: one.txid, block: one.block })])))

/** One protobuf field: a number is a varint, bytes or text are length-delimited. */
export type Field = readonly [number, bigint | Uint8Array | string]

/** A protobuf message of these fields, in this order, valid or not. */
export function message(...fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const [number, value] of fields) {
    if (typeof value === 'bigint') writer.tag(number, WireType.Varint).int64(value)
    else if (typeof value === 'string') writer.tag(number, WireType.LengthDelimited).string(value)
    else writer.tag(number, WireType.LengthDelimited).bytes(value)
  }
  return writer.finish()
}

/** An address as 21 bytes. */
export const bytes21 = (address: string) => hexToBytes(`41${address}`)
export const transferUrl = 'type.googleapis.com/protocol.TransferContract'

/** The TransferContract message of `transaction()`. */
export const transferMessage = (to: Address = alice.address, amount = 1_000_000n, from: Address = stranger) =>
  message([1, bytes21(from)], [2, bytes21(to)], [3, amount])

/** One contract of a transaction. */
export const contract = (type: bigint, url: string, value: Uint8Array) =>
  message([1, type], [2, message([1, url], [2, value])])

/** `raw_data` with these contracts and the other fields of a real transaction. */
export const rawData = (...contracts: readonly Uint8Array[]) =>
  message(
    [1, new Uint8Array([0x1c, 0xa0])],
    [4, new Uint8Array(8).fill(7)],
    [8, 1_777_449_000_000n],
    ...contracts.map((one) => [11, one] as const),
    [14, 1_777_448_940_000n],
  )

/** `raw_data` of a TRX transfer whose parameter (a protobuf `Any`: 1 is the type URL, 2 the message) has these fields. */
export const parameterBytes = (...fields: readonly Field[]) => rawData(message([1, 1n], [2, message(...fields)]))

/** `raw_data` of `transaction()`. */
export const transferBytes = (to?: Address, amount?: bigint, from?: Address) =>
  rawData(contract(1n, transferUrl, transferMessage(to, amount, from)))

/** `raw_data` of a TRC-10 transfer that JSON-RPC shows exactly like `transaction()`. */
export const trc10Bytes = () =>
  rawData(
    contract(
      2n,
      'type.googleapis.com/protocol.TransferAssetContract',
      message(
        [1, new TextEncoder().encode('1000001')],
        [2, bytes21(stranger)],
        [3, bytes21(alice.address)],
        [4, 1_000_000n],
      ),
    ),
  )

/** `raw_data` of any other contract type, with an arbitrary message. */
export const otherBytes = (type: number, name = 'VoteWitnessContract') =>
  rawData(contract(BigInt(type), `type.googleapis.com/protocol.${name}`, message([1, bytes21(stranger)])))
