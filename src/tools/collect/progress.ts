import type { Writable } from 'node:stream'

const barWidth = 30

/**
 * A progress bar: one line that is written over on a terminal, and a line for each tenth elsewhere. `of` 0 shows nothing.
 */
export function createProgress(output: Writable & { readonly isTTY?: boolean }) {
  let shown = ''
  return (what: string, done: number, of: number): void => {
    if (of === 0) return
    const isTerminal = output.isTTY === true
    const tenths = Math.floor((10 * done) / of)
    const key = isTerminal ? `${what} ${done}` : `${what} ${tenths}`
    if (key === shown) return
    shown = key
    const filled = Math.floor((barWidth * done) / of)
    const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${done}/${of} ${what}`
    output.write(isTerminal ? `\r\u001b[K${bar}${done === of ? '\n' : ''}` : `${bar}\n`)
  }
}
