import { createHash } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Address } from '../../src/chain/address.ts'
import { createChain } from '../support/chain-builder.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'

/** The content of a block like mainnet's: all transactions, and the USDT and TRX transfers among them. */
export const busyBlock = { transactions: 400, tokenLogs: 90, trxTransfers: 170 } as const
/** The height of the first block. Heights have seven hex digits: the templates depend on it. */
export const firstHeight = 70_000_000

/** What a placeholder is replaced with. `txid` and `recipient` are of the transaction at `slot`. */
export type PlaceholderKind = 'hash' | 'parent-hash' | 'height' | 'timestamp' | 'txid' | 'recipient'

/** A part of a template's text that differs from block to block. */
export interface Placeholder {
  readonly at: number
  readonly kind: PlaceholderKind
  readonly slot: number
}

/** A text with placeholders. */
export interface Template {
  readonly text: Buffer
  readonly placeholders: readonly Placeholder[]
}

/** The templates of one block. */
export interface BlockTemplate {
  readonly full: Template
  readonly logs: Template
  readonly brief: Template
  /** By txid, or by `slot <n>` if the txid is a placeholder. */
  readonly receipts: ReadonlyMap<string, Template>
  /** The contracts that have logs. */
  readonly contracts: ReadonlySet<string>
  /** The transactions with placeholders, which come first. */
  readonly slots: readonly TokenSpec[]
  /** The others, in their order. Their txids are the SHA-256 of their bytes. */
  readonly shared: readonly { readonly txid: string; readonly rawData: string }[]
}

/** A token transfer to build. */
export type TokenSpec = TransactionSpec & { readonly kind: 'token' }

/** A block like mainnet's. Its first transaction is a USDT transfer with placeholders for txid and recipient. */
export function busyTemplate(n: number): BlockTemplate {
  return createTemplate(busySpecs(n), 1)
}

/** A block of USDT transfers only, all with placeholders for txid and recipient. */
export function depositTemplate(): BlockTemplate {
  return createTemplate(depositSpecs(), busyBlock.transactions)
}

/** SHA-256 of a text or of bytes, as hex digits. */
export const sha256Hex = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
/** An address that no user has. */
export const foreignAddress = (n: number): Address => sha256Hex(`stranger ${n}`).slice(0, 40) as Address // hex digits

/** After the first transaction, token transfers, TRX transfers and calls are mixed. */
function busySpecs(template: number): TransactionSpec[] {
  const { transactions, tokenLogs, trxTransfers } = busyBlock
  return Array.from({ length: transactions }, (_, i): TransactionSpec => {
    const rank = i === 0 ? 0 : (i * 7) % transactions
    const [from, to] = [foreignAddress(template * 1e6 + i * 2), foreignAddress(template * 1e6 + i * 2 + 1)]
    const amount = BigInt(1_000_000 + i * 37)
    if (rank < tokenLogs) return { kind: 'token', contract: usdtAddress, from, to, amount }
    if (rank < tokenLogs + trxTransfers) return { kind: 'trx', from, to, amount }
    return i % 2 === 0 ? { kind: 'call', contract: to, from } : { kind: 'other', type: 57, from, to, value: amount }
  })
}

function depositSpecs(): TransactionSpec[] {
  const amount = 25_000_000n
  return Array.from({ length: busyBlock.transactions }, (_, i) => {
    return { kind: 'token', contract: usdtAddress, from: foreignAddress(-1 - i), to: addressOf(i), amount }
  })
}

const kindOfLetter: Readonly<Record<string, PlaceholderKind>> = {
  H: 'hash',
  P: 'parent-hash',
  N: 'height',
  T: 'timestamp',
  X: 'txid',
  A: 'recipient',
}

/** A built block with placeholders. The first `slots` transactions get placeholders for txid and recipient. */
function createTemplate(specs: readonly TransactionSpec[], slots: number): BlockTemplate {
  const { hash, height, full, brief, logs, transactions } = createChain({ firstHeight }).add(specs)
  const replacements = new Map<string, string>([
    [hash, 'H'.repeat(64)],
    [String(full.parentHash).slice(2), 'P'.repeat(64)],
    [`"0x${height.toString(16)}"`, `"0x${'N'.repeat(7)}"`],
    [String(full.timestamp).slice(2), 'T'.repeat(8)],
  ])
  const slotSpecs = specs.slice(0, slots).filter((spec) => spec.kind === 'token')
  if (slotSpecs.length < slots) throw new Error('only a token transfer has placeholders')
  for (const [slot, spec] of slotSpecs.entries()) {
    replacements.set(String(transactions[slot]?.txid), slotMark('X', slot, 64))
    replacements.set(spec.to, slotMark('A', slot, 40))
  }
  const pattern = new RegExp([...replacements.keys()].join('|'), 'g')
  const template = (value: unknown): Template =>
    toTemplate(JSON.stringify(value).replace(pattern, (found) => replacements.get(found) ?? found))
  const receipts = transactions.map(
    ({ txid, receipt }, i) => [i < slots ? `slot ${i}` : txid, template(receipt)] as const,
  )
  return {
    full: template(full),
    brief: template(brief),
    logs: template(logs),
    receipts: new Map(receipts),
    contracts: new Set(logs.map(({ address }) => String(address))),
    slots: slotSpecs,
    shared: transactions.slice(slots).map(({ txid, rawData }) => ({ txid, rawData: bytesToHex(rawData) })),
  }
}

function slotMark(letter: string, slot: number, length: number): string {
  return `${letter}${slot.toString().padStart(4, '0')}`.padEnd(length, '-')
}

function toTemplate(text: string): Template {
  const placeholders = [...text.matchAll(/H{64}|P{64}|N{7}|T{8}|[XA]\d{4}-+/g)].map((match): Placeholder => {
    const [mark] = match
    const kind = kindOfLetter[mark.charAt(0)] ?? 'hash' // the pattern has no other letters
    return { at: match.index, kind, slot: Number.parseInt(mark.slice(1), 10) || 0 }
  })
  return { text: Buffer.from(text, 'latin1'), placeholders }
}
