import { createHash } from 'node:crypto'
import type { Address } from '../../src/addresses/address.ts'
import { addressOf, createChain, type TransactionSpec, usdt } from '../support/chain-builder.ts'
import { watchedAddress } from './seeds.ts'

/** Blocks like mainnet's: transactions, and the accepted token's logs among them. */
export const busyBlock = { transactions: 400, tokenLogs: 90, trxTransfers: 170 } as const
/** One block in so many holds a deposit. */
export const depositEvery = 10
/** The first block. Heights have seven hex digits, which templates rely on. */
export const firstHeight = 70_000_000
/** Templates of busy blocks: more than a step of the scan holds, so that a step's addresses are all different. */
const templatesMax = 64
/** Blocks that are kept ready: more than one round asks for. */
const readyMax = 400

/** What a loopback node serves. Everything is made from templates: a block costs a copy and a few hundred writes. */
export interface Blocks {
  /** JSON of block 0, which a node is known by. */
  readonly genesis: string
  at(height: number): ReadyBlock
  /** Makes the last blocks up to `height` ready, so that answering costs no more than sending. */
  prepare(height: number): void
  /** A receipt's JSON. One that belongs to every block of a template is that of the newest up to `newest`. */
  receipt(txid: string, newest: number): string | null
  hashOf(height: number): string
}

/** What nodes say of a block, as JSON. */
export interface ReadyBlock {
  readonly full: Buffer
  readonly brief: string
  readonly logs: Buffer
}

/** Which blocks there are. From `fullFrom` on every transaction of a block is a deposit of the token. */
export interface BlocksOptions {
  readonly watched: number
  readonly fullFrom: number
}

interface Hole {
  readonly at: number
  readonly kind: string
  readonly slot: number
}

/** A text with holes for what differs from block to block. */
interface Template {
  readonly text: Buffer
  readonly holes: readonly Hole[]
}

interface BlockTemplate {
  readonly full: Template
  readonly logs: Template
  readonly brief: Template
  /** By txid, or by slot where the txid is a hole. */
  readonly receipts: ReadonlyMap<string, Template>
}

/** Builds the templates: about two seconds. */
export function createBlocks({ watched, fullFrom }: BlocksOptions): Blocks {
  const busy = Array.from({ length: templatesMax }, (_, i) => createTemplate(busySpecs(i), 1))
  const full = createTemplate(depositSpecs(), busyBlock.transactions)
  const byTxid = new Map(busy.flatMap(({ receipts }, i) => [...receipts.keys()].map((txid) => [txid, i] as const)))
  const slots = new Map<string, { readonly height: number; readonly slot: number }>()

  const templateAt = (height: number) => (height >= fullFrom ? full : busy[height % templatesMax]) ?? full
  const fill = (template: Template, height: number): Buffer => {
    const copy = Buffer.from(template.text)
    for (const { at, kind, slot } of template.holes) copy.latin1Write(fillerOf(kind, slot, height), at)
    return copy
  }
  const fillerOf = (kind: string, slot: number, height: number): string => {
    switch (kind) {
      case 'H':
        return hashOf(height)
      case 'P':
        return hashOf(height - 1)
      case 'N':
        return height.toString(16)
      case 'T':
        return (1_700_000_000 + (height - firstHeight) * 3).toString(16)
      case 'X':
        return slotTxid(height, slot)
      default:
        return recipient(height, slot)
    }
  }
  const recipient = (height: number, slot: number) => {
    if (height >= fullFrom) return watchedAddress(((height - fullFrom) * busyBlock.transactions + slot) % watched)
    return height % depositEvery === 0 ? watchedAddress((height / depositEvery) % watched) : stranger(height)
  }
  const slotTxid = (height: number, slot: number) => {
    const txid = sha(`deposit ${height} ${slot}`)
    slots.set(txid, { height, slot })
    return txid
  }
  const ready = new Map<number, ReadyBlock>()
  const at = (height: number): ReadyBlock => {
    const { full, brief, logs } = templateAt(height)
    const block = ready.get(height) ?? {
      full: fill(full, height),
      brief: fill(brief, height).toString('latin1'),
      logs: fill(logs, height),
    }
    ready.delete(height) // and in again as the newest
    ready.set(height, block)
    const [oldest] = ready.keys()
    if (ready.size > readyMax && oldest !== undefined) ready.delete(oldest)
    return block
  }
  return {
    genesis: JSON.stringify(createChain().at(0)?.brief),
    at,
    prepare(height) {
      for (let one = Math.max(firstHeight, height - readyMax + 1); one <= height; one += 1) at(one)
    },
    receipt(txid, newest) {
      const own = slots.get(txid)
      const shared = byTxid.get(txid)
      const height = own?.height ?? (shared === undefined ? null : newest - ((newest - shared) % templatesMax))
      const key = own === undefined ? txid : `slot ${own.slot}`
      const template = height === null ? undefined : templateAt(height).receipts.get(key)
      return height === null || template === undefined ? null : fill(template, height).toString('latin1')
    },
    hashOf,
  }
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const stranger = (n: number) => sha(`stranger ${n}`).slice(0, 40) as Address // 40 hex digits
const hashes = new Map<number, string>()

/** A block's hash: its height and then anything. */
function hashOf(height: number): string {
  const known = hashes.get(height) ?? height.toString(16).padStart(16, '0') + sha(`block ${height}`).slice(16)
  hashes.set(height, known)
  return known
}

/** The first transaction is the slot; the other token transfers, plain transfers and calls stand mixed after it. */
function busySpecs(template: number): TransactionSpec[] {
  const { transactions, tokenLogs, trxTransfers } = busyBlock
  return Array.from({ length: transactions }, (_, i): TransactionSpec => {
    const place = i === 0 ? 0 : (i * 7) % transactions
    const [from, to] = [stranger(template * 1e6 + i * 2), stranger(template * 1e6 + i * 2 + 1)]
    const amount = BigInt(1_000_000 + i * 37)
    if (place < tokenLogs) return { kind: 'token', contract: usdt, from, to, amount }
    if (place < tokenLogs + trxTransfers) return { kind: 'trx', from, to, amount }
    return i % 2 === 0 ? { kind: 'call', contract: to, from } : { kind: 'other', type: 57, from, to, value: amount }
  })
}

function depositSpecs(): TransactionSpec[] {
  const amount = 25_000_000n
  return Array.from({ length: busyBlock.transactions }, (_, i) => {
    return { kind: 'token', contract: usdt, from: stranger(-1 - i), to: addressOf(i), amount }
  })
}

/** One built block with holes in it. The first `slots` transactions get a txid and a recipient of their own. */
function createTemplate(specs: readonly TransactionSpec[], slots: number): BlockTemplate {
  const chain = createChain({ firstHeight })
  const { hash, height, full, brief, logs, transactions } = chain.add(specs)
  const pad = (letter: string, slot: number, length: number) =>
    `${letter}${slot.toString().padStart(4, '0')}`.padEnd(length, '-')
  const known = new Map<string, string>([
    [hash, 'H'.repeat(64)],
    [String(full.parentHash).slice(2), 'P'.repeat(64)],
    [`"0x${height.toString(16)}"`, `"0x${'N'.repeat(7)}"`],
    [String(full.timestamp).slice(2), 'T'.repeat(8)],
  ])
  for (let slot = 0; slot < slots; slot += 1) {
    const spec = specs[slot]
    if (spec?.kind !== 'token') throw new Error('a slot is a token transfer')
    known.set(String(transactions[slot]?.txid), pad('X', slot, 64))
    known.set(spec.to, pad('A', slot, 40))
  }
  const pattern = new RegExp([...known.keys()].join('|'), 'g')
  const open = (value: unknown): Template => {
    const text = JSON.stringify(value).replace(pattern, (found) => known.get(found) ?? found)
    const holes = [...text.matchAll(/H{64}|P{64}|N{7}|T{8}|[XA]\d{4}-+/g)].map((match): Hole => {
      const [found] = match
      return { at: match.index, kind: found.charAt(0), slot: Number.parseInt(found.slice(1), 10) || 0 }
    })
    return { text: Buffer.from(text, 'latin1'), holes }
  }
  const receipts = transactions.map(({ txid, receipt }, i) => [i < slots ? `slot ${i}` : txid, open(receipt)] as const)
  return { full: open(full), brief: open(brief), logs: open(logs), receipts: new Map(receipts) }
}
