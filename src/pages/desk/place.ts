import { decimalForm } from '../kit/decimal.ts'
import { findTxid } from '../kit/read.ts'

/** A search that the desk can answer, as `parseQuestion` understands the reader's text. */
export type DeskQuestion =
  | { readonly kind: 'tx'; readonly txid: string }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'user'; readonly uid: number }
  /** The orders with this reference (`osn`): of one user, or of all users if `uid` is null. */
  | { readonly kind: 'order'; readonly uid: number | null; readonly osn: string }
  /** The payments of this amount: in one currency, or in all currencies if `symbol` is empty. */
  | { readonly kind: 'amount'; readonly amount: string; readonly symbol: string }
  | { readonly kind: 'gap'; readonly number: number }
  | { readonly kind: 'endpoint'; readonly number: number }
  | { readonly kind: 'payout'; readonly number: number }

/**
 * Parses the text of a search. A txid or an address is found anywhere in a pasted text. `symbols`
 * are those of the service's currencies.
 */
export function parseQuestion(asked: string, symbols: readonly string[]): DeskQuestion {
  const text = asked.trim()
  const txid = findTxid(text)
  if (txid !== null) return { kind: 'tx', txid }
  const address = /(?<![0-9A-Za-z])(?:T[1-9A-HJ-NP-Za-km-z]{33}|41[0-9a-fA-F]{40})(?![0-9A-Za-z])/.exec(text)?.[0]
  if (address !== undefined) return { kind: 'address', address }
  const [, kind, number = ''] = /^(gap|endpoint|payout) (\d{1,15})$/.exec(text) ?? []
  if (kind === 'gap' || kind === 'endpoint' || kind === 'payout') return { kind, number: Number(number) }
  const [, order] = /^osn (.+)$/.exec(text) ?? []
  if (order !== undefined) return { kind: 'order', uid: null, osn: order }
  const amount = parseAmount(text, symbols)
  if (amount !== null) return amount
  const [, uid, osn] = /^(?:#|(?:user|uid|用户)\s*#?)?([1-9]\d{0,15})(?:\s+(\S.*))?$/i.exec(text) ?? []
  if (uid === undefined) return { kind: 'order', uid: null, osn: text }
  return osn === undefined ? { kind: 'user', uid: Number(uid) } : { kind: 'order', uid: Number(uid), osn }
}

/**
 * Parses a number with the symbol of a currency before or after it, or a number with a point:
 * `61 TRX`, `usdt 1,000.5`, `0.25`.
 */
function parseAmount(text: string, symbols: readonly string[]): DeskQuestion | null {
  const known = symbols.find((one) => {
    const [low, wanted] = [text.toLowerCase(), one.toLowerCase()]
    return low.startsWith(`${wanted} `) || (low.endsWith(wanted) && /[\d\s]/.test(low.at(-wanted.length - 1) ?? ''))
  })
  const rest = known === undefined ? text : text.toLowerCase().replace(known.toLowerCase(), '').trim()
  const amount = rest.replaceAll(/,(?=\d{3}(?!\d))/g, '')
  const isAmount = decimalForm.test(amount) && (known !== undefined || amount.includes('.'))
  return isAmount ? { kind: 'amount', amount, symbol: known ?? '' } : null
}

/**
 * The fragment of the page's URL that stands for a search; empty for a search by amount, whose
 * result is a list with a URL of its own.
 */
export function fragmentOf(question: DeskQuestion): string {
  switch (question.kind) {
    case 'tx':
      return `#tx=${question.txid}`
    case 'address':
      return `#address=${question.address}`
    case 'user':
      return `#uid=${question.uid}`
    case 'order':
      return `#${question.uid === null ? '' : `uid=${question.uid}&`}osn=${encodeURIComponent(question.osn)}`
    case 'amount':
      return ''
    default:
      return `#${question.kind}=${question.number}`
  }
}

/**
 * The text of the search that a URL fragment names; null if it names none. The reverse of
 * `fragmentOf`.
 */
export function questionAt(fragment: string): string | null {
  const parameters = new URLSearchParams(fragment.slice(1))
  const [tx, address, uid, osn] = ['tx', 'address', 'uid', 'osn'].map((name) => parameters.get(name))
  if (tx || address) return tx || address || null
  if (osn) return uid ? `${uid} ${osn}` : `osn ${osn}`
  if (uid) return uid
  const named = ['gap', 'endpoint', 'payout'].find((name) => parameters.has(name))
  return named === undefined ? null : `${named} ${parameters.get(named)}`
}
