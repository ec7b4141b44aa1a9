import { createChain } from '../support/chain-builder.ts'
import {
  type BlockTemplate,
  busyBlock,
  busyTemplate,
  depositTemplate,
  firstHeight,
  foreignAddress,
  type Placeholder,
  sha256Hex,
  type Template,
} from './block-templates.ts'
import { watchedAddress } from './seeds.ts'

/** One of this many blocks contains a deposit. */
export const depositEvery = 10
/** Templates of busy blocks: more than one step of the scan reads, so that all addresses of a step are different. */
const templateCount = 64
/** Prepared blocks in memory: more than one round needs. */
const preparedMax = 400

/** The blocks that a loopback node serves. A block is a copy of a template with its placeholders filled. */
export interface Blocks {
  /** JSON of block 0, which identifies the network. */
  readonly genesis: string
  at(height: number): PreparedBlock
  /** Prepares the last blocks up to `height`, so that serving them costs no more than sending. */
  prepare(height: number): void
  /** A receipt's JSON. For a txid that all blocks of a template have, it is of the newest such block up to `newest`. */
  receipt(txid: string, newest: number): string | null
}

/** A block's JSON in a node's forms. */
export interface PreparedBlock {
  readonly full: Buffer
  readonly brief: string
  readonly logs: Buffer
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
  const slots = new Map<string, { readonly height: number; readonly slot: number }>()
  const fill = (template: Template, height: number): Buffer => {
    const copy = Buffer.from(template.text)
    for (const placeholder of template.placeholders) {
      const value = textFor(placeholder, height, options)
      if (placeholder.kind === 'txid') slots.set(value, { height, slot: placeholder.slot })
      copy.latin1Write(value, placeholder.at)
    }
    return copy
  }
  const prepared = new Map<number, PreparedBlock>()
  const at = (height: number): PreparedBlock => {
    const block = prepared.get(height) ?? prepareBlock(templateAt(height), (template) => fill(template, height))
    prepared.delete(height) // and set again, as the newest entry
    prepared.set(height, block)
    const [oldest] = prepared.keys()
    if (prepared.size > preparedMax && oldest !== undefined) prepared.delete(oldest)
    return block
  }
  return {
    genesis: JSON.stringify(createChain().at(0)?.brief),
    at,
    prepare(height) {
      for (let one = Math.max(firstHeight, height - preparedMax + 1); one <= height; one += 1) at(one)
    },
    receipt(txid, newest) {
      const own = slots.get(txid)
      const shared = templateOf.get(txid)
      const height = own?.height ?? (shared === undefined ? null : newest - ((newest - shared) % templateCount))
      const key = own === undefined ? txid : `slot ${own.slot}`
      const template = height === null ? undefined : templateAt(height).receipts.get(key)
      return height === null || template === undefined ? null : fill(template, height).toString('latin1')
    },
  }
}

function prepareBlock({ full, brief, logs }: BlockTemplate, fill: (template: Template) => Buffer): PreparedBlock {
  return { full: fill(full), brief: fill(brief).toString('latin1'), logs: fill(logs) }
}

function textFor({ kind, slot }: Placeholder, height: number, options: BlocksOptions): string {
  switch (kind) {
    case 'hash':
      return hashOf(height)
    case 'parent-hash':
      return hashOf(height - 1)
    case 'height':
      return height.toString(16)
    case 'timestamp':
      return (1_700_000_000 + (height - firstHeight) * 3).toString(16)
    case 'txid':
      return sha256Hex(`deposit ${height} ${slot}`)
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
function hashOf(height: number): string {
  const hash = hashes.get(height) ?? height.toString(16).padStart(16, '0') + sha256Hex(`block ${height}`).slice(16)
  hashes.set(height, hash)
  return hash
}
