/** The origin of the page that frames this one, as far as the browser says it; null without one. */
export function framingOrigin(): string | null {
  if (window.parent === window) return null
  const { ancestorOrigins }: { readonly ancestorOrigins?: DOMStringList } = location // not in every browser
  try {
    return ancestorOrigins?.[0] ?? new URL(document.referrer).origin
  } catch {
    return null // a page that hides where it is
  }
}

/** Tells a framing page how high the content is, so that the frame needs no scroll bar of its own. */
export function reportHeight(): void {
  if (window.parent === window) return
  document.documentElement.dataset.framed = ''
  let reported = 0
  const observer = new ResizeObserver(() => {
    const px = Math.ceil(document.body.getBoundingClientRect().height)
    if (px === reported) return
    reported = px
    window.parent.postMessage({ type: 'height', px }, '*') // no secret in it
  })
  observer.observe(document.body)
}
