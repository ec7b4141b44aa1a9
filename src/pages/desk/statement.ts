import { html, type PageView } from '../kit/dom.ts'
import { loadScript } from '../kit/load-script.ts'
import type { DeskContext } from './context.ts'

/** The folded part of the page with statements. */
export interface StatementsView extends PageView {
  /** Unfolds this part of the page, scrolls to it, and shows the statement of a user. */
  showUser(uid: string): void
}

/** Makes the folded part of the page with statements. Its script is loaded when a reader unfolds it. */
export function createStatements(context: DeskContext): StatementsView {
  const { texts } = context
  const body = html('div', {})
  const summary = html('summary', {}, html('h2', {}, texts.statements))
  const fold = html('details', {}, summary, body)
  let view: import('./statement-view.ts').StatementView | null = null
  const load = async () => {
    if (view !== null) return view
    const script = await loadScript(() => import('./statement-view.ts'), './statement-view.js')
    view ??= script?.createStatementView(context) ?? null
    body.replaceChildren(...(view?.elements ?? [html('p', { class: 'fault' }, texts.offline)]))
    return view
  }
  fold.addEventListener('toggle', () => {
    if (fold.open) void load()
  })
  return {
    element: html('section', { class: 'card wide statement' }, fold),
    update() {},
    async showUser(uid) {
      fold.open = true
      summary.focus()
      summary.scrollIntoView({ block: 'start' })
      const shown = await load()
      shown?.showUser(uid)
    },
  }
}
