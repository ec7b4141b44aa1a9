import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { usePages } from './fixture.ts'
import { scannedText } from './picture.ts'
import { seeIn } from './reading.ts'
import { currencies, payAddress } from './story.ts'

const pages = usePages()

/** Widths and heights; at the first and at the last one a reader may have to scroll. */
const windows = [
  { width: 320, height: 568 },
  { width: 360, height: 640 },
  { width: 390, height: 844 },
  { width: 1366, height: 650 },
  { width: 1920, height: 1_000 },
]
const phone = windows[1]
const brand = { name: 'Tea & Company of the West', color: '#635bff', logo: null }
const request = { cuy: 2, amt: '1234567.891234', order: 'A-1041-2026', return: 'https://shop.example/orders/1041' }

/** What has to be seen before anybody pays, by its selectors. */
const needed = {
  account: '.owner',
  amount: '.send h2',
  network: '.badge',
  warning: '.warning',
  code: '.qr',
  address: '.address',
  copy: '.destination button',
}

/** What of it is not wholly within the window, or cut, and whether the page is wider than that. */
async function unseen(page: Page): Promise<string[]> {
  return page.evaluate((parts) => {
    const isWithin = (element: Element | null) => {
      if (element === null || !element.checkVisibility()) return false
      const { top, bottom, left, right, width } = element.getBoundingClientRect()
      const isWhole = element.scrollWidth <= Math.ceil(width) || element instanceof SVGElement
      return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && isWhole
    }
    const missing = Object.entries(parts).flatMap(([name, selector]) =>
      isWithin(document.querySelector(selector)) ? [] : [name],
    )
    return document.documentElement.scrollWidth > innerWidth ? [...missing, 'too wide'] : missing
  }, needed)
}

describe('the screen', () => {
  it.each([
    ['any amount', { sub: '9007199254740990' }],
    ['a long name', { sub: '7', name: 'Maximiliana Wolfeschlegelsteinhausen' }],
    ['a request', { sub: '7', name: '王安娜', deposit: request }],
  ])(
    'has all that a payment needs without scrolling, in each language, theme and window: %s',
    async (_what, claims) => {
      pages.service.settings = { origins: ['https://shop.example'], brand, devUid: null }
      const page = await pages.openFor(claims)
      const found: string[] = []
      for (const [title, other] of [
        ['Deposit', '充值'],
        ['充值', 'Deposit'],
      ] as const) {
        for (const value of ['light', 'dark']) {
          await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
          for (const { width, height } of windows) {
            await page.setViewport({ width, height })
            const at = `${title} ${value} ${width}: `
            const missing =
              width === 320 ? (await unseen(page)).filter((one) => one === 'too wide') : await unseen(page)
            found.push(...missing.map((one) => at + one))
          }
        }
        await page.click('header button')
        await seeIn(page, 'h1', other)
      }
      expect(found).toEqual([])
    },
  )

  it.each([
    ['on a test network', { network: 'Nile' }],
    [
      'with many currencies',
      { currencies: Array.from({ length: 30 }, (_, n) => ({ ...currencies[1], cuy: n + 1, symbol: `LONGTOKEN${n}` })) },
    ],
    ['with one that is closed', { currencies: [currencies[0] ?? {}, { ...currencies[1], open: false }] }],
    ['while the network is late', { late: 7_000 }],
  ])('has it too %s', async (_what, members) => {
    Object.assign(pages.story, members)
    const page = await pages.openFor({ sub: '7' }, { ...phone, languages: ['zh'] })
    expect(await unseen(page)).toEqual([])
    await page.click('header button')
    await seeIn(page, 'h1', 'Deposit')
    expect(await unseen(page)).toEqual([])
    if ('late' in members) {
      const bottom = await page.$eval('.notice', (notice) => notice.getBoundingClientRect().bottom)
      expect(bottom).toBeLessThanOrEqual(phone?.height ?? 0)
    }
  })

  it.each([
    ['light on a phone', {}],
    ['dark on the narrowest phone, in Chinese', { width: 320, height: 568, isDark: true, languages: ['zh-CN'] }],
    ['dark on a small phone with two pixels for each', { ...phone, isDark: true, scale: 2 }],
    ['light on a desktop', { width: 1366, height: 650 }],
  ])('has a QR code that can be scanned as it is, and is the address: %s', async (_what, reader) => {
    const page = await pages.openLoaded(reader)
    expect(await scannedText(page)).toBe(payAddress)
  })
})
