import { describe, expect, it } from 'vitest'
import { usePages } from './fixture.ts'
import { windows } from './looks.ts'
import { scannedText } from './picture.ts'
import { payAddress } from './story.ts'

const pages = usePages()

describe('the QR code', () => {
  it.each([
    ['light', { languages: ['en'] }],
    ['dark, in Chinese', { languages: ['zh'], isDark: true }],
  ])('can be scanned from the screen as it is, and is the address, in every window: %s', async (_what, reader) => {
    const page = await pages.openLoaded(reader)
    const found: string[] = []
    for (const window of windows) {
      await page.setViewport(window)
      found.push(await scannedText(page))
    }
    await page.setViewport({ ...windows[0], deviceScaleFactor: 2 })
    found.push(await scannedText(page))
    expect(found).toEqual(Array(windows.length + 1).fill(payAddress))
  })
})
