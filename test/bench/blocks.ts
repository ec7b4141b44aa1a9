import { bytesToHex } from '@noble/hashes/utils.js'
import type { Address } from '../../src/chain/address.ts'
import { createChain } from '../support/chain-builder.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import {
  type BlockTemplate,
  busyBlock,
  busyTemplate,
  depositTemplate,
  firstHeight,
  foreignAddress,
  type PlaceholderKind,
  sha256Hex,
  type Template,
  type TokenSpec,
} from './block-templates.ts'
import { watchedAddress } from './seeds.ts'

/** One of this many blocks contains a deposit. */
export const depositEvery = 10
/** Templates of busy blocks: more than one step of the scan reads, so that all addresses of a step are different. */
const templateCount = 64
/** Prepared blocks in memory: more than one round needs. A multiple of the templates, so that a block has the size of the one before. */
const preparedMax = 6 * templateCount

/** The blocks that a loopback node serves. A block is a copy of a template with its placeholders filled. */
export interface Blocks {
  /** JSON of block 0, which identifies the network. */
  readonly genesis: string
  at(height: number): PreparedBlock
  /** Prepares the last blocks up to `height`, so that serving them costs no more than sending. */
  prepare(height: number): void
  /** A receipt's JSON. For a txid that all blocks of a template have, it is of the newest such block up to `newest`. */
  receipt(txid: string, newest: number): string | null
  /** The transactions of a block with their bytes, as the HTTP API of a node has them. */
  transactions(height: number): readonly ApiTransaction[]
  /** A transaction with its bytes, or null. */
  transaction(txid: string): ApiTransaction | null
}

/** A transaction with its bytes in hex digits, whose SHA-256 is the txid. */
export interface ApiTransaction {
  readonly txid: string
  readonly rawData: string
}

/** A block's JSON in a node's forms. */
export interface PreparedBlock {
  readonly height: number
  readonly full: Buffer
  readonly brief: string
  readonly logs: Buffer
  /** The contracts that have logs, as nodes write addresses. */
  readonly contracts: ReadonlySet<string>
}

/** From height `depositsFrom` on, every transaction of a block is a USDT deposit to one of `watched` addresses. */
export interface BlocksOptions {
  readonly watched: number
  readonly depositsFrom: number
}

/** Builds the templates, which takes about two seconds. */
export function createBlocks(options: BlocksOptions): Blocks {
  const busy = Array.from({ length: templateCount }, (_, i) => busyTemplate(i))
  const deposits = depositTemplate()
  const templateAt = (height: number): BlockTemplate =>
    (height >= options.depositsFrom ? deposits : busy[height % templateCount]) ?? deposits
  const templateOf = new Map(busy.flatMap(({ receipts }, i) => [...receipts.keys()].map((txid) => [txid, i] as const)))
  const shared = new Map(busy.flatMap((template) => template.shared.map((one) => [one.txid, one] as const)))
  const filled = createSlots(options)
  /** Fills `into`, the memory of another block of the same template: new memory would keep the garbage collector busy. */
  const fill = (template: Template, height: number, into = Buffer.alloc(template.text.length)): Buffer => {
    template.text.copy(into)
    const { slots } = templateAt(height)
    for (const { at: place, kind, slot } of template.placeholders) {
      const spec = slots[slot]
      const isTxid = kind === 'txid' && spec !== undefined
      into.latin1Write(isTxid ? filled.at(spec, height, slot).txid : textFor(kind, slot, height, options), place)
    }
    return into
  }
  const prepared: PreparedBlock[] = []
  const at = (height: number): PreparedBlock => {
    const place = height % preparedMax
    const known = prepared[place]
    if (known?.height === height) return known
    const template = templateAt(height)
    const old = known !== undefined && templateAt(known.height) === template ? known : undefined
    const { full, brief, logs, contracts } = template
    const block = {
      height,
      full: fill(full, height, old?.full),
      brief: fill(brief, height).toString('latin1'),
      logs: fill(logs, height, old?.logs),
      contracts,
    }
    prepared[place] = block
    return block
  }
  return {
    genesis: JSON.stringify(createChain().at(0)?.brief),
    at,
    prepare(height) {
      for (let one = Math.max(firstHeight, height - preparedMax + 1); one <= height; one += 1) at(one)
    },
    receipt(txid, newest) {
      const own = filled.find(txid)
      const index = templateOf.get(txid)
      const height = own?.height ?? (index === undefined ? null : newest - ((newest - index) % templateCount))
      const key = own === undefined ? txid : `slot ${own.slot}`
      const template = height === null ? undefined : templateAt(height).receipts.get(key)
      return height === null || template === undefined ? null : fill(template, height).toString('latin1')
    },
    transactions(height) {
      const template = templateAt(height)
      return [...template.slots.map((spec, slot) => filled.at(spec, height, slot)), ...template.shared]
    },
    transaction: (txid) => filled.find(txid)?.transaction ?? shared.get(txid) ?? null,
  }
}

/** A transaction that a placeholder was filled with. */
interface FilledSlot {
  readonly height: number
  readonly slot: number
  readonly transaction: ApiTransaction
}

/** The transactions of placeholders: each is encoded once, since its bytes decide its txid. */
function createSlots(options: BlocksOptions) {
  const byPlace = new Map<string, FilledSlot>()
  const byTxid = new Map<string, FilledSlot>()
  return {
    at(spec: TokenSpec, height: number, slot: number): ApiTransaction {
      const known = byPlace.get(`${height} ${slot}`)
      if (known !== undefined) return known.transaction
      const to = recipientOf(height, slot, options) as Address // 40 hex digits
      const bytes = encodeRawTransaction({ ...spec, to }, secondsAt(height) * 1000 + slot)
      const transaction = { txid: sha256Hex(bytes), rawData: bytesToHex(bytes) }
      const filled = { height, slot, transaction }
      byPlace.set(`${height} ${slot}`, filled)
      byTxid.set(transaction.txid, filled)
      return transaction
    },
    find: (txid: string) => byTxid.get(txid),
  }
}

/** A block's timestamp, in seconds since 1970. */
const secondsAt = (height: number) => 1_700_000_000 + (height - firstHeight) * 3

function textFor(kind: PlaceholderKind, slot: number, height: number, options: BlocksOptions): string {
  switch (kind) {
    case 'hash':
      return blockHash(height)
    case 'parent-hash':
      return blockHash(height - 1)
    case 'height':
      return height.toString(16)
    case 'timestamp':
      return secondsAt(height).toString(16)
    case 'txid':
      throw new Error('a txid is made from the bytes of its transaction')
    case 'recipient':
      return recipientOf(height, slot, options)
  }
}

function recipientOf(height: number, slot: number, { watched, depositsFrom }: BlocksOptions): string {
  if (height >= depositsFrom) {
    return watchedAddress(((height - depositsFrom) * busyBlock.transactions + slot) % watched)
  }
  return height % depositEvery === 0 ? watchedAddress((height / depositEvery) % watched) : foreignAddress(height)
}

const hashes = new Map<number, string>()

/** A block's hash: its height, then 24 bytes of a SHA-256. */
export function blockHash(height: number): string {
  const hash = hashes.get(height) ?? height.toString(16).padStart(16, '0') + sha256Hex(`block ${height}`).slice(16)
  hashes.set(height, hash)
  return hash
}
