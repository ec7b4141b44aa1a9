import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { utils } from 'tronweb'
import { expect, it } from 'vitest'
import { type Address, addressFromHex, formatHex } from '../../src/worker/chain/address.ts'
import { type BlockHash, type BlockHeight, nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import { readContract } from '../../src/worker/chain/contract.ts'
import {
  accountCreation,
  encodeSigned,
  encodeTransaction,
  encodeTransfer,
  energyDelegation,
  energyReturn,
  referenceOf,
  type TransactionContext,
  transferCallData,
  txidOf,
} from '../../src/worker/chain/transaction.ts'
import { anyAddress } from '../support/arbitraries.ts'
import { recordedCall } from './collect/recorded.ts'

/** One operation in both forms: ours, and the JSON of the HTTP API, from which tronweb encodes. */
interface Case {
  readonly rawData: (terms: TransactionContext) => Uint8Array
  readonly type: string
  readonly value: Readonly<Record<string, unknown>>
}

/** Encodes `raw_data` as tronweb does, in hex digits. Its numbers are exact below 2^53. */
function byTronweb({ type, value }: Case, { reference, expiration, timestamp, feeLimit }: TransactionContext): string {
  const message = utils.transaction.txJsonToPb({
    raw_data: {
      contract: [{ type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }],
      ref_block_bytes: reference.bytes,
      ref_block_hash: reference.hash,
      expiration: Number(expiration),
      timestamp: Number(timestamp),
      ...(feeLimit === 0n ? {} : { fee_limit: Number(feeLimit) }),
    },
  })
  return utils.transaction.txPbToRawDataHex(message).toLowerCase()
}

const anyTerms: fc.Arbitrary<TransactionContext> = fc.record({
  reference: fc.record({
    bytes: fc.stringMatching(/^[0-9a-f]{4}$/),
    hash: fc.stringMatching(/^[0-9a-f]{16}$/),
  }),
  expiration: fc.bigInt({ min: 1n, max: 2n ** 42n }),
  timestamp: fc.bigInt({ min: 1n, max: 2n ** 42n }),
  feeLimit: fc.bigInt({ min: 0n, max: 15_000_000_000n }),
})
const anySun = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n })

type Pair = readonly [from: Address, to: Address]
const delegationOf = ([from, to]: Pair, sun: bigint) => {
  return { owner_address: formatHex(from), receiver_address: formatHex(to), balance: Number(sun), resource: 'ENERGY' }
}

const anyCase: readonly [string, fc.Arbitrary<(pair: Pair) => Case>][] = [
  [
    'TransferContract',
    anySun.map((amount) => ([from, to]: Pair) => ({
      rawData: (terms) => encodeTransfer({ ...terms, asset: nativeAsset, from, to, amount }),
      type: 'TransferContract',
      value: { owner_address: formatHex(from), to_address: formatHex(to), amount: Number(amount) },
    })),
  ],
  [
    'TriggerSmartContract',
    fc.tuple(anyAddress, fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })).map(([to, amount]) => ([from, token]: Pair) => {
      const data = transferCallData(to, amount)
      return {
        rawData: (terms) => encodeTransfer({ ...terms, asset: trc20Asset(token), from, to, amount }),
        type: 'TriggerSmartContract',
        value: { owner_address: formatHex(from), contract_address: formatHex(token), data },
      }
    }),
  ],
  [
    'AccountCreateContract',
    fc.constant(([from, account]: Pair) => ({
      rawData: (terms) => encodeTransaction(accountCreation(from, account), terms),
      type: 'AccountCreateContract',
      value: { owner_address: formatHex(from), account_address: formatHex(account) },
    })),
  ],
  [
    'DelegateResourceContract',
    anySun.map((sun) => (pair: Pair) => ({
      rawData: (terms) => encodeTransaction(energyDelegation(...pair, sun), terms),
      type: 'DelegateResourceContract',
      value: delegationOf(pair, sun),
    })),
  ],
  [
    'UnDelegateResourceContract',
    anySun.map((sun) => (pair: Pair) => ({
      rawData: (terms) => encodeTransaction(energyReturn(...pair, sun), terms),
      type: 'UnDelegateResourceContract',
      value: delegationOf(pair, sun),
    })),
  ],
]

it.each(anyCase)('the bytes and the txid of a transaction are those of tronweb: %s', (_, operations) => {
  fc.assert(
    fc.property(operations, anyAddress, anyAddress, anyTerms, (operation, from, target, terms) => {
      const one = operation([from, target])
      const [rawData, expected] = [one.rawData(terms), byTronweb(one, terms)]
      expect(Buffer.from(rawData).toString('hex')).toBe(expected)
      expect(txidOf(rawData)).toBe(createHash('sha256').update(expected, 'hex').digest('hex'))
      expect(readContract(rawData)).toMatchObject({ owner: from, target })
    }),
    { numRuns: 200 },
  )
})

interface Recorded {
  readonly txID: string
  readonly raw_data_hex: string
  readonly raw_data: {
    readonly contract: readonly [{ readonly parameter: { readonly value: Readonly<Record<string, unknown>> } }]
    readonly ref_block_bytes: string
    readonly ref_block_hash: string
    readonly expiration: number
    readonly timestamp: number
    readonly fee_limit?: number
  }
}

const addressIn = (hex: unknown) => {
  const address = addressFromHex(String(hex).slice(2))
  if (address === null) throw new Error(`not an address: ${hex}`)
  return address
}

it.each(['trx-accepted', '3-token-transfer'])(
  'the bytes of a transfer are those that a real node mined: %s',
  (name) => {
    const { txID, raw_data_hex, raw_data } = recordedCall('transactions', name).request as unknown as Recorded
    const { value } = raw_data.contract[0].parameter
    const data = String(value.data ?? '')
    const token = data === '' ? null : { to: addressIn(data.slice(30, 72)), amount: BigInt(`0x${data.slice(72)}`) }
    const rawData = encodeTransfer({
      asset: token === null ? nativeAsset : trc20Asset(addressIn(value.contract_address)),
      from: addressIn(value.owner_address),
      to: token?.to ?? addressIn(value.to_address),
      amount: token?.amount ?? BigInt(Number(value.amount)),
      reference: { bytes: raw_data.ref_block_bytes, hash: raw_data.ref_block_hash },
      expiration: BigInt(raw_data.expiration),
      timestamp: BigInt(raw_data.timestamp),
      feeLimit: BigInt(raw_data.fee_limit ?? 0),
    })
    expect(Buffer.from(rawData).toString('hex')).toBe(raw_data_hex)
    expect(txidOf(rawData)).toBe(txID)
  },
)

it('a signed transaction is the message that broadcasthex takes', () => {
  const { transaction } = recordedCall('broadcast', 'hex-trx-accepted').request
  const bytes = Buffer.from(String(transaction), 'hex')
  const rawData = bytes.subarray(3, 3 + 132) // `raw_data` comes after a tag of one byte and a length of two bytes
  expect(encodeSigned(rawData, bytes.subarray(-65))).toBe(String(transaction).toLowerCase())
})

it('a block is referred to by the last two bytes of its height and the middle of its hash', () => {
  const hash = '000000000001f0020123456789abcdef0000000000000000000000000000ffff' as BlockHash
  expect(referenceOf({ height: 0x1f002 as BlockHeight, hash })).toEqual({ bytes: 'f002', hash: '0123456789abcdef' })
  expect(referenceOf({ height: 0x10005 as BlockHeight, hash }).bytes).toBe('0005')
})
