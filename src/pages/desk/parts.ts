import { button, type Child, html } from '../kit/dom.ts'
import { type DeskContext, depositAmount, durationText, sinceText, stateName } from './context.ts'
import type { OwnedDeposit } from './data.ts'
import { reasonWords } from './reasons.ts'
import type { Row } from './walk.ts'

/** The route that posts entries; its documentation shows an adjustment. */
const postEntries = 'POST /ledger/entries'
const postEntriesDocs = '/docs#/Ledger/postLedgerEntries'

/** A sentence whose commands and settings, marked by backticks, become code. Lines break between the words of a command. */
export function sentence(text: string): Child[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))
}

function code(command: string): HTMLElement {
  const words = command.split(/( )/).map((word) => (word === ' ' ? word : html('span', {}, word)))
  if (command !== postEntries) return html('code', {}, ...words)
  const link = html('a', { 'aria-label': `${command}: /docs` }, html('code', {}, ...words))
  return Object.assign(link, { href: postEntriesDocs, target: '_blank', rel: 'noreferrer' }) // opens in a new tab, because only this page has the token
}

/** A button that leads to a story. `about` names it, if the label does not. */
export function storyButton(context: DeskContext, label: string, question: string, about?: string): HTMLElement {
  const name = `${label}: ${about ?? context.texts.story}`
  return button({ class: 'plain link', 'aria-label': name }, label, () => context.ask(question))
}

/**
 * A place whose content, ages included, changes by itself. It is drawn again only if something differs, and the focus stays on the button or link of the same
 * name.
 */
export function createLiveSlot(element: Element): (children: readonly Child[]) => void {
  let shown: Node | null = null
  return (children) => {
    const made = html('div', {}, ...children)
    if (shown?.isEqualNode(made)) return
    shown = made.cloneNode(true)
    const focused = element.contains(document.activeElement) ? document.activeElement : null
    element.replaceChildren(...made.childNodes)
    if (focused === null || focused.isConnected) return
    const name = focused.getAttribute('aria-label')
    const same = [...element.querySelectorAll<HTMLElement>('button, a')].find(
      (one) => one.getAttribute('aria-label') === name,
    )
    same?.focus({ preventScroll: true })
  }
}

/** How far an endpoint is behind, in words. */
export function lateText(context: DeskContext, behindSeconds: number): string {
  const { texts } = context
  return behindSeconds === 0 ? texts.upToDate : texts.late(durationText(context, behindSeconds))
}

/** A name with its values. */
export function fact(name: Child, ...values: readonly Child[]): HTMLElement {
  return html('div', {}, html('dt', {}, name), html('dd', {}, ...values))
}

/** A line of smaller text; null without a text. */
export function small(text: string | null, lang: string | null = null): HTMLElement | null {
  return text === null || text === '' ? null : html('span', { class: 'muted', lang }, text)
}

/** A line of smaller text in the page's words, with commands as code. */
export const hint = (text: string) => html('span', { class: 'muted' }, ...sentence(text))

/** A table of two columns (what, and when); nothing without rows. */
export function listTable({ texts }: DeskContext, rows: readonly Row[]): Child[] {
  if (rows.length === 0) return []
  const body = rows.map(([what, when]) =>
    html('tr', {}, html('td', {}, ...what), html('td', { class: 'number' }, ...when)),
  )
  const names = [html('th', { scope: 'col' }, texts.what), html('th', { scope: 'col', class: 'number' }, texts.when)]
  return [html('table', {}, html('thead', {}, html('tr', {}, ...names)), html('tbody', {}, ...body))]
}

/** The row of a deposit, with a link to its story. */
export function depositRow(context: DeskContext, deposit: OwnedDeposit): Row {
  const { amount, cuy, txid, state, reason, why, uid, at } = deposit
  const words = reason === null ? stateName(context, state) : reasonWords(context, reason, why).why
  const label = storyButton(context, depositAmount(context, amount, cuy), txid)
  return [[label, html('span', {}, words), small(context.texts.user(String(uid)))], [sinceText(context, at)]]
}
