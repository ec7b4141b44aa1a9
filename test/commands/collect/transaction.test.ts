import { describe, expect, it } from 'vitest'
import {
  chargedBytes,
  encodeStep,
  type StepContent,
  type TransactionHeader,
} from '../../../src/commands/collect/transaction.ts'
import { addressFromHex, formatBase58 } from '../../../src/worker/chain/address.ts'
import { txidOf } from '../../../src/worker/chain/transaction.ts'
import { recordedCall } from './recorded.ts'

interface RecordedTransaction {
  readonly txID: string
  readonly raw_data_hex: string
  readonly raw_data: {
    readonly contract: readonly { readonly parameter: { readonly value: Readonly<Record<string, unknown>> } }[]
    readonly ref_block_bytes: string
    readonly ref_block_hash: string
    readonly expiration: number
    readonly timestamp: number
    readonly fee_limit?: number
  }
}

const base58 = (hex: unknown) => {
  const address = addressFromHex(String(hex).slice(2))
  if (address === null) throw new Error(`not an address: ${hex}`)
  return formatBase58(address)
}

/**
 * A recorded transaction, and the bytes that `encodeStep` makes for a plan's step with the same
 * content.
 */
function stepOf(kind: StepContent['kind'], name: string) {
  const recorded = recordedCall('transactions', name).request as unknown as RecordedTransaction
  const { contract, ref_block_bytes, ref_block_hash, expiration, timestamp, fee_limit = 0 } = recorded.raw_data
  const value = contract[0]?.parameter.value ?? {}
  const data = String(value.data ?? '')
  const owner = base58(value.owner_address)
  const address = base58(value.account_address ?? value.receiver_address ?? value.to_address ?? value.owner_address)
  const header: TransactionHeader = {
    to: kind === 'transfer' ? base58(`41${data.slice(32, 72)}`) : owner,
    gas: { mode: 'delegate', address: owner },
    reference: {
      height: 0x50000 + Number.parseInt(ref_block_bytes, 16),
      hash: `${'0'.repeat(16)}${ref_block_hash}${'0'.repeat(32)}`,
    },
    timestamp: timestamp - 7,
    expiration,
    currencies: [
      { symbol: 'USDT', contract: kind === 'transfer' ? base58(value.contract_address) : null, decimals: 6 },
    ],
  }
  const place = { id: 7, index: 0, address, after: [] }
  const sun = String(value.balance ?? value.amount ?? 0)
  const units = data === '' ? '0' : BigInt(`0x${data.slice(72)}`).toString()
  const steps: Record<StepContent['kind'], StepContent> = {
    activate: { ...place, kind: 'activate' },
    gas: { ...place, kind: 'gas', sun },
    delegate: { ...place, kind: 'delegate', sun },
    undelegate: { ...place, kind: 'undelegate', sun },
    transfer: { ...place, kind: 'transfer', symbol: 'USDT', units, energy: 1, feeLimit: `${fee_limit}` },
  }
  return { recorded, rawData: encodeStep(header, steps[kind]) }
}

describe('the bytes of a step are those that a real node mined', () => {
  it.each([
    ['activate', '1-createaccount', 266],
    ['delegate', '2-delegateresource', 279],
    ['transfer', '3-token-transfer', 345],
    ['undelegate', '4-undelegateresource', 281],
    ['gas', 'trx-accepted', 267],
  ] as const)('%s', (kind, name, bytes) => {
    const { recorded, rawData } = stepOf(kind, name)
    expect(Buffer.from(rawData).toString('hex')).toBe(recorded.raw_data_hex)
    expect(txidOf(rawData)).toBe(recorded.txID)
    expect(chargedBytes(rawData)).toBe(bytes) // the number of bytes in the transaction's receipt
  })
})

it('more sun than an int64 holds cannot become a wrong number', () => {
  const { recorded } = stepOf('gas', 'trx-accepted')
  const value = recorded.raw_data.contract[0]?.parameter.value ?? {}
  const address = base58(value.to_address)
  const gas = { mode: 'transfer', address: base58(value.owner_address) } as const
  const header = { to: address, gas, reference: { height: 1, hash: '0'.repeat(64) }, timestamp: 1, expiration: 2 }
  const step = { kind: 'gas', id: 1, index: 0, address, after: [], sun: `${2n ** 63n}` } as StepContent
  expect(() => encodeStep({ ...header, currencies: [] }, step)).toThrow(`no int64: ${2n ** 63n}`)
})
