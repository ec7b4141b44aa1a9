import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { usePages } from './fixture.ts'
import { scannedText } from './picture.ts'
import { askAbout, choose } from './reading.ts'
import { entry, newcomer, payAddress, regular, type Story, transfer, txidOf } from './story.ts'

const pages = usePages()

describe('the QR code', () => {
  it.each([
    ['light on a phone', {}],
    ['dark on a phone', { isDark: true }],
    ['dark on the narrowest phone, in Chinese', { width: 320, height: 568, isDark: true, languages: ['zh-CN'] }],
    ['light on a screen with two pixels for each', { scale: 2 }],
  ])('can be scanned from the screen, and is the address: %s', async (_what, reader) => {
    const page = await pages.openLoaded(reader)
    await choose(page, 2)
    await page.$eval('.qr', (code) => code.scrollIntoView({ block: 'center' }))
    expect(await scannedText(page)).toBe(payAddress)
  })
})

describe('the layout of a desktop', () => {
  const much = (): Story => ({
    ...regular(),
    transfers: Array.from({ length: 30 }, (_, n) => transfer(30 - n, n === 0 ? 'seen' : 'credited')),
    entries: Array.from({ length: 40 }, (_, n) => entry(60 - n, 1, '1', String(60 - n))),
    balances: [1, 2, 3, 4, 5, 6].map((cuy) => [cuy, '9007199254.740991']),
  })

  it.each([
    [1280, 'little', newcomer()],
    [1440, 'little', newcomer()],
    [1280, 'something', regular()],
    [1280, 'much', much()],
    [1440, 'much', much()],
  ])('has no holes at %i pixels with %s to show, before and after the choice', async (width, _what, story) => {
    pages.tell(story)
    const page = await pages.openLoaded({ width, height: 3_000 })
    expect(await holesOf(page)).toEqual([])
    await choose(page, 2)
    expect(await holesOf(page)).toEqual([])
    await page.$$eval('.arriving button', (all) => all.find((one) => one.textContent === 'Show older')?.click())
    pages.answer('/tron/recharge', { status: 422, msg: 'the transaction failed' })
    await askAbout(page, txidOf(9))
    expect(await holesOf(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })

  it('shows all transfers that were asked for, and a keyboard reaches each of them', async () => {
    pages.tell(much())
    const page = await pages.openLoaded({ width: 1280, height: 860 })
    await page.$$eval('.arriving button', (all) => all.find((one) => one.textContent === 'Show older')?.click())
    await page.waitForFunction(() => document.querySelectorAll('.arrivals li').length === 13)
    await page.focus('.arrivals li:last-child button')
    const isInside = await page.$eval('.arrivals li:last-child button', (button) => {
      const { top, bottom } = button.getBoundingClientRect()
      const frame = document.querySelector('.arrived')?.getBoundingClientRect()
      return frame !== undefined && top >= frame.top && bottom <= frame.bottom
    })
    expect(isInside).toBe(true)
  })
})

/** Places in the left and in the right half where more than the gap between two cards is empty, as "left 120-200". */
async function holesOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const gapPx = 24
    const main = document.querySelector('main')?.getBoundingClientRect()
    const last = document.querySelector('main > :last-child')?.getBoundingClientRect()
    if (main === undefined || last === undefined) throw new Error('no page')
    return ['left', 'right'].flatMap((side) => {
      const x = main.left + main.width * (side === 'left' ? 0.25 : 0.75)
      const holes: string[] = []
      let since: number | null = null
      for (let y = main.top + gapPx; y < last.bottom; y += 2) {
        const isCovered = document.elementFromPoint(x, y)?.closest('.card') !== null
        if (isCovered && since !== null && y - since > gapPx) holes.push(`${side} ${since}-${y}`)
        since = isCovered ? null : (since ?? y)
      }
      return holes
    })
  })
}
