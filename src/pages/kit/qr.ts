import { svg } from './dom.ts'
import { readableCode } from './readable-code.ts'

/**
 * The width of the light border that scanners expect around a code, in modules (the small squares
 * of the code).
 */
const quiet = 4

/**
 * Draws a QR code: black on white in every colour scheme, because many scanners cannot read light
 * on dark. White is a part of the picture, so that browsers which darken pages by themselves leave
 * it as it is. `label` is its text for screen readers.
 */
export function drawQr(text: string, label: string): SVGSVGElement {
  const code = readableCode(text)
  const side = code.size + 2 * quiet
  let path = ''
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + quiet} ${y + quiet}h1v1h-1z`
  }
  const shape = { viewBox: `0 0 ${side} ${side}`, 'shape-rendering': 'crispEdges', role: 'img', 'aria-label': label }
  const paper = svg('rect', { width: '100%', height: '100%' })
  return svg('svg', { class: 'qr', ...shape }, paper, svg('path', { d: path }))
}
