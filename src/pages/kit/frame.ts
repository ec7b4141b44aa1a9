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
