import { describe, expect, it } from 'vitest'
import { usePages } from './fixture.ts'
import { openFold } from './reading.ts'
import { exact } from './scripted-service.ts'
import { entry, regular, transfer } from './story.ts'

const pages = usePages()

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
    await openFold(page, 'wallet')
    await openFold(page, 'arrivals')
    await page.waitForSelector('.chart details')
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
    // the transfer, the balance, the top of the chart, two in its table, four in the history
    expect(lines).toEqual(Array(9).fill(1))
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })

  it('is in a table for a screen reader, also where its row is laid out as none', async () => {
    pages.tell(regular())
    const page = await pages.openLoaded({ width: 320, height: 568 })
    await openFold(page, 'wallet')
    await page.waitForSelector('.ledger')
    const tree = JSON.stringify(await page.accessibility.snapshot({ interestingOnly: false }))
    for (const role of ['table', 'row', 'columnheader', 'cell']) expect(tree).toContain(`"role":"${role}"`)
  })
})
