import { isSafeLink } from './loopback.ts'

/**
 * The attributes that pages may set. No value of them makes the browser load, run or send anything.
 */
type AttributeName =
  | ('class' | 'id' | 'role' | 'lang' | 'title' | 'for' | 'type' | 'name' | 'value' | 'scope' | 'datetime' | 'tabindex')
  | (
      | 'alt'
      | 'autocomplete'
      | 'autocapitalize'
      | 'spellcheck'
      | 'inputmode'
      | 'placeholder'
      | 'maxlength'
      | 'hidden'
      | 'open'
      | 'disabled'
    )
  | ('viewBox' | 'preserveAspectRatio' | 'd' | 'x' | 'y' | 'width' | 'height' | 'shape-rendering')
  | `aria-${string}`
  | `data-${string}`

/** The attributes of one element. A null attribute is left out. */
export type Attributes = { readonly [name in AttributeName]?: string | null }

/** The content of an element. A text is always text, never markup. */
export type Child = Node | string | null

/** Makes an HTML element. A null child is left out. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children)
}

/** Makes an SVG element. A null child is left out. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

function fill<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) if (typeof value === 'string') made.setAttribute(name, value)
  made.append(...children.filter((child) => child !== null))
  return made
}

/** Makes a button that calls `act` when it is pressed. It never submits the form around it. */
export function button(attributes: Attributes, label: Child, act: () => void): HTMLButtonElement {
  const made = html('button', { type: 'button', ...attributes }, label)
  made.addEventListener('click', act)
  return made
}

/**
 * Makes a link to another site. It opens in a new tab, or with `here` in place of this page and of
 * a page that frames it. If the address is neither an https URL nor a URL of this machine, the
 * content is shown without a link.
 */
export function linkTo(
  address: string,
  where: 'new tab' | 'here',
  attributes: Attributes,
  ...children: Child[]
): HTMLElement {
  if (!isSafeLink(address)) return html('span', attributes, ...children)
  const link = html('a', attributes, ...children)
  link.href = address
  link.target = where === 'new tab' ? '_blank' : '_top'
  link.rel = 'noopener noreferrer'
  return link
}

/** Makes a decorative image from a data URL; null for any other address. */
export function picture(dataUrl: string, attributes: Attributes): HTMLImageElement | null {
  if (!dataUrl.startsWith('data:image/')) return null
  const image = html('img', { alt: '', ...attributes })
  image.src = dataUrl
  return image
}

/** Sets a text only if it differs, so that nothing is drawn or announced again without a reason. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/**
 * Makes a function that fills an element. `key` is a text that differs whenever the content does.
 * If `key` is the same as last time, nothing is drawn, so that focus and selection stay. If a
 * focused control is replaced, the new control with the same index gets the focus.
 */
export function createSlot(element: Element): (key: string, build: () => readonly Child[]) => void {
  let shown: string | null = null
  const controls = () => [...element.querySelectorAll<HTMLElement>('a, button, input, select, summary')]
  return (key, build) => {
    if (key === shown) return
    shown = key
    const focused = controls().indexOf(document.activeElement as HTMLElement) // -1 if the focus is elsewhere
    element.replaceChildren(...build().filter((child) => child !== null))
    controls()[focused]?.focus({ preventScroll: true })
  }
}

/** A part of a page. It draws itself from the model, which is the state of the page. */
export interface PageView {
  readonly element: HTMLElement
  /** Called after each change of the model. Draws what differs from the last time. */
  update(): void
  /** Called once a second, for countdowns. */
  tick?(): void
}
