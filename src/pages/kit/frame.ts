/** The origin of the page that frames this one, if the browser reveals it; else null. */
export function framingOrigin(): string | null {
  if (window.parent === window) return null
  // not every browser has `ancestorOrigins`
  const { ancestorOrigins }: { readonly ancestorOrigins?: DOMStringList } = location
  try {
    return ancestorOrigins?.[0] ?? new URL(document.referrer).origin
  } catch {
    return null // the framing page hides its origin
  }
}

/**
 * Tells the framing page, if there is one, each new height of the content in pixels, so that the
 * frame needs no scroll bar.
 */
export function reportHeight(): void {
  if (window.parent === window) return
  document.documentElement.dataset.framed = ''
  let reported = 0
  const observer = new ResizeObserver(() => {
    const px = Math.ceil(document.body.getBoundingClientRect().height)
    if (px === reported) return
    reported = px
    window.parent.postMessage({ type: 'height', px }, '*') // to any origin, because the message contains no secret
  })
  observer.observe(document.body)
}
