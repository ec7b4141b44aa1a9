/** A chain with blocks like mainnet's. */
import { createHash } from 'node:crypto'
import type { Address } from '../../src/worker/chain/address.ts'
import type { ChainBlock, ChainTransaction, Wire } from '../support/block-json.ts'
import { toTransaction } from '../support/chain-builder.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import { type TransactionSpec, transferCallData, usdtAddress } from '../support/transaction-spec.ts'

/** The height of the block whose time is `startMs`. */
export const firstHeight = 70_000_000
/** Milliseconds from one block to the next. */
export const slotMs = 3_000
/** Blocks from the newest to the newest final one. */
export const finalityBlocks = 19
/**
 * Transactions of a usual block: 43 % TRX transfers, 28 % token transfers, the rest other calls.
 */
export const usualTransactions = 400

export interface BenchDeposit {
  readonly asset: 'TRX' | 'USDT'
  readonly to: Address
  /** Smallest units. */
  readonly amount: bigint
}

export interface ChainOptions {
  /** The time of block `firstHeight`, in milliseconds since 1970. */
  readonly startMs: number
  /** Transactions of a block, without its deposits. */
  readonly transactionsAt: (height: number) => number
  readonly depositsAt: (height: number) => readonly BenchDeposit[]
  /** Transactions that the block contains because they were broadcast. */
  readonly minedAt?: (height: number) => readonly ChainTransaction[]
}

const templateCount = 8
const keptMax = 500
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
/** An address that no user has. */
const stranger = (n: number) => sha256(`stranger ${n}`).slice(0, 40) as Address // 40 hex digits

export interface BenchBlocks {
  at(height: number): ChainBlock
  /** `hash` begins with the height. */
  byHash(hash: string): ChainBlock
  timeOf(height: number): number
  /** What an address holds in smallest units at the newest block. */
  balanceOf(asset: BenchDeposit['asset'], address: Address, latest: number): bigint
  /**
   * Takes a signed transaction, in hex, that the node with this number has got. `isPassedOn`: the
   * node passes it on to other nodes.
   */
  broadcast?(transaction: string, node: number, isPassedOn: boolean): void
}

/**
 * Builds blocks when they are asked for. The transactions between strangers repeat in every eighth
 * block, so that they are built once.
 */
export function createBlocks({ startMs, transactionsAt, depositsAt, minedAt = () => [] }: ChainOptions): BenchBlocks {
  const templates: ChainTransaction[][] = Array.from({ length: templateCount }, () => [])
  const built = new Map<number, ChainBlock>()
  const sums = new Map<string, bigint>()
  let summedTo = firstHeight
  const timeOf = (height: number) => startMs + (height - firstHeight) * slotMs
  const usual = (height: number): readonly ChainTransaction[] => {
    const template = templates[height % templateCount] ?? []
    const count = transactionsAt(height)
    for (let i = template.length; i < count; i += 1) {
      const n = (height % templateCount) * 1_000_000 + i
      template.push(build(usualSpec(n), startMs + n))
    }
    return template.slice(0, count)
  }
  const at = (height: number): ChainBlock => {
    const known = built.get(height)
    if (known !== undefined) return known
    const timeMs = timeOf(height)
    const deposits = depositsAt(height).map((deposit, i) => build(depositSpec(deposit, i), timeMs + i))
    const transactions = [...deposits, ...minedAt(height), ...usual(height)]
    const hash = hashAt(height)
    const more = { txTrieRoot: hash, witness_address: `41${'5e'.repeat(20)}`, version: 32 }
    const block = { height, hash, parentHash: hashAt(height - 1), timeMs, transactions, more }
    if (built.size > keptMax) built.clear()
    built.set(height, block)
    return block
  }
  return {
    timeOf,
    at,
    byHash: (hash) => at(Number.parseInt(hash.slice(0, 16), 16)),
    balanceOf(asset, address, latest) {
      for (; summedTo < latest; summedTo += 1) {
        for (const { asset: of, to, amount } of depositsAt(summedTo + 1)) {
          sums.set(`${of} ${to}`, (sums.get(`${of} ${to}`) ?? 0n) + amount)
        }
      }
      return sums.get(`${asset} ${address}`) ?? 0n
    },
  }
}

/**
 * A block's hash, which begins with the height. `salt` distinguishes the blocks of several chains
 * at this height.
 */
const hashAt = (height: number, salt = '') =>
  height.toString(16).padStart(16, '0') + sha256(`block ${height}${salt}`).slice(16)

/** Deposits that a node invents. */
export interface Lies {
  /** How many deposits the node invents in each block that is not final. */
  readonly count: number
  readonly to: Address
  /**
   * Whether the invented blocks get new hashes whenever a block becomes final. If not, they keep
   * theirs, and only the contents are false.
   */
  readonly renewed: boolean
}

/** The same chain, with invented deposits in the blocks above the finalized one. */
export function withLyingTail(blocks: BenchBlocks, finalized: () => number, { count, to, renewed }: Lies): BenchBlocks {
  const lies = new Map<string, ChainBlock>()
  const lie = (height: number): ChainBlock => {
    const final = finalized()
    if (height <= final) return blocks.at(height)
    const salt = renewed ? ` that is not there at ${final}` : ''
    const hash = hashAt(height, salt)
    const known = lies.get(hash)
    if (known !== undefined) return known
    const timeMs = blocks.timeOf(height)
    const parentHash = height === final + 1 ? blocks.at(final).hash : hashAt(height - 1, salt)
    const transactions = Array.from({ length: count }, (_, i) => {
      const asset = i % 2 === 0 ? 'TRX' : 'USDT'
      return build(
        depositSpec({ asset, to, amount: BigInt(height * 1_000 + (renewed ? final % 1_000 : 0)) }, i),
        timeMs + i,
      )
    })
    const block = { height, hash, parentHash, timeMs, transactions }
    if (lies.size > keptMax) lies.clear()
    lies.set(hash, block)
    return block
  }
  return {
    ...blocks,
    at: lie,
    byHash(hash) {
      const truth = blocks.byHash(hash)
      const isShown = truth.hash === hash && truth.height <= finalized()
      return isShown ? truth : (lies.get(hash) ?? lie(truth.height))
    },
  }
}

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

function build(spec: TransferSpec, timeMs: number): ChainTransaction {
  const { type, value } = contractOf(spec)
  const parameter = { value, type_url: `type.googleapis.com/protocol.${type}` }
  const raw_data = {
    contract: [{ parameter, type }],
    ref_block_bytes: '1ca0',
    ref_block_hash: '5cf728c92ee79f5f',
    expiration: timeMs + 60_000,
    ...(type === 'TriggerSmartContract' ? { fee_limit: 100_000_000 } : {}),
    timestamp: timeMs,
  }
  return {
    ...toTransaction(spec, encodeRawTransaction(spec, timeMs)),
    more: { signature: ['5a'.repeat(65)], raw_data },
  }
}

function contractOf(spec: TransferSpec): { readonly type: string; readonly value: Wire } {
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
