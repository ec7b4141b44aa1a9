import fc from 'fast-check'
import { utils } from 'tronweb'
import { describe, expect, it } from 'vitest'
import { type Address, addressFromHex, formatHex } from '../../src/worker/chain/address.ts'
import { type Asset, type BlockHash, type BlockHeight, nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import { readContract } from '../../src/worker/chain/contract.ts'
import {
  encodeSigned,
  encodeTransfer,
  referenceOf,
  type TransferContent,
  transferCallData,
  txidOf,
} from '../../src/worker/chain/transaction.ts'
import { recordedCall } from './collect/recorded.ts'

/** The bytes of a transfer as TronWeb encodes them, in hex digits. */
function byTronweb({ asset, from, to, amount, reference, expiration, timestamp, feeLimit }: TransferContent): string {
  const owner_address = formatHex(from)
  const type = asset.kind === 'native' ? 'TransferContract' : 'TriggerSmartContract'
  const value =
    asset.kind === 'native'
      ? { owner_address, to_address: formatHex(to), amount: Number(amount) }
      : { owner_address, contract_address: formatHex(asset.contract), data: transferCallData(to, amount) }
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
  return utils.transaction.txPbToRawDataHex(message)
}

const anyAddress = fc.stringMatching(/^[0-9a-f]{40}$/).map((digits) => digits as Address)
const anyContent = (asset: fc.Arbitrary<Asset>, most: bigint): fc.Arbitrary<TransferContent> =>
  fc.record({
    asset,
    from: anyAddress,
    to: anyAddress,
    amount: fc.bigInt({ min: 1n, max: most }),
    reference: fc.record({
      bytes: fc.stringMatching(/^[0-9a-f]{4}$/),
      hash: fc.stringMatching(/^[0-9a-f]{16}$/),
    }),
    expiration: fc.bigInt({ min: 1n, max: 2n ** 42n }),
    timestamp: fc.bigInt({ min: 1n, max: 2n ** 42n }),
    feeLimit: fc.bigInt({ min: 0n, max: 15_000_000_000n }),
  })

describe('the bytes of a transfer are those of tronweb', () => {
  it.each([
    ['TRX', anyContent(fc.constant(nativeAsset), 2n ** 53n - 1n)],
    ['a token', anyContent(anyAddress.map(trc20Asset), 2n ** 256n - 1n)],
  ])('for %s', (_, contents) => {
    fc.assert(
      fc.property(contents, (content) => {
        const rawData = encodeTransfer(content)
        expect(Buffer.from(rawData).toString('hex')).toBe(byTronweb(content).toLowerCase())
        expect(readContract(rawData)).toMatchObject({
          owner: content.from,
          target: content.asset.kind === 'native' ? content.to : content.asset.contract,
        })
      }),
      { numRuns: 200 },
    )
  })
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
