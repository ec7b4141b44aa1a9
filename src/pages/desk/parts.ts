import { button, type Child, html } from '../kit/dom.ts'
import { type DeskContext, deskAmount, sinceText, stateName } from './context.ts'
import type { OwnedDeposit } from './data.ts'
import { reasonWords } from './findings.ts'

/** A sentence with its commands and settings, which have backticks, as code. */
export function sentence(text: string): Child[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html('code', {}, part)))
}

/** A button that leads to the story of something. */
export function storyButton(context: DeskContext, label: string, question: string): HTMLElement {
  return button({ class: 'plain link', 'aria-label': `${label}: ${context.texts.story}` }, label, () => {
    context.ask(question)
  })
}

/** A name with what belongs to it. */
export function fact(name: string, ...values: readonly Child[]): HTMLElement {
  return html('div', {}, html('dt', {}, name), html('dd', {}, ...values))
}

/** A line of smaller text; null without one. */
export function small(text: string | null, lang: string | null = null): HTMLElement | null {
  return text === null || text === '' ? null : html('span', { class: 'muted', lang }, text)
}

/** A table of two columns: what, and when. */
export function listTable(
  { texts }: DeskContext,
  rows: readonly (readonly [what: Child[], when: Child[]])[],
): HTMLElement {
  const body = rows.map(([what, when]) =>
    html('tr', {}, html('td', {}, ...what), html('td', { class: 'number' }, ...when)),
  )
  const names = [html('th', { scope: 'col' }, texts.what), html('th', { scope: 'col', class: 'number' }, texts.when)]
  return html('table', {}, html('thead', {}, html('tr', {}, ...names)), html('tbody', {}, ...body))
}

/** The row of a deposit, which leads to its story. */
export function depositRow(context: DeskContext, deposit: OwnedDeposit): readonly [what: Child[], when: Child[]] {
  const { amount, cuy, txid, state, reason, why, uid, at } = deposit
  const words = reason === null ? stateName(context, state) : reasonWords(context, reason, why).why
  const label = storyButton(context, deskAmount(context, amount, cuy), txid)
  return [[label, html('span', {}, words), small(context.texts.user(String(uid)))], [sinceText(context, at)]]
}
