/** Finds what does not fit into the window of a page, measured on what the browser has drawn. */
import type { Page } from 'puppeteer-core'

/** The edges of a drawn box, in pixels. */
interface Edges {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** A line of text or a control, as it is drawn. */
interface Drawn extends Edges {
  readonly name: string
  /**
   * Whether the line or the control reaches out of its box, or out of an element that cuts off its
   * content.
   */
  readonly isOut: boolean
  /**
   * A number for the control, or for the text to which the line belongs; `inside` are the numbers
   * of the controls around it.
   */
  readonly own: number
  readonly inside: readonly number[]
}

const slackPx = 1 // browsers round positions

/**
 * What does not fit into the current window, and what of `seen` cannot be seen without scrolling,
 * as sentences.
 */
export async function misfits(page: Page, seen: readonly string[] = []): Promise<string[]> {
  const { width = 0 } = page.viewport() ?? {}
  const unseen = await unseenOf(page, seen) // first, because it scrolls to the top
  const drawn = await drawnIn(page)
  const found = drawn.flatMap((one) => {
    const isBeyond = one.left < -slackPx || one.right > width + slackPx
    return [...(isBeyond ? [`beyond the window: ${one.name}`] : []), ...(one.isOut ? [`cut off: ${one.name}`] : [])]
  })
  return [...new Set([...unseen, ...found, ...overlapsOf(drawn)])]
}

/** A sentence about each pair of lines or controls that cover each other. */
function overlapsOf(drawn: readonly Drawn[]): string[] {
  const sorted = [...drawn].sort((a, b) => a.top - b.top)
  const open: Drawn[] = [] // what begins higher up and ends below the top of `one`
  return sorted.flatMap((one) => {
    const still = open.filter(({ bottom }) => bottom > one.top + slackPx)
    open.splice(0, open.length, ...still, one)
    const over = still.filter((other) => {
      const isBeside = other.left >= one.right - slackPx || other.right <= one.left + slackPx
      return !isBeside && one.own !== other.own && !one.inside.includes(other.own) && !other.inside.includes(one.own)
    })
    return over.map((other) => `over another: ${other.name} / ${one.name}`)
  })
}

/** All visible lines of text and controls, except those in a part that can be scrolled. */
function drawnIn(page: Page): Promise<Drawn[]> {
  return page.evaluate((slack) => {
    interface Place {
      readonly clips: readonly Edges[]
      /** The edges of the nearest ancestor that is a box and not inline text. */
      readonly box: Edges | null
      readonly inside: readonly number[]
    }
    const controls = [...document.querySelectorAll('button, input, select, summary, a.button, .choice, .badge, .qr')]
    const leaves = (one: Edges, { left, right, top, bottom }: Edges) => {
      const isAside = one.left < left - slack || one.right > right + slack
      return isAside || one.top < top - slack || one.bottom > bottom + slack
    }
    const numbers = new Map(controls.map((control, index) => [control, index]))
    const edgesOf = (element: Element): Edges => {
      const { left, right, top, bottom } = element.getBoundingClientRect()
      return { left, right, top, bottom }
    }
    /**
     * The edges of an element's box; null if it is meant to have no height, such as a label at a
     * line of a scale.
     */
    const boxOf = (element: Element) =>
      element instanceof SVGElement || element.clientHeight === 0 ? null : edgesOf(element)
    const known = new Map<Element, Place | null>()
    /**
     * What surrounds the content of an element; null if the content is hidden or can be scrolled
     * to.
     */
    const placeIn = (element: Element | null): Place | null => {
      if (element === null) return { clips: [], box: null, inside: [] }
      const before = known.get(element)
      if (before !== undefined) return before
      const { display, overflowX, clipPath } = getComputedStyle(element)
      const isClip = overflowX !== 'visible' && !element.matches('html, body')
      const isOut = clipPath !== 'none' || (isClip && overflowX !== 'hidden') || element.matches('select, noscript')
      const outer =
        isOut || !element.checkVisibility({ visibilityProperty: true }) ? null : placeIn(element.parentElement)
      const isBox = display !== 'inline'
      const own = numbers.get(element) ?? -1
      const place = outer && {
        clips: isClip ? [...outer.clips, edgesOf(element)] : outer.clips,
        box: isBox ? boxOf(element) : outer.box,
        inside: own < 0 ? outer.inside : [...outer.inside, own],
      }
      known.set(element, place)
      return place
    }
    const found: Drawn[] = []
    for (const [own, control] of controls.entries()) {
      const place = placeIn(control.parentElement)
      const name = `${control.localName} ${control.getAttribute('class') ?? control.textContent}`
      if (place === null || !control.checkVisibility()) continue
      const edges = edgesOf(control)
      const isOut = place.clips.some((clip) => leaves(edges, clip))
      found.push({ ...edges, isOut, inside: place.inside, name, own })
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    for (let own = controls.length; walker.nextNode(); own += 1) {
      const name = walker.currentNode.textContent?.trim().slice(0, 40) ?? ''
      const place = name === '' ? null : placeIn(walker.currentNode.parentElement)
      if (place === null) continue
      const within = place.box === null ? place.clips : [place.box, ...place.clips]
      range.selectNodeContents(walker.currentNode)
      for (const { left, right, top, bottom } of range.getClientRects()) {
        const blank = (bottom - top) / 4 // the space above and below the letters of a line
        const line = { left, right, top: top + blank, bottom: bottom - blank }
        const isOut = within.some((edges) => leaves(line, edges))
        if (right > left) found.push({ ...line, isOut, inside: place.inside, name, own })
      }
    }
    return found
  }, slackPx)
}

/**
 * Says if the page is wider than the window, and which selectors are not fully visible without
 * scrolling, or covered.
 */
function unseenOf(page: Page, selectors: readonly string[]): Promise<string[]> {
  return page.evaluate((all) => {
    window.scrollTo(0, 0)
    const { scrollWidth } = document.scrollingElement ?? document.documentElement
    const unseen = all.flatMap((selector) => {
      const element = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility())
      if (element === undefined) return [`not there: ${selector}`]
      const { left, right, top, bottom } = element.getBoundingClientRect()
      const isWithin = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && right > left
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      const isOnTop = element.contains(hit) || hit?.contains(element) === true
      return isWithin && isOnTop ? [] : [`not seen: ${selector}, which ends at ${Math.round(bottom)} of ${innerHeight}`]
    })
    return scrollWidth > innerWidth ? [`wider than the window: ${scrollWidth}`, ...unseen] : unseen
  }, selectors)
}
