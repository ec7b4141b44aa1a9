import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { usePages } from './fixture.ts'
import { scannedText } from './picture.ts'
import { askAbout, choose } from './reading.ts'
import { exact } from './scripted-service.ts'
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

describe('an amount', () => {
  it.each([
    [320, []],
    [320, ['zh-CN']],
    [360, ['de-DE', 'en']],
    [700, []],
  ])('of 16 digits is never broken at %i pixels %j, in no part of the page', async (width, languages) => {
    const longest = '9007199254740.991'
    pages.tell({
      ...regular(),
      transfers: [transfer(9, 'credited', { amt: exact(longest) })],
      balances: [[2, longest]],
      entries: [entry(2, 4, `-${longest}`, `-${longest}`, { mark: 'x'.repeat(200) }), entry(1, 1, longest, longest)],
    })
    const page = await pages.openLoaded({ width, height: 568, languages })
    await page.$eval('.chart details', (details) => {
      details.open = true
    })
    const lines = await page.evaluate(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const found: number[] = []
      while (walker.nextNode()) {
        const { currentNode: node } = walker
        const number = /\d[\d.,]{15,}/.exec(node.textContent ?? '')
        const range = document.createRange()
        if (number === null || !node.parentElement?.checkVisibility()) continue
        range.setStart(node, number.index)
        range.setEnd(node, number.index + number[0].length)
        found.push(new Set([...range.getClientRects()].map(({ top }) => top)).size)
      }
      return found
    })
    expect(lines).toEqual(Array(9).fill(1)) // transfer, balance, top of the chart, two in its table, four in the history
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })

  it('is in a table for a screen reader, also where its row is laid out as none', async () => {
    pages.tell(regular())
    const page = await pages.openLoaded({ width: 320, height: 568 })
    const tree = JSON.stringify(await page.accessibility.snapshot({ interestingOnly: false }))
    for (const role of ['table', 'row', 'columnheader', 'cell']) expect(tree).toContain(`"role":"${role}"`)
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
