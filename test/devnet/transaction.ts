import { hexToBytes } from '@noble/hashes/utils.js'
import type { ContractName, ContractParameters } from '../support/contracts.ts'
import { decodeEmbedded, type Settlement } from './embedded.ts'
import { contractJson } from './encode-transaction.ts'
import { parseRaw, type RawTransaction, type Resource } from './parse-transaction.ts'

/** The used fields of anvil's transaction object. */
export interface EvmTransaction {
  readonly hash: string
  readonly input: string
}

/** The Tron transaction that an EVM transaction carries. */
export interface TronTransaction {
  /** SHA-256 of the raw bytes, 64 hex digits. */
  readonly txid: string
  readonly type: ContractName
  readonly parameters: ContractParameters
  readonly rawHex: string
  /** `raw_data` as the HTTP API prints it. */
  readonly rawJson: Readonly<Record<string, unknown>>
  /** Of a stake or a delegation. */
  readonly resource: Resource
  /** 65 bytes, hex digits. Zeros where a control sent it. */
  readonly signature: string
  /** Null where a control sent it: it costs nothing. */
  readonly settlement: Settlement | null
}

/** The Tron transaction in an EVM transaction: its bytes are in the call data, so they survive a restart. */
export function toTron({ hash, input }: EvmTransaction): TronTransaction {
  const embedded = decodeEmbedded(input)
  if (embedded === null) throw new Error(`no Tron transaction in ${hash}`)
  const { rawHex, signature, settlement } = embedded
  const raw = parseRaw(hexToBytes(rawHex))
  if (raw.contract === null) throw new Error(`a transaction without a contract: ${raw.txid}`)
  const { type, parameters } = raw.contract
  const resource = settlement === null ? 'ENERGY' : raw.contract.resource // a control gives stakes for energy alone
  return { txid: raw.txid, type, parameters, rawHex, rawJson: toJson(raw), resource, signature, settlement }
}

function toJson({ contract, memo, refBlockBytes, refBlockHash, expiration, timestamp, feeLimit }: RawTransaction) {
  if (contract === null) return {}
  const { type, parameters, resource } = contract
  const json = contractJson(type, parameters)
  const { value } = json.parameter as { value: Record<string, unknown> } // as `contractJson` makes it
  if (resource === 'ENERGY') value.resource = resource
  return {
    ...(memo === '' ? {} : { data: memo }),
    contract: [json],
    ref_block_bytes: refBlockBytes,
    ref_block_hash: refBlockHash,
    expiration,
    timestamp,
    ...(feeLimit === 0 ? {} : { fee_limit: feeLimit }),
  }
}
