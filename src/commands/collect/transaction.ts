import { hexToBytes } from '@noble/hashes/utils.js'
import { utils } from 'tronweb'
import { type Address, formatHex, parseAddress } from '../../worker/chain/address.ts'
import { encodeSigned, signatureBytes } from '../../worker/chain/transaction.ts'
import type { CollectPlan, CollectStep } from './plan.ts'

/** The members of a plan that its transactions depend on. */
export type TransactionHeader = Pick<
  CollectPlan,
  'to' | 'gas' | 'reference' | 'timestamp' | 'expiration' | 'currencies'
>
/** A step of a plan without the members that come from its transaction: its bytes, fee and txid. */
export type StepContent = CollectStep extends infer Step
  ? Step extends unknown
    ? Omit<Step, 'bytes' | 'fee' | 'txid'>
    : never
  : never

/** A `contract` of a transaction, in the JSON of the HTTP API. */
interface ContractJson {
  readonly type: string
  readonly value: Readonly<Record<string, unknown>>
  readonly feeLimit?: number
}

/** The part of tronweb that is used: pure functions between JSON and protobuf. */
const encoder = utils.transaction as {
  readonly txJsonToPb: (transaction: object) => unknown
  readonly txPbToRawDataHex: (message: unknown) => string
}

/** Bytes of the result that java-tron reserves, and charges, in each transaction. */
const resultBytes = 64
/** The selector of `transfer(address,uint256)`. */
const transferSelector = 'a9059cbb'
const wordDigits = 64

/** Encodes `raw_data` of a step's transaction, which is what is signed. Equal arguments give equal bytes. */
export function encodeStep(header: TransactionHeader, step: StepContent): Uint8Array {
  const { type, value, feeLimit } = contractOf(header, step)
  const { height, hash } = header.reference
  const message = encoder.txJsonToPb({
    raw_data: {
      contract: [{ type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }],
      ref_block_bytes: (height & 0xffff).toString(16).padStart(4, '0'),
      ref_block_hash: hash.slice(16, 32),
      expiration: header.expiration,
      timestamp: header.timestamp + step.id,
      ...(feeLimit === undefined ? {} : { fee_limit: feeLimit }),
    },
  })
  return hexToBytes(encoder.txPbToRawDataHex(message))
}

/** The bytes for which the chain charges bandwidth: those of the signed transaction, and `resultBytes`. */
export function chargedBytes(rawData: Uint8Array): number {
  return encodeSigned(rawData, new Uint8Array(signatureBytes)).length / 2 + resultBytes
}

/** The Base58Check address that signs and pays for a step. */
export function payerOf({ gas }: TransactionHeader, step: StepContent): string {
  return step.kind === 'transfer' ? step.address : gas.address
}

function contractOf(header: TransactionHeader, step: StepContent): ContractJson {
  const owner_address = hex(payerOf(header, step))
  const collected = hex(step.address)
  switch (step.kind) {
    case 'activate':
      return { type: 'AccountCreateContract', value: { owner_address, account_address: collected } }
    case 'gas':
      return { type: 'TransferContract', value: { owner_address, to_address: collected, amount: exact(step.sun) } }
    case 'delegate':
    case 'undelegate': {
      const type = step.kind === 'delegate' ? 'DelegateResourceContract' : 'UnDelegateResourceContract'
      const balance = exact(step.sun)
      return { type, value: { owner_address, receiver_address: collected, balance, resource: 'ENERGY' } }
    }
    case 'transfer':
      return transferOf(header, step, owner_address)
  }
}

function transferOf(
  { currencies, to }: TransactionHeader,
  { symbol, units, feeLimit }: StepContent & { kind: 'transfer' },
  owner_address: string,
): ContractJson {
  const currency = currencies.find((one) => one.symbol === symbol)
  if (currency === undefined) throw new Error(`the plan has no currency ${symbol}`)
  if (currency.contract === null) {
    return { type: 'TransferContract', value: { owner_address, to_address: hex(to), amount: exact(units) } }
  }
  const data = transferSelector + transferParameters(accountOf(to), BigInt(units))
  const value = { owner_address, contract_address: hex(currency.contract), data }
  return { type: 'TriggerSmartContract', value, feeLimit: exact(feeLimit) }
}

/** The arguments of `transfer(address,uint256)` as hex digits of call data, without the selector. */
export function transferParameters(to: Address, units: bigint): string {
  return word(to) + word(units.toString(16))
}

/** Parses an address of a plan. Throws if it is none, which `parsePlan` and `parseSignedPlan` exclude. */
export function accountOf(base58: string): Address {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error(`not an address: ${base58}`) // the schema of a plan has checked it
  return parsed.value
}

const hex = (base58: string) => formatHex(accountOf(base58))
const word = (digits: string) => digits.padStart(wordDigits, '0')

/** Parses a number of sun for the encoder, which does not accept bigint. Throws from 2^53 sun (9 billion TRX) on, more than any address of a service holds. */
function exact(digits: string): number {
  const value = Number(digits)
  if (!Number.isSafeInteger(value)) throw new Error('more sun than the encoder takes exactly')
  return value
}
