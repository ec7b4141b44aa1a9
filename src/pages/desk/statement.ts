import { html, type PageView } from '../kit/dom.ts'
import { loadScript } from '../kit/load-script.ts'
import type { DeskContext } from './context.ts'

/** The part of the page with statements, which the reader opens. Their script is loaded then; if that fails, opening it again tries again. */
export function createStatements(context: DeskContext): PageView {
  const { texts } = context
  const body = html('div', {})
  const summary = html('summary', {}, html('h2', {}, texts.statements))
  const fold = html('details', {}, summary, body)
  let isThere = false
  fold.addEventListener('toggle', async () => {
    if (!fold.open || isThere) return
    const view = await loadScript(() => import('./statement-view.ts'), './statement-view.js')
    isThere = view !== null
    body.replaceChildren(...(view?.createStatementView(context) ?? [html('p', { class: 'fault' }, texts.offline)]))
  })
  return { element: html('section', { class: 'card wide statement' }, fold), update() {} }
}
