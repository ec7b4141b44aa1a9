import { findTxid } from '../kit/read.ts'

/** What the box can be asked about. */
export type DeskQuestion =
  | { readonly kind: 'tx'; readonly txid: string }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'user'; readonly uid: number }
  | { readonly kind: 'order'; readonly uid: number; readonly osn: string }
  | { readonly kind: 'gap'; readonly number: number }
  | { readonly kind: 'endpoint'; readonly number: number }
  | { readonly kind: 'payout'; readonly number: number }
  /** An order without its user. */
  | { readonly kind: 'whose'; readonly osn: string }

/** What a text asks about. A txid or an address is found in whatever was pasted. */
export function parseQuestion(asked: string): DeskQuestion {
  const text = asked.trim()
  const txid = findTxid(text)
  if (txid !== null) return { kind: 'tx', txid }
  const address = /(?<![0-9A-Za-z])(?:T[1-9A-HJ-NP-Za-km-z]{33}|41[0-9a-fA-F]{40})(?![0-9A-Za-z])/.exec(text)?.[0]
  if (address !== undefined) return { kind: 'address', address }
  const [, kind, number = ''] = /^(gap|endpoint|payout) (\d{1,15})$/.exec(text) ?? []
  if (kind === 'gap' || kind === 'endpoint' || kind === 'payout') return { kind, number: Number(number) }
  const [, uid, osn] = /^([1-9]\d{0,15})(?:\s+(\S.*))?$/.exec(text) ?? []
  if (uid === undefined) return { kind: 'whose', osn: text }
  return osn === undefined ? { kind: 'user', uid: Number(uid) } : { kind: 'order', uid: Number(uid), osn }
}

/** The fragment under which an answer has an address of its own; empty where it has none. */
export function fragmentOf(question: DeskQuestion): string {
  switch (question.kind) {
    case 'tx':
      return `#tx=${question.txid}`
    case 'address':
      return `#address=${question.address}`
    case 'user':
      return `#uid=${question.uid}`
    case 'order':
      return `#uid=${question.uid}&osn=${encodeURIComponent(question.osn)}`
    case 'whose':
      return ''
    default:
      return `#${question.kind}=${question.number}`
  }
}

/** The text that asks for the answer at a fragment; null where it is none. */
export function questionAt(fragment: string): string | null {
  const parameters = new URLSearchParams(fragment.slice(1))
  const [tx, address, uid, osn] = ['tx', 'address', 'uid', 'osn'].map((name) => parameters.get(name))
  if (tx || address) return tx || address || null
  if (uid) return osn ? `${uid} ${osn}` : uid
  const named = ['gap', 'endpoint', 'payout'].find((name) => parameters.has(name))
  return named === undefined ? null : `${named} ${parameters.get(named)}`
}
