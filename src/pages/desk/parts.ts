import { button, type Child, html } from '../kit/dom.ts'
import { type DeskContext, depositAmount, durationText, sinceText, stateName } from './context.ts'
import type { OwnedDeposit } from './data.ts'
import { depositReason } from './reasons.ts'
import type { Row } from './walk.ts'

/**
 * In sentences, this command becomes a link to its documentation, which shows how to post an
 * adjustment.
 */
const postEntries = 'POST /ledger/entries'
const postEntriesDocs = '/docs#/Ledger/postLedgerEntries'

/**
 * The elements of a sentence. Commands and settings in backticks become code, which lines break
 * only between its words.
 */
export function sentence(text: string): Child[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))
}

function code(command: string): HTMLElement {
  const words = command.split(/( )/).map((word) => (word === ' ' ? word : html('span', {}, word)))
  if (command !== postEntries) return html('code', {}, ...words)
  const link = html('a', { 'aria-label': `${command}: /docs` }, html('code', {}, ...words))
  // in a new tab, so that this page stays as it is
  return Object.assign(link, { href: postEntriesDocs, target: '_blank', rel: 'noreferrer' })
}

/**
 * A button that searches for `question` and so leads to a story or a list. `about` follows the
 * label in the button's name for screen readers.
 */
export function storyButton(context: DeskContext, label: string, question: string, about?: string): HTMLElement {
  const name = `${label}: ${about ?? context.texts.story}`
  return button({ class: 'plain link', 'aria-label': name }, label, () => context.ask(question))
}

/**
 * Makes a function that fills an element whose content changes with time, such as ages. The element
 * is filled only if it differs. A focused button or link that is replaced passes its focus to the
 * one with the same name.
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
    const same = [...element.querySelectorAll<HTMLElement>('button, a, input')].find(
      (one) => one.getAttribute('aria-label') === name,
    )
    same?.focus({ preventScroll: true })
  }
}

/**
 * The age of the oldest event that an endpoint lacks, in words; the words for "up to date" if the
 * endpoint lacks none.
 */
export function lateText(context: DeskContext, behindSeconds: number): string {
  const { texts } = context
  return behindSeconds === 0 ? texts.upToDate : texts.late(durationText(context, behindSeconds))
}

/** A name with its values, for a list of definitions (`dl`). */
export function fact(name: Child, ...values: readonly Child[]): HTMLElement {
  return html('div', {}, html('dt', {}, name), html('dd', {}, ...values))
}

/**
 * A line of muted text; null if the text is empty or null. `lang` is for a text that is not in the
 * page's language.
 */
export function small(text: string | null, lang: string | null = null): HTMLElement | null {
  return text === null || text === '' ? null : html('span', { class: 'muted', lang }, text)
}

/** A line of muted text in the page's words, in which commands and settings become code. */
export const hint = (text: string) => html('span', { class: 'muted' }, ...sentence(text))

/** A table with the columns "what" and "when". Empty if there are no rows. */
export function listTable({ texts }: DeskContext, rows: readonly Row[]): Child[] {
  if (rows.length === 0) return []
  const body = rows.map(([what, when]) =>
    html('tr', {}, html('td', {}, ...what), html('td', { class: 'number' }, ...when)),
  )
  const names = [html('th', { scope: 'col' }, texts.what), html('th', { scope: 'col', class: 'number' }, texts.when)]
  return [html('table', {}, html('thead', {}, html('tr', {}, ...names)), html('tbody', {}, ...body))]
}

/** A deposit as a row of `listTable`. Its amount is a button that leads to its story. */
export function depositRow(context: DeskContext, deposit: OwnedDeposit): Row {
  const { amt, cuy, txid, state, reason, uid, created_at } = deposit
  const words = reason === null ? stateName(context, state) : depositReason(context, deposit).why
  const label = storyButton(context, depositAmount(context, amt, cuy), txid)
  return [[label, html('span', {}, words), small(context.texts.user(String(uid)))], [sinceText(context, created_at)]]
}
