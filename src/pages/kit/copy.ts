import { type Attributes, button, html } from './dom.ts'

/**
 * The result of copying. If the browser forbids it, the text is selected so that the reader can
 * copy it.
 */
export type CopyResult = 'copied' | 'selected'

/** How long a button shows the result of copying. */
const shownMs = 2_000

/** Copies a text. Returns whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/**
 * Copies `text`, which `element` shows. If the browser forbids it, selects what the element shows.
 */
export async function copyShown(element: Element, text: string): Promise<CopyResult> {
  if (await copyText(text)) return 'copied'
  getSelection()?.selectAllChildren(element) // in a frame, the framing page must allow the clipboard
  return 'selected'
}

/**
 * A button that copies `text`, which `element` shows. The button shows the result for a moment.
 * `copied` is called with the result, too.
 */
export function copyButton(
  attributes: Attributes,
  words: Readonly<Record<CopyResult, string>> & { readonly label: string },
  { element, text }: { readonly element: Element; readonly text: string },
  copied: (result: CopyResult) => void,
): HTMLButtonElement {
  const label = html('span', {}, words.label)
  let ending: ReturnType<typeof setTimeout> | undefined
  const show = (result: CopyResult) => {
    label.textContent = words[result]
    clearTimeout(ending)
    ending = setTimeout(() => {
      label.textContent = words.label
    }, shownMs)
    copied(result)
  }
  return button(attributes, label, () => void copyShown(element, text).then(show))
}
