import { button, html, type PageView } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'

/**
 * A line of buttons that lead to parts of the page that are far below. A part that is folded is
 * opened.
 */
export function createJumps({ texts }: DeskContext, parts: readonly PageView[]): PageView {
  const jumps = parts.map(({ element }) => {
    const heading = element.querySelector('h2')
    const go = button({ class: 'plain' }, heading?.textContent ?? '', () => {
      const fold = heading?.closest('details')
      if (fold) fold.open = true
      else heading?.setAttribute('tabindex', '-1')
      const target = heading?.closest('summary') ?? heading
      target?.focus({ preventScroll: true })
      element.scrollIntoView({ block: 'start' })
    })
    return { element, go }
  })
  return {
    element: html('nav', { class: 'row wide', 'aria-label': texts.parts }, ...jumps.map(({ go }) => go)),
    update() {
      for (const { element, go } of jumps) go.hidden = element.hidden
    },
  }
}
