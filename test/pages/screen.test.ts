import { describe, expect, it } from 'vitest'
import { resize } from './browser.ts'
import { usePages } from './fixture.ts'
import { windows } from './looks.ts'
import { scannedText } from './picture.ts'
import { drawn } from './reading.ts'
import { payAddress, transfer } from './story.ts'

const pages = usePages()

describe('the QR code', () => {
  it('can be scanned where something is said above it, as small as it is then', async () => {
    pages.story.transfers = [transfer(4, 'credited', { cuy: 1 })]
    const page = await pages.openFor({ sub: '7', order: '1041' })
    await page.waitForSelector('.summary .note', { visible: true })
    const found: string[] = []
    for (const window of windows) {
      // phones have more screen pixels
      await resize(page, { ...window, deviceScaleFactor: window.width < 1_000 ? 2 : 1 })
      found.push(await scannedText(page))
    }
    expect(found).toEqual(Array(windows.length).fill(payAddress))
  })

  it.each([
    ['light', { languages: ['en'] }],
    ['dark, in Chinese', { languages: ['zh'], isDark: true }],
  ])('can be scanned from the screen as it is, and is the address, in every window: %s', async (_what, reader) => {
    const page = await pages.openLoaded(reader)
    const found: string[] = []
    for (const window of windows) {
      await resize(page, window)
      found.push(await scannedText(page))
    }
    await resize(page, { ...windows[0], deviceScaleFactor: 2 })
    found.push(await scannedText(page))
    expect(found).toEqual(Array(windows.length + 1).fill(payAddress))
  })

  it('is black on white where the browser darkens the page by itself, and with forced colours, in both themes', async () => {
    const page = await pages.openLoaded()
    const session = await page.createCDPSession()
    const found: string[] = []
    for (const theme of ['light', 'dark']) {
      for (const [darkens, forced] of [
        [true, 'none'],
        [false, 'active'],
        [true, 'active'],
      ] as const) {
        const features = [
          { name: 'prefers-color-scheme', value: theme },
          { name: 'forced-colors', value: forced },
        ]
        await session.send('Emulation.setEmulatedMedia', { features })
        await session.send('Emulation.setAutoDarkModeOverride', { enabled: darkens })
        await page.goto(`${pages.service.url}/deposit?theme=${theme}`)
        await page.waitForSelector('.address', { visible: true })
        await drawn(page)
        found.push(`${theme}, darkened ${darkens}, forced ${forced}: ${await scannedText(page).catch(String)}`)
      }
    }
    await session.detach()
    expect(found.filter((one) => !one.endsWith(payAddress))).toEqual([])
  })
})
