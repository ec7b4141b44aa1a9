import { decimalForm } from '../kit/decimal.ts'
import { findTxid } from '../kit/read.ts'

/** A search that the desk can answer, as `parseQuestion` understands the reader's text. */
export type DeskQuestion =
  | { readonly kind: 'tx'; readonly txid: string }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'user'; readonly uid: number }
  /** An address or a txid of which a part is known: how it begins, and how it ends or nothing. */
  | { readonly kind: 'part'; readonly begin: string; readonly end: string }
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
  const part = parsePart(text)
  if (part !== null) return part
  const amount = parseAmount(text, symbols)
  if (amount !== null) return amount
  const [, uid, osn] = /^(?:#|(?:user|uid|用户)\s*#?)?([1-9]\d{0,15})(?:\s+(\S.*))?$/i.exec(text) ?? []
  if (uid === undefined) return { kind: 'order', uid: null, osn: text }
  return osn === undefined ? { kind: 'user', uid: Number(uid) } : { kind: 'order', uid: Number(uid), osn }
}

const partForm = /^(T[1-9A-HJ-NP-Za-km-z]{3,32}|(?:0x)?[0-9a-f]{4,63})(?:\s*(?:…|⋯|\.{2,})\s*|\s+)([0-9A-Za-z]{0,60})$/i

/**
 * Parses an address or a txid whose middle is left out, as pages and wallets print it, or as
 * somebody types it from a picture: `TWer2Y…GZmaL6`, `ccf493...938420`, `TWer2Y GZmaL6`. Without
 * dots, a number before a blank is a user.
 */
function parsePart(text: string): DeskQuestion | null {
  const [, begin = '', end = ''] = partForm.exec(text) ?? []
  if (begin === '' || (/^\d/.test(begin) && !/[.…⋯]/.test(text))) return null
  return partOf(begin, end)
}

/** The search for a text that begins an address or a txid; null if it can be neither. */
export function partAt(text: string): (DeskQuestion & { readonly kind: 'part' }) | null {
  const begin = text.trim()
  return /^(T[1-9A-HJ-NP-Za-km-z]{5,32}|(?:0x)?[0-9a-f]{6,63})$/i.test(begin) ? partOf(begin, '') : null
}

/** Hex digits are stored in lower case. In an address, each letter is another one in upper case. */
function partOf(begin: string, end: string) {
  const isAddress = begin.startsWith('T')
  const lower = (part: string) => (isAddress ? part : part.toLowerCase())
  return { kind: 'part', begin: lower(begin).replace(/^0x/, ''), end: lower(end) } as const
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
  const amount = plainNumber(rest)
  const isAmount = decimalForm.test(amount) && (known !== undefined || amount.includes('.'))
  return isAmount ? { kind: 'amount', amount, symbol: known ?? '' } : null
}

/**
 * A number as people write it, as the service does: `1,000.5`, `1.000,5`, `1 000,50`, `1'000.50`. A
 * comma before three last digits stands between thousands; any other single one is a point.
 */
function plainNumber(text: string): string {
  const joined = text.replaceAll(/(?<=\d)[\s'’_](?=\d{3}(?!\d))/g, '')
  if (/^\d{1,3}(\.\d{3})+,\d+$/.test(joined)) return joined.replaceAll('.', '').replace(',', '.')
  if (/^\d{1,3}(\.\d{3}){2,}$/.test(joined)) return joined.replaceAll('.', '')
  const whole = joined.replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '')
  return /^\d+,\d+$/.test(whole) ? whole.replace(',', '.') : whole
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
    case 'part':
      return `#part=${encodeURIComponent(`${question.begin}…${question.end}`)}`
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
  const part = parameters.get('part')
  if (tx || address || part) return tx || address || part || null
  if (osn) return uid ? `${uid} ${osn}` : `osn ${osn}`
  if (uid) return uid
  const named = ['gap', 'endpoint', 'payout'].find((name) => parameters.has(name))
  return named === undefined ? null : `${named} ${parameters.get(named)}`
}
