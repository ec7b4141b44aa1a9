import { type Address, parseAddress } from '../../worker/chain/address.ts'
import { type Asset, type BlockHash, type BlockHeight, nativeAsset, trc20Asset } from '../../worker/chain/block.ts'
import {
  accountCreation,
  encodeSigned,
  encodeTransaction,
  encodeTransfer,
  energyDelegation,
  energyReturn,
  referenceOf,
  signatureBytes,
} from '../../worker/chain/transaction.ts'
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

/** Bytes of the result that java-tron reserves, and charges, in each transaction. */
const resultBytes = 64
/**
 * Encodes `raw_data` of a step's transaction, which is what is signed. Equal arguments give equal
 * bytes. Throws from 2^63 sun on.
 */
export function encodeStep(header: TransactionHeader, step: StepContent): Uint8Array {
  const { height, hash } = header.reference
  const terms = {
    // safe: the plan's schema has checked them
    reference: referenceOf({ height: height as BlockHeight, hash: hash as BlockHash }),
    expiration: BigInt(header.expiration),
    timestamp: BigInt(header.timestamp + step.id),
    feeLimit: 0n,
  }
  const from = accountOf(payerOf(header, step))
  const collected = accountOf(step.address)
  switch (step.kind) {
    case 'activate':
      return encodeTransaction(accountCreation(from, collected), terms)
    case 'gas':
      return encodeTransfer({ ...terms, asset: nativeAsset, from, to: collected, amount: BigInt(step.sun) })
    case 'delegate':
      return encodeTransaction(energyDelegation(from, collected, BigInt(step.sun)), terms)
    case 'undelegate':
      return encodeTransaction(energyReturn(from, collected, BigInt(step.sun)), terms)
    case 'transfer': {
      const asset = assetOf(header, step.symbol)
      const feeLimit = asset.kind === 'native' ? 0n : BigInt(step.feeLimit)
      return encodeTransfer({ ...terms, asset, from, to: accountOf(header.to), amount: BigInt(step.units), feeLimit })
    }
  }
}

function assetOf({ currencies }: TransactionHeader, symbol: string): Asset {
  const currency = currencies.find((one) => one.symbol === symbol)
  if (currency === undefined) throw new Error(`the plan has no currency ${symbol}`)
  return currency.contract === null ? nativeAsset : trc20Asset(accountOf(currency.contract))
}

/**
 * The bytes for which the chain charges bandwidth: those of the signed transaction, and
 * `resultBytes`.
 */
export function chargedBytes(rawData: Uint8Array): number {
  return encodeSigned(rawData, new Uint8Array(signatureBytes)).length / 2 + resultBytes
}

/** The Base58Check address that signs and pays for a step. */
export function payerOf({ gas }: TransactionHeader, step: StepContent): string {
  return step.kind === 'transfer' ? step.address : gas.address
}

/**
 * Parses an address of a plan. Throws if it is none, which `parsePlan` and `parseSignedPlan`
 * exclude.
 */
export function accountOf(base58: string): Address {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error(`not an address: ${base58}`) // the schema of a plan has checked it
  return parsed.value
}
