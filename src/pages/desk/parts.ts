import { button, type Child, html } from '../kit/dom.ts'
import { type DeskContext, depositAmount, durationText, sinceText, stateName } from './context.ts'
import type { OwnedDeposit } from './data.ts'
import { reasonWords } from './reasons.ts'
import type { Row } from './walk.ts'

/** The route that posts entries, and where the documentation of the service shows an adjustment. */
const postEntries = 'POST /ledger/entries'
const postEntriesDocs = '/docs#/Ledger/postLedgerEntries'

/** A sentence with its commands and settings, which have backticks, as code. A line ends between the words of a command. */
export function sentence(text: string): Child[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))
}

function code(command: string): HTMLElement {
  const words = command.split(/( )/).map((word) => (word === ' ' ? word : html('span', {}, word)))
  if (command !== postEntries) return html('code', {}, ...words)
  const link = html('a', { 'aria-label': `${command}: /docs` }, html('code', {}, ...words))
  return Object.assign(link, { href: postEntriesDocs, target: '_blank', rel: 'noreferrer' }) // the token is in this page only
}

/** A button that leads to the story of something, which the label names where `about` does not. */
export function storyButton(context: DeskContext, label: string, question: string, about?: string): HTMLElement {
  const name = `${label}: ${about ?? context.texts.story}`
  return button({ class: 'plain link', 'aria-label': name }, label, () => context.ask(question))
}

/**
 * A place whose content changes by itself, with the ages in it. Nothing is drawn again without a difference, and the focus
 * stays on the button or link of the same name.
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

/** How far an endpoint is behind. */
export function lateText(context: DeskContext, behindSeconds: number): string {
  const { texts } = context
  return behindSeconds === 0 ? texts.upToDate : texts.late(durationText(context, behindSeconds))
}

/** A name with what belongs to it. */
export function fact(name: Child, ...values: readonly Child[]): HTMLElement {
  return html('div', {}, html('dt', {}, name), html('dd', {}, ...values))
}

/** A line of smaller text; null without one. */
export function small(text: string | null, lang: string | null = null): HTMLElement | null {
  return text === null || text === '' ? null : html('span', { class: 'muted', lang }, text)
}

/** A line of smaller text by this page, with its commands as code. */
export const hint = (text: string) => html('span', { class: 'muted' }, ...sentence(text))

/** A table of two columns: what, and when; nothing without rows. */
export function listTable({ texts }: DeskContext, rows: readonly Row[]): Child[] {
  if (rows.length === 0) return []
  const body = rows.map(([what, when]) =>
    html('tr', {}, html('td', {}, ...what), html('td', { class: 'number' }, ...when)),
  )
  const names = [html('th', { scope: 'col' }, texts.what), html('th', { scope: 'col', class: 'number' }, texts.when)]
  return [html('table', {}, html('thead', {}, html('tr', {}, ...names)), html('tbody', {}, ...body))]
}

/** The row of a deposit, which leads to its story. */
export function depositRow(context: DeskContext, deposit: OwnedDeposit): Row {
  const { amount, cuy, txid, state, reason, why, uid, at } = deposit
  const words = reason === null ? stateName(context, state) : reasonWords(context, reason, why).why
  const label = storyButton(context, depositAmount(context, amount, cuy), txid)
  return [[label, html('span', {}, words), small(context.texts.user(String(uid)))], [sinceText(context, at)]]
}
