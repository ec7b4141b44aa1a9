import { html, type PageView } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'
import { createStatementView, type StatementView } from './statement-view.ts'

/** The folded part of the page with statements. */
export interface StatementsView extends PageView {
  /** Unfolds this part of the page, scrolls to it, and shows the statement of a user. */
  showUser(uid: string): void
}

/** Makes the folded part of the page with statements, which is empty until a reader unfolds it. */
export function createStatements(context: DeskContext): StatementsView {
  const body = html('div', {})
  const summary = html('summary', {}, html('h2', {}, context.texts.statements))
  const fold = html('details', {}, summary, body)
  let view: StatementView | null = null
  const fill = () => {
    if (view !== null) return view
    view = createStatementView(context)
    body.replaceChildren(...view.elements)
    return view
  }
  fold.addEventListener('toggle', () => {
    if (fold.open) fill()
  })
  return {
    element: html('section', { class: 'card wide statement' }, fold),
    update() {},
    showUser(uid) {
      fold.open = true
      summary.focus()
      summary.scrollIntoView({ block: 'start' })
      fill().showUser(uid)
    },
  }
}
