/** A chain with blocks like mainnet's. */
import { createHash } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Address } from '../../src/chain/address.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import { type TransactionSpec, transferCallData, transferLog, usdtAddress } from '../support/transaction-spec.ts'

/** The height from which blocks have the times of `startMs` and later. */
export const firstHeight = 70_000_000
/** The time of a slot. */
export const slotMs = 3_000
/** Blocks from the newest to the newest final one. */
export const finalityBlocks = 19
/** Transactions of a usual block: 43 % TRX transfers, 28 % token transfers, the rest other calls. */
export const usualTransactions = 400

/** A deposit in a block. */
export interface BenchDeposit {
  readonly asset: 'TRX' | 'USDT'
  readonly to: Address
  /** Smallest units. */
  readonly amount: bigint
}

/** What the blocks contain. */
export interface ChainOptions {
  /** Milliseconds since 1970. */
  readonly startMs: number
  /** Transactions of a block, without its deposits. */
  readonly transactionsAt: (height: number) => number
  readonly depositsAt: (height: number) => readonly BenchDeposit[]
}

/** A transaction as the HTTP API shows it, and its log without what depends on the block. */
export interface BuiltTransaction {
  readonly txid: string
  readonly json: string
  readonly log: string | null
}

/** A block of the chain. */
export interface Block {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timeMs: number
  readonly transactions: readonly BuiltTransaction[]
}

const templateCount = 8
const keptMax = 500
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
/** An address that no user has. */
const stranger = (n: number) => sha256(`stranger ${n}`).slice(0, 40) as Address // 40 hex digits

/** The blocks of the chain. */
export interface BenchBlocks {
  at(height: number): Block
  timeOf(height: number): number
  /** What an address holds in smallest units at the newest block. */
  balanceOf(asset: BenchDeposit['asset'], address: string, latest: number): number
}

/** The blocks are built when they are asked for; the transactions of strangers are the same in every eighth block. */
export function createBlocks({ startMs, transactionsAt, depositsAt }: ChainOptions): BenchBlocks {
  const templates: BuiltTransaction[][] = Array.from({ length: templateCount }, () => [])
  const built = new Map<number, Block>()
  const sums = new Map<string, number>()
  let summedTo = firstHeight
  const timeOf = (height: number) => startMs + (height - firstHeight) * slotMs
  const usual = (height: number): readonly BuiltTransaction[] => {
    const template = templates[height % templateCount] ?? []
    const count = transactionsAt(height)
    for (let i = template.length; i < count; i += 1) {
      const n = (height % templateCount) * 1_000_000 + i
      template.push(build(usualSpec(n), startMs + n))
    }
    return template.slice(0, count)
  }
  return {
    timeOf,
    at(height) {
      const known = built.get(height)
      if (known !== undefined) return known
      const timeMs = timeOf(height)
      const deposits = depositsAt(height).map((deposit, i) => build(depositSpec(deposit, i), timeMs + i))
      const transactions = [...deposits, ...usual(height)]
      const block = { height, hash: hashAt(height), parentHash: hashAt(height - 1), timeMs, transactions }
      if (built.size > keptMax) built.clear()
      built.set(height, block)
      return block
    },
    balanceOf(asset, address, latest) {
      for (; summedTo < latest; summedTo += 1) {
        for (const { asset: of, to, amount } of depositsAt(summedTo + 1)) {
          sums.set(`${of} ${to}`, (sums.get(`${of} ${to}`) ?? 0) + Number(amount))
        }
      }
      return sums.get(`${asset} ${address}`) ?? 0
    },
  }
}

const hashAt = (height: number) => height.toString(16).padStart(16, '0') + sha256(`block ${height}`).slice(16)

type TransferSpec = TransactionSpec & { readonly kind: 'trx' | 'token' | 'call' }

function usualSpec(n: number): TransferSpec {
  const [from, to, amount, kind] = [stranger(2 * n), stranger(2 * n + 1), BigInt(1_000_000 + n), (n * 7) % 100]
  if (kind < 43) return { kind: 'trx', from, to, amount }
  if (kind < 66) return { kind: 'token', contract: usdtAddress, from, to, amount }
  return kind < 71
    ? { kind: 'token', contract: stranger(kind), from, to, amount }
    : { kind: 'call', contract: to, from }
}

function depositSpec({ asset, to, amount }: BenchDeposit, i: number): TransferSpec {
  const from = stranger(-1 - i)
  return asset === 'TRX'
    ? { kind: 'trx', from, to, amount }
    : { kind: 'token', contract: usdtAddress, from, to, amount }
}

function build(spec: TransferSpec, timeMs: number): BuiltTransaction {
  const raw = encodeRawTransaction(spec, timeMs)
  const txid = sha256(raw)
  const { type, value } = contractOf(spec)
  const parameter = { value, type_url: `type.googleapis.com/protocol.${type}` }
  const json = JSON.stringify({
    ret: [{ contractRet: 'SUCCESS' }],
    signature: ['5a'.repeat(65)],
    txID: txid,
    raw_data: {
      contract: [{ parameter, type }],
      ref_block_bytes: '1ca0',
      ref_block_hash: '5cf728c92ee79f5f',
      expiration: timeMs + 60_000,
      ...(type === 'TriggerSmartContract' ? { fee_limit: 100_000_000 } : {}),
      timestamp: timeMs,
    },
    raw_data_hex: bytesToHex(raw),
  })
  return { txid, json, log: spec.kind === 'token' ? logOf(spec, txid) : null }
}

function contractOf(spec: TransferSpec): { readonly type: string; readonly value: Record<string, unknown> } {
  const owner_address = `41${spec.from}`
  if (spec.kind === 'trx') {
    return {
      type: 'TransferContract',
      value: { amount: Number(spec.amount), owner_address, to_address: `41${spec.to}` },
    }
  }
  const data = spec.kind === 'token' ? transferCallData(spec.to, spec.amount) : '12345678'
  return { type: 'TriggerSmartContract', value: { data, owner_address, contract_address: `41${spec.contract}` } }
}

function logOf(spec: TransactionSpec & { kind: 'token' }, txid: string): string {
  const { contract, topics, data } = transferLog(spec.contract, spec.from, spec.to, spec.amount)
  const own = { address: `0x${contract}`, topics, data, transactionHash: `0x${txid}` }
  return JSON.stringify(own).slice(1, -1)
}
