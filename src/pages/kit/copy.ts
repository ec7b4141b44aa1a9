/** What became of a copy: where the browser forbids it, the text is selected for the reader's own command. */
export type CopyResult = 'copied' | 'selected'

/** Copies the text that an element shows. */
export async function copyShown(element: Element, text: string): Promise<CopyResult> {
  try {
    await navigator.clipboard.writeText(text)
    return 'copied'
  } catch {
    getSelection()?.selectAllChildren(element) // a framing page has to allow the clipboard
    return 'selected'
  }
}
