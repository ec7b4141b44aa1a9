import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/addresses/address.ts'
import type { BlockHash, BlockHeight, BlockRef, Txid } from '../../src/chain/block.ts'
import { describeContractType } from '../../src/deposits/contract-types.ts'

/**
 * A Tron-like chain in memory, in the words of a node's JSON: hashes that carry heights, parent links, receipts, logs
 * numbered through the block, and transactions whose txid is the SHA-256 of real `raw_data` bytes. The same specs give
 * the same chain. Nothing here needs workerd.
 */
export interface BuiltChain {
  readonly chainId: string
  /** Of the first built block. */
  readonly firstHeight: number
  tip(): BuiltBlock
  at(height: number): BuiltBlock | undefined
  byHash(hash: string): BuiltBlock | undefined
  transaction(txid: string): BuiltTransaction | undefined
  /** Appends a block. */
  add(specs?: readonly TransactionSpec[]): BuiltBlock
  /** Appends `count` empty blocks. */
  addEmpty(count: number): void
  /** Another chain that shares the blocks up to and including `height`; what is added to it has other hashes. */
  fork(height: number): BuiltChain
}

/** A transaction to build. `failed` is a contract call that was mined as failed; with `logs` it keeps its logs (6.3). */
export type TransactionSpec =
  | { readonly kind: 'trx' | 'trc10'; readonly from: Address; readonly to: Address; readonly amount: bigint }
  | {
      readonly kind: 'token'
      readonly contract: Address
      readonly from: Address
      readonly to: Address
      readonly amount: bigint
      readonly failed?: boolean
      readonly keepsLogs?: boolean
    }
  | {
      readonly kind: 'call'
      readonly contract: Address
      readonly from: Address
      readonly value?: bigint
      readonly failed?: boolean
      readonly logs?: readonly LogSpec[]
    }
  /** Any contract type, with what JSON-RPC shows as its target and value (5.3). */
  | {
      readonly kind: 'other'
      readonly type: number
      readonly from: Address
      readonly to: Address | null
      readonly value: bigint
    }

/** An event. Topics and data carry `0x`. */
export interface LogSpec {
  readonly contract: Address
  readonly topics: readonly string[]
  readonly data: string
}

/** A JSON object as a node writes it. */
export type Wire = Readonly<Record<string, unknown>>

export interface BuiltBlock extends BlockRef {
  /** With its transactions in full. */
  readonly full: Wire
  /** With txids. */
  readonly brief: Wire
  readonly logs: readonly Wire[]
  readonly transactions: readonly BuiltTransaction[]
}

export interface BuiltTransaction {
  readonly txid: Txid
  readonly rawData: Uint8Array
  readonly wire: Wire
  readonly receipt: Wire
}

const mainnetId = '0x2b6653dc'
const mainnetGenesis = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'
/** keccak256('Transfer(address,address,uint256)') */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
export const usdt = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c' as Address // 40 hex digits

/** A test address: `n` in 20 bytes, with letters in it. */
export function addressOf(n: number): Address {
  return `ab${n.toString(16).padStart(38, '0')}` as Address // 40 hex digits
}

/** A token's Transfer event. */
export function transferLog(contract: Address, from: Address, to: Address, amount: bigint): LogSpec {
  return {
    contract,
    topics: [transferTopic, topicOf(from), topicOf(to)],
    data: `0x${amount.toString(16).padStart(64, '0')}`,
  }
}

/** A chain of block 0 and, from `firstHeight` on, what is added. What lies between was never there. */
export function createChain(options: { chainId?: string; firstHeight?: number; salt?: string } = {}): BuiltChain {
  const { chainId = mainnetId, firstHeight = 70_000_000, salt = '' } = options
  const genesisHash =
    chainId === mainnetId
      ? mainnetGenesis
      : `${'0'.repeat(16)}${digest(chainId).slice(0, 40)}${chainId.slice(2).padStart(8, '0')}`
  const genesis = seal(0, genesisHash, '0'.repeat(64), 1_529_891_469, [])
  return grow({ chainId, firstHeight, salt, blocks: [], genesis })
}

interface Roots {
  readonly chainId: string
  readonly firstHeight: number
  readonly salt: string
  readonly blocks: BuiltBlock[]
  readonly genesis: BuiltBlock
}

function grow({ chainId, firstHeight, salt, blocks, genesis }: Roots): BuiltChain {
  const byHash = new Map<string, BuiltBlock>()
  const byTxid = new Map<string, BuiltTransaction>()
  const keep = (block: BuiltBlock) => {
    byHash.set(block.hash, block)
    for (const transaction of block.transactions) byTxid.set(transaction.txid, transaction)
  }
  keep(genesis)
  for (const block of blocks) keep(block)
  const chain: BuiltChain = {
    chainId,
    firstHeight,
    tip: () => blocks.at(-1) ?? genesis,
    at: (height) => (height === 0 ? genesis : blocks[height - firstHeight]),
    byHash: (hash) => byHash.get(hash),
    transaction: (txid) => byTxid.get(txid),
    add(specs = []) {
      const height = firstHeight + blocks.length
      const parent = blocks.at(-1)?.hash ?? hashOf(height - 1, digest(`${salt} before the first block`))
      const seconds = 1_700_000_000 + height * 3 - firstHeight * 3
      const built = specs.map((spec, i) => ({ spec, rawData: encode(spec, seconds * 1000 + i) }))
      const txids = built.map(({ rawData }) => bytesToHex(sha256(rawData)))
      const hash = hashOf(height, digest([salt, parent, ...txids].join()))
      const block = seal(height, hash, parent, seconds, built)
      blocks.push(block)
      keep(block)
      return block
    },
    addEmpty(count) {
      for (let i = 0; i < count; i += 1) chain.add()
    },
    fork(height) {
      const shared = blocks.slice(0, height - firstHeight + 1)
      return grow({ chainId, firstHeight, salt: `${salt}'`, blocks: shared, genesis })
    },
  }
  return chain
}

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
const hashOf = (height: number, rest: string) => height.toString(16).padStart(16, '0') + rest.slice(16)
const hex = (value: number | bigint) => `0x${value.toString(16)}`
const topicOf = (address: Address) => `0x${address.padStart(64, '0')}`

function seal(
  height: number,
  hash: string,
  parentHash: string,
  seconds: number,
  built: readonly { readonly spec: TransactionSpec; readonly rawData: Uint8Array }[],
): BuiltBlock {
  const place = { blockHash: `0x${hash}`, blockNumber: hex(height) }
  const logs: Wire[] = []
  const transactions = built.map(({ spec, rawData }, i): BuiltTransaction => {
    const txid = bytesToHex(sha256(rawData)) as Txid // 64 hex digits
    const shown = show(spec)
    const where = { ...place, transactionIndex: hex(i) }
    const own = shown.logs.map(({ contract, topics, data }, k) => ({
      address: `0x${contract}`,
      ...where,
      data,
      logIndex: hex(logs.length + k),
      removed: false,
      topics,
      transactionHash: `0x${txid}`,
    }))
    logs.push(...own)
    const target = shown.to === null ? null : `0x${shown.to}`
    const energy = shown.isCall ? '0xae29' : '0x0'
    const wire = {
      ...where,
      hash: `0x${txid}`,
      from: `0x${spec.from}`,
      to: target,
      value: hex(shown.value),
      input: shown.input,
      gas: energy,
      gasPrice: '0x64',
      nonce: '0x0000000000000000',
      type: '0x0',
      v: '0x1b',
      r: `0x${'11'.repeat(32)}`,
      s: `0x${'22'.repeat(32)}`,
    }
    const receipt = {
      ...where,
      transactionHash: `0x${txid}`,
      from: `0x${spec.from}`,
      to: target,
      status: shown.failed ? '0x0' : '0x1',
      type: '0x0',
      contractAddress: null,
      gasUsed: energy,
      cumulativeGasUsed: energy,
      effectiveGasPrice: '0x64',
      logsBloom: `0x${'00'.repeat(256)}`,
      logs: own,
    }
    return { txid, rawData, wire, receipt }
  })
  const head = {
    number: hex(height),
    hash: `0x${hash}`,
    parentHash: `0x${parentHash}`,
    timestamp: hex(seconds),
    miner: `0x${addressOf(27).toString()}`,
    size: '0x60a',
    gasLimit: '0x2540be400',
    gasUsed: '0xae29',
    stateRoot: '0x',
    uncles: [],
    nonce: '0x0000000000000000',
    logsBloom: `0x${'00'.repeat(256)}`,
  }
  return {
    height: height as BlockHeight,
    hash: hash as BlockHash,
    full: { ...head, transactions: transactions.map(({ wire }) => wire) },
    brief: { ...head, transactions: transactions.map(({ txid }) => `0x${txid}`) },
    logs,
    transactions,
  }
}

interface Shown {
  readonly to: Address | null
  readonly value: bigint
  readonly input: string
  readonly isCall: boolean
  readonly failed: boolean
  readonly logs: readonly LogSpec[]
}

/** What JSON-RPC shows of a transaction: for all but TRX transfers less than, or other than, what it does (5.3). */
function show(spec: TransactionSpec): Shown {
  const plain = { input: '0x', isCall: false, failed: false, logs: [] }
  switch (spec.kind) {
    case 'trx':
    case 'trc10':
      return { ...plain, to: spec.to, value: spec.amount }
    case 'token': {
      const failed = spec.failed === true
      const logs =
        failed && spec.keepsLogs !== true ? [] : [transferLog(spec.contract, spec.from, spec.to, spec.amount)]
      return {
        to: spec.contract,
        value: 0n,
        input: `0x${transferInput(spec.to, spec.amount)}`,
        isCall: true,
        failed,
        logs,
      }
    }
    case 'call':
      return {
        to: spec.contract,
        value: spec.value ?? 0n,
        input: '0x12345678',
        isCall: true,
        failed: spec.failed === true,
        logs: spec.logs ?? [],
      }
    case 'other':
      return { ...plain, to: spec.to, value: spec.value }
  }
}

const transferInput = (to: Address, amount: bigint) =>
  `a9059cbb${to.padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`

/** The bytes of `Transaction.raw` (java-tron protocol/core/Tron.proto); `at` makes them the only ones of their kind. */
function encode(spec: TransactionSpec, at: number): Uint8Array {
  const { type, message } = encodeContract(spec)
  const any = new BinaryWriter()
    .tag(1, 2)
    .string(`type.googleapis.com/protocol.${describeContractType(type).name}`)
    .tag(2, 2)
    .bytes(message)
    .finish()
  const contract = new BinaryWriter()
  if (type !== 0) contract.tag(1, 0).int32(type)
  contract.tag(2, 2).bytes(any)
  const raw = new BinaryWriter()
    .tag(1, 2)
    .bytes(hexToBytes('1ca0'))
    .tag(4, 2)
    .bytes(hexToBytes('5cf728c92ee79f5f'))
    .tag(8, 0)
    .int64(at + 60_000)
    .tag(11, 2)
    .bytes(contract.finish())
    .tag(14, 0)
    .int64(at)
  if (spec.kind === 'token' || spec.kind === 'call') raw.tag(18, 0).int64(100_000_000)
  return raw.finish()
}

/** Where each type's message has its target and its amount (java-tron protocol/core/contract/*.proto); 0 is nowhere. */
const messageFields: Readonly<Record<number, readonly [to: number, amount: number]>> = {
  0: [2, 0],
  1: [2, 3],
  9: [2, 4],
  11: [15, 2],
  12: [15, 0],
  31: [2, 3],
  33: [2, 3],
  45: [2, 3],
  48: [2, 0],
  51: [6, 7],
  57: [4, 3],
  58: [4, 3],
}

function encodeContract(spec: TransactionSpec): { type: number; message: Uint8Array } {
  const account = (address: Address) => hexToBytes(`41${address}`)
  const message = new BinaryWriter()
  switch (spec.kind) {
    case 'trx':
      message.tag(1, 2).bytes(account(spec.from)).tag(2, 2).bytes(account(spec.to)).tag(3, 0).int64(spec.amount)
      return { type: 1, message: message.finish() }
    case 'trc10':
      message.tag(1, 2).bytes(utf8ToBytes('1004777')).tag(2, 2).bytes(account(spec.from))
      message.tag(3, 2).bytes(account(spec.to)).tag(4, 0).int64(spec.amount)
      return { type: 2, message: message.finish() }
    case 'token':
    case 'call': {
      const value = spec.kind === 'call' ? (spec.value ?? 0n) : 0n
      const data = spec.kind === 'token' ? transferInput(spec.to, spec.amount) : '12345678'
      message.tag(1, 2).bytes(account(spec.from)).tag(2, 2).bytes(account(spec.contract))
      if (value !== 0n) message.tag(3, 0).int64(value)
      return { type: 31, message: message.tag(4, 2).bytes(hexToBytes(data)).finish() }
    }
    case 'other': {
      const [to, amount] = messageFields[spec.type] ?? [0, 2]
      message.tag(1, 2).bytes(account(spec.from))
      const fields: [number, () => void][] = []
      if (to !== 0 && spec.to !== null) fields.push([to, () => message.tag(to, 2).bytes(account(spec.to ?? spec.from))])
      if (amount !== 0 && spec.value !== 0n) fields.push([amount, () => message.tag(amount, 0).int64(spec.value)])
      for (const [, write] of fields.sort(([a], [b]) => a - b)) write()
      return { type: spec.type, message: message.finish() }
    }
  }
}
